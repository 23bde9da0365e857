"""The history of a suite in the store: its good nights, the nights since, and what regressed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from eval_skills.core.nightly.evidence import BAD, POOLED, WATCHED, LostEvidence
from eval_skills.core.store import Store, is_run_id
from eval_skills.core.store.effects import EffectPoint, effect_points
from eval_skills.core.store.layout import is_to_come
from eval_skills.core.store.missing import items_gone
from eval_skills.core.text import skill_key, skill_key_of
from eval_skills.engine.nightly.interruption import recorded_nights, suites_of_nights

if TYPE_CHECKING:
    import pyarrow.dataset as ds

Items = Literal["stored", "pruned", "gone"]


@dataclass(frozen=True, slots=True)
class PastNight:
    """A skill's row of an earlier night. `judge` is None where no model judged, or it is unknown.

    `items` says whether its items are stored, were deleted by `--keep-days`, or are gone although nothing of ours deleted them.
    `known` is whether the night found anything out about the skill, and `lost` what counted as lost after it. `of_others`: it is
    a night of another suite, which the skill is compared with until it has a good night in its own.
    """

    night_id: str
    run_id: str
    confirm_run_id: str | None
    skill_id: str
    skill_version: str
    benchmark_id: str | None
    good: bool
    judge: str | None
    items: Items = "stored"
    known: bool = True
    lost: LostEvidence | None = None
    of_others: bool = False

    @property
    def skill_key(self) -> str:
        """``id@version``."""
        return skill_key(self.skill_id, self.skill_version)

    @property
    def runs(self) -> set[str]:
        """The runs with its items; fresh runs count where the night was not good."""
        return {self.run_id} if self.good or not self.confirm_run_id else {self.run_id, self.confirm_run_id}


@dataclass(frozen=True, slots=True)
class LastNight:
    """The last night in which a skill was evaluated, and its run then."""

    skill_id: str
    skill_version: str
    night_id: str
    run_id: str

    @property
    def skill_key(self) -> str:
        """``id@version``."""
        return skill_key(self.skill_id, self.skill_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteHistory:
    """The past nights of a suite's skills, oldest first.

    `points` are the completion rates of every night by ``id@version``, oldest first. `last` are the skills of the suite's last
    night that had any, also those that were gone in it. `effects` are the differences that an Agent Skill made in each night,
    oldest first.
    `to_come` is the last night of the suite that is dated in the future, by a clock that was wrong; it is not among `nights`.
    Nor are those of `unrecorded`, whose rows landed and are gone or damaged.
    """

    nights: list[PastNight] = field(default_factory=list)
    points: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    last: list[LastNight] = field(default_factory=list)
    effects: list[EffectPoint] = field(default_factory=list)
    to_come: str | None = None
    unrecorded: list[str] = field(default_factory=list)

    def of(self, skill_id: str, version: str, tonight: Collection[str]) -> list[PastNight]:
        """The nights of the skill, which has these versions `tonight`, as this one of them: each version has a past of its own.

        One that came in the place of the only one that left has the past of that. One that is alone tonight, and came in the
        place of several, has the past of all.
        """
        past: list[PastNight] = []
        later = set(tonight)
        rows = [night for night in self.nights if night.skill_id == skill_id]
        for night_id, group in groupby(reversed(rows), key=lambda night: night.night_id):
            of_night = list(group)
            here = {night.skill_version for night in of_night}
            if version not in here:
                left = here - later
                if later == {version} and len(left) > 1:
                    return [*(night for night in rows if night.night_id <= night_id), *reversed(past)]
                if later - here != {version} or len(left) != 1:
                    continue
                (version,) = left
            past += [night for night in of_night if night.skill_version == version]
            later = here
        return past[::-1]

    def lost_by(self, past: Sequence[PastNight]) -> LostEvidence | None:
        """What the skill with this past lost in an earlier night, and has not got back since."""
        return next((night.lost for night in reversed(past) if night.known and not night.of_others), None)

    def needed(self) -> set[str]:
        """The runs that later nights are compared with."""
        stored = [night for night in self.nights if night.items == "stored"]
        skills = {(night.skill_id, version) for night in stored for version in (None, night.skill_version)}
        of_skills = (
            [night for night in stored if night.skill_id == skill_id and version in (None, night.skill_version)]
            for skill_id, version in skills
        )
        return {run for past in of_skills for night in compared(past) for run in night.runs}


def compared(past: Iterable[PastNight], judge: str | None = None, most: int = WATCHED) -> list[PastNight]:
    """Of a skill's nights the good ones, at most so many, and those since the last of them.

    A night with another judge is left out; None is unknown, and goes with all.
    """
    own = [night for night in past if judge is None or night.judge in (None, judge)]
    good = [night for night in own if night.good][-most:]
    return [*good, *(night for night in own if not good or night.night_id > good[-1].night_id)]


def suite_history(store: Store, suite: str, before: str | None = None, *, begins: bool = False) -> SuiteHistory:
    """The suite's history, from the table of nights, or of those `before` a night; of one that `begins` now, all are before
    it, unless a clock was wrong, be it by seconds.

    A skill without a good night in it has the nights of other suites, too: the suite may be another one under a new name, or the
    skill may have come from another one.
    """
    import pyarrow.dataset as ds

    nights_of_suite = _rows(store, ds.field("suite") == suite)
    later = {row["night_id"] for row in nights_of_suite if before is not None and row["night_id"] >= before}
    to_come = max(later if begins else filter(is_to_come, later), default=None)
    own = [row for row in nights_of_suite if before is None or row["night_id"] < before]
    others = [row for row in _rows_of_others(store, suite, own) if before is None or row["night_id"] < before]
    nights = [*_past_nights(store, own), *(replace(night, of_others=True) for night in _past_nights(store, others))]
    return SuiteHistory(
        nights=sorted(nights, key=lambda night: night.night_id),
        points=_points(own),
        last=_last(own),
        effects=_effects(store, own),
        to_come=to_come,
        unrecorded=[] if before is None else _unrecorded(store, suite, sorted({row["night_id"] for row in own}), before),
    )


def _rows_of_others(store: Store, suite: str, own: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of other suites, but for the skills with a good night in the `own` rows of the suite."""
    import pyarrow.dataset as ds

    good = {row["skill_id"] for row in own if row["verdict"] not in BAD} - {None}
    return [row for row in _rows(store, ds.field("suite") != suite) if row["skill_id"] not in good]


