"""Where a trend changed its level, which single runs stand out, and what the runs recorded that changed there."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from eval_skills.core.statistics.change_points import ChangePoint, autocorrelation, change_points, untested
from eval_skills.core.statistics.outliers import Outlier, outliers
from eval_skills.core.trend.attribution import Change, Fingerprints, Kind, changes, fingerprints, summary, unrecorded

if TYPE_CHECKING:
    from eval_skills.core.store import Store
    from eval_skills.core.trend.trend import TrendPoint

BY_RANKS = frozenset({"p95Ms", "estimatedUSD", "judgeTokens", "judgeUSD", "unjudgedItems"})
"""Figures without an upper end: one run may be a hundred times the others, and says no more than that it was higher."""

SHARES = frozenset({"completionRate", "errorRate", "partialScore", "flakeRate"})
"""Figures that are shares of the tasks."""

_ENDS: dict[str, tuple[float, float]] = {**dict.fromkeys((*SHARES, "compositeScore"), (0.0, 1.0)), "effect": (-1.0, 1.0)}
"""Between what figures lie; all others are at least 0, without an upper end."""

_NAMED_ALONE: frozenset[Kind] = frozenset({"skill", "adapter", "benchmark", "scorer", "judge", "commit"})
"""What is named at every run at which it changed, whatever the figure did."""

_COMMON: frozenset[Kind] = frozenset({"commit"})
"""What changes all the time is named only at the change point itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendChange:
    """The level changed with the run of `point`, or as well with any from that of `first` to that of `last`.

    `there` is what that run recorded that differs from the run before, `nearby` what differs at one of the other runs it may have
    been, with that run. `unrecorded` are kinds of fingerprints that one of the two runs does not know; `explained` is False where
    a manifest is missing, so that nothing at all can be said.
    """

    point: TrendPoint
    first: TrendPoint
    last: TrendPoint
    before: float
    after: float
    p: float
    there: list[Change]
    nearby: list[tuple[TrendPoint, Change]]
    unrecorded: list[Kind]
    explained: bool

    @property
    def direction(self) -> Literal["up", "down"]:
        """Where the level went; whether that is good depends on the metric."""
        return "up" if self.after >= self.before else "down"

    @property
    def cause(self) -> str:
        """What is known of the cause, in one line."""
        if not self.explained:
            return "what changed there is unknown: the manifest of a run is missing"
        causes = [f"changed there: {summary(self.there)}"] if self.there else []
        by_run: dict[str, list[Change]] = {}
        for point, change in self.nearby:
            by_run.setdefault(f"{point.timestamp:%Y-%m-%d}", []).append(change)
        causes += [f"changed nearby, on {day}: {summary(found)}" for day, found in by_run.items()]
        causes = causes or [summary([])]
        return "; ".join([*causes, *([f"not recorded: {', '.join(self.unrecorded)}"] if self.unrecorded else [])])


@dataclass(frozen=True, slots=True)
class Marks:
    """The places of one line where its level changed, and its single values that stand out.

    `untested` says why its level could not have changed, whatever it shows; None where it is tested.
    """

    changes: list[ChangePoint]
    outliers: list[Outlier]
    untested: str | None


def marks_of(values: Sequence[float | None], tasks: Sequence[int | None], metric: str) -> Marks:
    """The marks of one line of figures; `tasks` is how many tasks each rests on, where that is known.

    Nothing is marked in a line in which each figure resembles the one before: a drift cannot be told from a step there.
    """
    if (untested_because := untested(values)) is not None:
        return Marks([], _single(values, tasks, metric, []), untested_because)
    ranks = metric in BY_RANKS
    weights = None if ranks or not all(tasks) else [float(each or 1) for each in tasks]
    found = change_points(values, weights, ranks=ranks)
    if (alike := autocorrelation(values, found)) is not None and (found or alike >= _STRONG):
        why = f"each run resembles the one before (autocorrelation {alike:z.2f}), so a drift cannot be told from a change"
        return Marks([], [], why)
    return Marks(found, _single(values, tasks, metric, found), None)


def _marks_at_bounds(line: Sequence[TrendPoint], metric: str) -> Marks:
    """The marks of a line that hold whether its items without a verdict on the skill had failed or passed: an outage is none."""
    tasks = [point.tasks for point in line]
    least = marks_of([point.whole_value if point.least is None else point.least for point in line], tasks, metric)
    if all(point.most is None for point in line):
        return least
    most = marks_of([point.whole_value if point.most is None else point.most for point in line], tasks, metric)
    changes = [each for each in least.changes if any(_is_same(each, other) for other in most.changes)]
    places = {each.at for each in most.outliers}
    return Marks(changes, [each for each in least.outliers if each.at in places], least.untested or most.untested)


def _is_same(one: ChangePoint, other: ChangePoint) -> bool:
    return (one.after > one.before) == (other.after > other.before) and one.first <= other.last and other.first <= one.last


