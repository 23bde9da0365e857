"""What Agent Skills changed, as columns of the reports of an experiment's arms, and read from them again.

The row of an arm has the arm ``with`` minus this one; that of ``with`` has ``with`` minus ``without``, or minus the first other
arm where there is no such arm. So a trend of either is the effect over time, and it is known when the items are gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.core.diff.model import DifferenceInterval
    from eval_skills.core.skill_effect.model import SkillEffect
    from eval_skills.core.store.store import Store

EFFECT_COLUMNS = (
    "effect_of", "effect_arm", "effect_against", "effect", "effect_lower", "effect_upper", "effect_least", "effect_most",
    "effect_verdict",
)  # fmt: skip
SETUP_ERROR, NOT_COMPARED = "set-up error", "not compared"
"""In place of a verdict: an arm loaded what it must not have, or had no verdict on any task of the other."""


_ORDER = ("without", "old", "sham")
LEVEL = 0.95
"""That of every interval of a difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectPoint:
    """What was found in one run, against one arm; the difference, in [−1, 1], is None where it says nothing.

    `verdict` is that of the paired test, ``set-up error`` or ``not compared``. `night_id` is None of a run that is asked for by
    itself.
    """

    run_id: str
    names: str
    against: str
    difference: float | None
    lower: float | None
    upper: float | None
    verdict: str
    night_id: str | None = None

    @property
    def interval(self) -> DifferenceInterval | None:
        """That of the difference; None where it is not known."""
        from eval_skills.core.diff.model import DifferenceInterval

        if self.lower is None or self.upper is None:
            return None
        return DifferenceInterval(lower=self.lower, upper=self.upper, level=LEVEL, method="t")

    def to_json(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {
            "night": self.night_id,
            "run": self.run_id,
            "against": self.against,
            "difference": self.difference,
            "lower": self.lower,
            "upper": self.upper,
            "verdict": self.verdict,
        }


def effect_rows(effect: SkillEffect) -> dict[str, dict[str, Any]]:
    """The columns of each arm's report, by the ``id@version`` of its skill."""
    compared = {each.against: each for each in effect.comparisons}
    main = next(iter(compared))
    found: dict[str, dict[str, Any]] = {}
    for arm in effect.arms:
        against = main if arm.arm == "with" else arm.arm
        statistics = None if effect.problems else compared[against].diff.statistics
        row: dict[str, Any] = dict.fromkeys(EFFECT_COLUMNS)
        row |= {"effect_of": ", ".join(effect.names), "effect_arm": arm.arm, "effect_against": against}
        row["effect_verdict"] = SETUP_ERROR if effect.problems else NOT_COMPARED
        if statistics is not None:
            interval = statistics.interval
            row |= {"effect": statistics.mean_difference, "effect_lower": interval.lower, "effect_upper": interval.upper}
            row["effect_verdict"] = compared[against].diff.verdict
            if (missing := statistics.missing) is not None:
                row |= {"effect_least": missing.lower, "effect_most": missing.upper}
        found[arm.skill_key] = row
    return found


def points_of(effect: SkillEffect, night_id: str | None = None) -> list[EffectPoint]:
    """The comparisons of an effect that was just found, as they will be read again."""
    rows = [{**row, "run_id": effect.run_id} for row in effect_rows(effect).values()]
    return effects_in(rows, {} if night_id is None else {effect.run_id: night_id})


def effects_in(rows: Iterable[Mapping[str, Any]], nights: Mapping[str, str] | None = None) -> list[EffectPoint]:
    """The effects in rows of reports, each comparison once, by night and arm; `nights` has the night of a run."""
    return sorted(_points(rows, nights or {}), key=lambda point: (point.night_id or "", _ORDER.index(point.against)))


def _points(rows: Iterable[Mapping[str, Any]], nights: Mapping[str, str]) -> Iterator[EffectPoint]:
    for row in rows:
        if row["effect_arm"] in (None, "with"):  # the comparisons of `with` stand in the rows of the other arms
            continue
        yield EffectPoint(
            run_id=row["run_id"],
            names=row["effect_of"],
            against=row["effect_against"],
            difference=row["effect"],
            lower=row["effect_lower"],
            upper=row["effect_upper"],
            verdict=row["effect_verdict"],
            night_id=nights.get(row["run_id"]),
        )


def effect_points(store: Store, nights: Mapping[str, str]) -> list[EffectPoint]:
    """The effects of these runs (run id: night id), oldest first; of runs without arms there are none."""
    rows = store.tables.rows("reports", ["run_id", "origin", *EFFECT_COLUMNS], list(nights))
    return effects_in([row for row in rows if row["origin"] != "recompute"], nights)