def _unrecorded(store: Store, suite: str, nights: Sequence[str], before: str) -> list[str]:
    """The nights whose rows landed and are gone or damaged, and with which this one would be compared beside these `nights`.

    A night of which the store has no run that names its suite counts as one of this suite.
    """
    if store.layout.address is not None:
        return []  # see `missing_files`
    landed = {PurePosixPath(file).stem for file in store.tables.known_digests() if file.startswith("nights/")}
    since = "" if len(nights) < POOLED else nights[-POOLED]
    lost = sorted(night for night in landed - recorded_nights(store) if is_run_id(night) and since < night < before)
    if not lost:
        return []
    suites: dict[str, set[str]] = {}
    for night, of_suite in suites_of_nights(store, since=lost[0]):
        suites.setdefault(night, set()).add(of_suite)
    return [night for night in lost if suite in suites.get(night, {suite})]


def suites_left_out(store: Store, file: str, names: Collection[str], before: str) -> str | None:
    """Which suites the last night of this file, `before` that night, had beside those of these names, in a sentence; None where
    there were none. A file that lies elsewhere is another one.
    """
    rows = [row for row in _rows(store, None) if row["night_id"] < before and row["run_id"] is not None]
    for night in sorted({row["night_id"] for row in rows}, reverse=True):
        suites = {row["suite"]: row["run_id"] for row in rows if row["night_id"] == night}
        manifest = store.find_manifest(min(suites.values()))
        if manifest is None or manifest.provenance.get("suites") != file:
            continue
        if left := sorted(suites.keys() - set(names)):
            noun = "suite" if len(left) == 1 else "suites"
            return f"night {night} also had the {noun} {', '.join(left)}, which {Path(file).name} does not name any more"
        return None
    return None


def _effects(store: Store, rows: Iterable[dict[str, Any]]) -> list[EffectPoint]:
    runs = {row["run_id"]: row["night_id"] for row in rows if row["run_id"] is not None}
    return effect_points(store, runs) if runs else []


def _last(rows: Iterable[dict[str, Any]]) -> list[LastNight]:
    of_skills = [row for row in rows if row["skill_id"] is not None]
    evaluated = {
        (row["skill_id"], row["skill_version"]): (row["night_id"], row["run_id"]) for row in of_skills if row["verdict"] != "gone"
    }
    latest = max((row["night_id"] for row in of_skills), default="")
    skills = sorted({(row["skill_id"], row["skill_version"]) for row in of_skills if row["night_id"] == latest})
    return [LastNight(*skill, *evaluated[skill]) for skill in skills if skill in evaluated]


def _past_nights(store: Store, rows: Iterable[dict[str, Any]]) -> list[PastNight]:
    of_skills = [row for row in rows if row["skill_id"] is not None and row["run_id"] is not None]
    landed = store.tables.files("items")
    gone = items_gone(store, {row["run_id"] for row in of_skills} - landed.keys())
    items: dict[str, Items] = {**dict.fromkeys(landed, "stored"), **dict.fromkeys(gone, "gone")}
    return [_past_night(row, items.get(row["run_id"], "pruned")) for row in of_skills]


def _past_night(row: dict[str, Any], items: Items) -> PastNight:
    """Whether it was good is read off the verdict: earlier versions wrote that of the suite."""
    names = ("night_id", "run_id", "confirm_run_id", "skill_id", "skill_version", "benchmark_id", "judge")
    return PastNight(
        **{name: row[name] for name in names},
        good=row["verdict"] not in BAD,
        items=items,
        known=row["verdict"] != "failed",
        lost=_lost(row),
    )


def needed_runs(store: Store) -> set[str]:
    """The runs that later nights need, of every suite in the store: the good nights of its skills, those since, its baseline."""
    suites: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(store, None):
        suites.setdefault(row["suite"], []).append(row)
    needed = {rows[-1]["baseline"] for rows in suites.values()} - {None}
    for rows in suites.values():  # what one needs of the nights of another is among what that other needs itself
        needed |= SuiteHistory(nights=_past_nights(store, rows)).needed()
    return needed


def _rows(store: Store, condition: ds.Expression | None) -> list[dict[str, Any]]:
    return list(store.tables.dataset("nights").to_table(filter=condition).sort_by("night_id").to_pylist())


def _lost(row: dict[str, Any]) -> LostEvidence | None:
    """Of a skill that regressed in that night, or could not be judged since."""
    if row["expected_rate"] is None:
        return None
    return LostEvidence(
        tasks=row["moved_tasks"],
        expected_rate=row["expected_rate"],
        observed_rate=row["observed_rate"],
        since=row["since_night_id"],
    )


def _points(rows: Iterable[dict[str, Any]]) -> dict[str, list[tuple[str, float]]]:
    points: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        if row["completion_rate"] is not None and row["verdict"] != "failed":
            points.setdefault(skill_key_of(row), []).append((row["night_id"], row["completion_rate"]))
    return points
