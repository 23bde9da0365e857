"""The periods of a backfill: what goes into each, what decides its figures, and whether they are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.store import Store
from eval_skills.core.text import plural
from eval_skills.engine.backfill.calendar import Every, Period, moment_period, period_of
from eval_skills.engine.backfill.outcomes import LandedPeriod, Line, last_outcomes
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.backfill.sources import Source


@dataclass(frozen=True, slots=True)
class PeriodWork:
    """One period and its sources, oldest first. `landed` says that what comes of it is in the store already.

    `tried` is why an earlier call could use nothing of it, where that may have been mended since; else None. `unjudged` are the
    items that the judge failed then.
    """

    period: Period
    sources: tuple[Source, ...]
    digest: str
    landed: bool
    tried: str | None = None
    unjudged: int = 0

    @property
    def is_repeated(self) -> bool:
        """Whether an earlier call landed it, and left something of it undone."""
        return self.tried is not None or self.unjudged > 0

    @property
    def told(self) -> list[str]:
        """What is said of such a repetition, and why it is made; nothing of another period."""
        judge = f"the judge failed {plural(self.unjudged, 'item')} of it"
        why = "nothing of it could be used" if self.tried is not None else judge
        return [f"{self.period.name}: tried again, as {why} the last time"] if self.is_repeated else []


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
    works: list[PeriodWork] = []
    past: list[Sequence[Source]] = [[source] for source in earlier]
    last: dict[Line, LandedPeriod] = {}
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
        # a revision stays as it is, where a run may get its benchmark, its secret or its judging model back
        tried, unjudged = (before.problem, before.unjudged) if before and request.mode != "replay" else (None, 0)
        landed = before is not None and tried is None and not unjudged and not before.is_behind(last)
        works.append(PeriodWork(period, tuple(sources), digest, landed=landed, tried=tried, unjudged=unjudged))
        past.append(sources)
        gone = _pairs(sources) if before is None else set()
        last = {line: each for line, each in last.items() if line not in gone}
        last |= dict.fromkeys(before.stood, before) if before else {}
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


def period_at(every: Every, moment: datetime, name: str | None) -> Period:
    """The period that a moment lies in; a run or a tag is one of its own, under its `name`."""
    return period_of(moment, every) if every in ("day", "week") else moment_period(moment, name or "")