_STRONG = 0.4
"""From here on single values of a line without steps are not marked either: they come in groups."""


def _single(
    values: Sequence[float | None], tasks: Sequence[int | None], metric: str, found: Sequence[ChangePoint]
) -> list[Outlier]:
    edges = [0, *(each.at for each in found), len(values)]
    single: list[Outlier] = []
    for start, stop in pairwise(edges):
        sizes = tasks[start:stop] if metric in SHARES else None
        own = outliers(values[start:stop], sizes, positive=metric in BY_RANKS)
        single += [Outlier(start + each.at, *_possible(each, metric)) for each in own]
    return single


def _possible(found: Outlier, metric: str) -> tuple[float, float]:
    """The part of the band in which the figure can lie: no completion is 119 %."""
    least, most = _ENDS.get(metric, (0.0, math.inf))
    return max(found.lower, least), min(found.upper, most)


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRun:
    """A run whose figure lies outside `lower` to `upper`, the band of the other runs of its stretch."""

    point: TrendPoint
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentChange:
    """What a run recorded that differs from the run before, although the skill's version is the same."""

    point: TrendPoint
    changed: list[Change]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFindings:
    """What there is to say of one line of a trend, each list oldest first; `untested`: why its level could not have changed."""

    changes: list[TrendChange] = field(default_factory=list)
    single: list[SingleRun] = field(default_factory=list)
    silent: list[SilentChange] = field(default_factory=list)
    untested: str | None = None


def line_findings(store: Store, skill: str, line: Sequence[TrendPoint], metric: str, *, newest: int) -> LineFindings:
    """The findings of one line of a trend (see `trend.lines`); `skill` is an id or ``id@version``.

    What changed silently is looked up for the `newest` runs: each costs a manifest.
    """
    marks = _marks_at_bounds(line, metric)
    return LineFindings(
        changes=_level_changes(store, skill, line, marks.changes),
        single=[SingleRun(point=line[each.at], lower=each.lower, upper=each.upper) for each in marks.outliers],
        silent=list(_silent(store, skill, line[-newest - 1 :])),
        untested=marks.untested,
    )


def _silent(store: Store, skill: str, line: Sequence[TrendPoint]) -> Iterator[SilentChange]:
    recorded = [_recorded(store, skill, point, {}) for point in line]
    for (old, before), (new, after) in pairwise(zip(line, recorded, strict=True)):
        if before is None or after is None or old.skill_version != new.skill_version:
            continue
        if found := [each for each in changes(before, after) if each.kind in _NAMED_ALONE]:
            yield SilentChange(point=new, changed=found)


def _level_changes(store: Store, skill: str, line: Sequence[TrendPoint], found: Sequence[ChangePoint]) -> list[TrendChange]:
    if not found:
        return []
    steps = {place for each in found for place in (each.at, *range(each.first, each.last + 1))}
    runs = {line[place].run_id for step in steps for place in (step - 1, step)}
    asked = _tasks(store, runs)
    recorded = {
        point.run_id: _recorded(store, skill, point, asked.get(point.run_id, {})) for point in line if point.run_id in runs
    }
    return [_explained(line, each, recorded) for each in found]


def _explained(line: Sequence[TrendPoint], found: ChangePoint, recorded: dict[str, Fingerprints | None]) -> TrendChange:
    before, after = recorded[line[found.at - 1].run_id], recorded[line[found.at].run_id]
    known = before is not None and after is not None
    return TrendChange(
        point=line[found.at],
        first=line[found.first],
        last=line[found.last],
        before=found.before,
        after=found.after,
        p=found.p,
        there=changes(before, after) if before and after else [],
        nearby=list(_nearby(line, found, recorded)),
        unrecorded=unrecorded(before, after) if before and after else [],
        explained=known,
    )


def _nearby(
    line: Sequence[TrendPoint], found: ChangePoint, recorded: dict[str, Fingerprints | None]
) -> Iterator[tuple[TrendPoint, Change]]:
    for place in range(found.first, found.last + 1):
        before, after = recorded[line[place - 1].run_id], recorded[line[place].run_id]
        if place != found.at and before and after:
            yield from ((line[place], change) for change in changes(before, after) if change.kind not in _COMMON)


def _recorded(store: Store, skill: str, point: TrendPoint, tasks: dict[str, str]) -> Fingerprints | None:
    manifest = store.find_manifest(point.run_id, is_named=True)
    return None if manifest is None else fingerprints(manifest, f"{skill.partition('@')[0]}@{point.skill_version}", tasks)


def _tasks(store: Store, run_ids: Collection[str]) -> dict[str, dict[str, str]]:
    """The digests of the tasks that each run asked, by id."""
    found: dict[str, dict[str, str]] = {}
    for row in store.tables.rows("items", ["run_id", "task_id", "task_digest"], run_ids):
        if row["task_digest"] is not None:
            found.setdefault(row["run_id"], {})[row["task_id"]] = row["task_digest"]
    return found
