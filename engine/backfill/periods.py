"""The periods of a backfill: what goes into each, what decides its figures, and what earlier backfills left of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pydantic import Field

from eval_skills.core.config.values import BackfillEvery
from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.models.base import Model, Text
from eval_skills.core.store import Store
from eval_skills.core.store.scorings import replaced_digests
from eval_skills.core.text import plural
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.backfill.sources import Source

_LENGTHS = {"day": timedelta(days=1), "week": timedelta(weeks=1)}

Line = tuple[str, str]
"""A skill's id and a benchmark's, whose results are compared from period to period."""

Stood = tuple[Any, ...]
"""A version, the run that its figures are from, its completion rate and its error rate; all None where there was nothing."""

_NOW = ("skill_version", "run_id", "completion_rate", "error_rate")
_THEN = tuple(f"before_{name.removeprefix('skill_')}" for name in _NOW)
_NOTHING: Stood = (None,) * len(_THEN)


class Period(Model):
    """A stretch of time under a name: from `start` on, and before `end`. A single moment has `start` equal to `end`."""

    name: Text
    start: datetime = Field(strict=False)
    end: datetime = Field(strict=False)


def period_of(moment: datetime, every: Literal["day", "week"]) -> Period:
    """The day (``2026-03-01``) or ISO week (``2026-W09``, from Monday on) in UTC that contains an aware `moment`.

    The last days of December may be in the first week of the next year, the first of January in the last week of the year before.
    """
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    start = day if every == "day" else day - timedelta(days=day.weekday())
    year, week, _ = start.isocalendar()
    name = f"{start:%Y-%m-%d}" if every == "day" else f"{year:04d}-W{week:02d}"
    return Period(name=name, start=start, end=start + _LENGTHS[every])


def moment_period(moment: datetime, name: str) -> Period:
    """The period of one run or one tag: its moment, under its name."""
    return Period(name=name, start=moment.astimezone(UTC), end=moment.astimezone(UTC))


@dataclass(slots=True)
class LandedPeriod:
    """The result of the last backfill of a period, at the moment `at`.

    `problem` is why nothing of it could be used, None where there are figures; on `unjudged` items the judge failed. `stood` has
    the results of each line, `compared` what they were compared with.
    """

    at: datetime
    problem: str | None
    unjudged: int
    stood: dict[Line, set[Stood]] = field(default_factory=dict)
    compared: dict[Line, set[Stood]] = field(default_factory=dict)

    def is_behind(self, last: Mapping[Line, LandedPeriod]) -> bool:
        """Whether the periods before, the `last` of each line, have other figures since: a call was stopped in between."""
        return any(
            (then := last.get(line)) is not None and then.at > self.at and not compared <= then.stood[line]
            for line, compared in self.compared.items()
        )

    def lacks(self, lines: Collection[Line]) -> bool:
        """Whether one of these lines was compared with nothing: what comes before it was not there yet."""
        return any(self.compared.get(line) == {_NOTHING} for line in lines)


def last_outcomes(store: Store) -> dict[str, LandedPeriod]:
    """The landed periods by digest; of several backfills of one period the last."""
    said = ("skill_id", "benchmark_id", "explanation", "backfilled_at", "digest", "unjudged_items")
    found: dict[str, LandedPeriod] = {}
    for row in sorted(store.tables.rows("comparisons", (*said, *_NOW, *_THEN)), key=lambda row: row["backfilled_at"]):
        known = found.get(row["digest"])
        if known is None or known.at < row["backfilled_at"]:
            problem = None if row["skill_id"] else row["explanation"] or ""
            known = found[row["digest"]] = LandedPeriod(row["backfilled_at"], problem, row["unjudged_items"] or 0)
        if row["skill_id"]:
            line = row["skill_id"], row["benchmark_id"]
            known.stood.setdefault(line, set()).add(tuple(row[name] for name in _NOW))
            known.compared.setdefault(line, set()).add(tuple(row[name] for name in _THEN))
    return found


@dataclass(frozen=True, slots=True)
class PeriodWork:
    """One period and its sources, oldest first. `landed`: its results are in the store already, and its scorings count.
    `is_first`: no call had landed any of them before this one. `is_behind`: one has, and what came before was not there yet.

    `tried` is why an earlier call could use nothing of it, where that may be fixed by now; else None. On `unjudged` items the
    judge failed then.
    """

    period: Period
    sources: tuple[Source, ...]
    digest: str
    landed: bool
    tried: str | None = None
    unjudged: int = 0
    is_first: bool = False
    is_behind: bool = False

    @property
    def is_repeated(self) -> bool:
        """Whether an earlier call landed it in part."""
        return self.tried is not None or self.unjudged > 0

    @property
    def remarks(self) -> list[str]:
        """Why it is repeated; nothing for another period."""
        judge = f"the judge failed on {plural(self.unjudged, 'item')}"
        why = "nothing could be used" if self.tried is not None else judge
        return [f"{self.period.name}: repeated, since {why} the last time"] if self.is_repeated else []


def works_of(request: BackfillRequest, store: Store, sources: Sequence[Source], earlier: Sequence[Source]) -> list[PeriodWork]:
    """The periods of these stored runs, oldest first; `earlier` are the runs that the first of them are compared with."""
    grouped: dict[str, tuple[Period, list[Source]]] = {}
    for source in sources:
        period = period_at(request.every, source.moment, source.name)
        grouped.setdefault(period.name, (period, []))[1].append(source)
    return digested(request, store, list(grouped.values()), earlier)


def digested(
    request: BackfillRequest, store: Store, grouped: Sequence[tuple[Period, list[Source]]], earlier: Sequence[Source]
) -> list[PeriodWork]:
    """The periods with what decides their figures: mode, sources, and what they are compared with."""
    known = last_outcomes(store)
    replaced = replaced_digests(store) if request.mode == "rescore" else set()
    works: list[PeriodWork] = []
    past: list[Sequence[Source]] = [[source] for source in earlier]
    last: dict[Line, LandedPeriod] = {}
    to_come: set[Line] = set()
    for period, sources in grouped:
        content = {
            "mode": request.mode,
            "every": request.every,
            "period": period.name,
            "sources": [source.digest for source in sources],
            "before": _digests_before(sources, past),
        }
        digest = digest_of_json(content)
        before = known.get(digest)
        # a revision never changes, but a run may get its benchmark or its secret back, and any of them its judging model
        tried = before.problem if before and request.mode != "replay" else None
        unjudged = before.unjudged if before else 0
        if before is not None and not _pairs(sources):  # of a commit it is not known which skills it has
            to_come = set(before.stood) if works and works[-1].is_first else set()
        is_behind = before is not None and before.lacks(to_come)
        landed = before is not None and tried is None and not unjudged and not is_behind and not before.is_behind(last)
        landed = landed and replaced.isdisjoint(source.digest for source in sources)
        works.append(PeriodWork(period, tuple(sources), digest, landed, tried, unjudged, before is None, is_behind))
        past.append(sources)
        gone = _pairs(sources) if before is None else set()
        last = {line: each for line, each in last.items() if line not in gone}
        last |= dict.fromkeys(before.stood, before) if before else {}
        to_come = to_come - set(before.stood) if before else to_come | _pairs(sources)
    return works


def _digests_before(sources: Sequence[Source], past: Sequence[Sequence[Source]]) -> list[str]:
    """The digests of what the sources are compared with: for each skill and benchmark, the last period in which it ran."""
    if not any(source.skills for source in sources):
        return [source.digest for source in past[-1]] if past else []
    found: dict[tuple[str, str], list[str]] = {}
    wanted = _pairs(sources)
    for group in reversed(past):
        for pair in wanted - found.keys():
            digests = [source.digest for source in group if pair in _pairs([source])]
            if digests:
                found[pair] = digests
        if wanted <= found.keys():
            break
    return sorted({digest for digests in found.values() for digest in digests})


def _pairs(sources: Iterable[Source]) -> set[tuple[str, str]]:
    return {(key.partition("@")[0], source.benchmark) for source in sources for key in source.skills}


def period_at(every: BackfillEvery, moment: datetime, name: str | None) -> Period:
    """The period of a moment; a run or a tag is a period of its own, under its `name`."""
    return period_of(moment, every) if every in ("day", "week") else moment_period(moment, name or "")
