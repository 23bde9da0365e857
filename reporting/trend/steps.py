"""The steps of a trend, for people: marks below the bars, a line for each, JSON, and lines in the drawings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval_skills.core.text import plural
from eval_skills.core.trend.attribution import Change, Kind, summary
from eval_skills.core.trend.changes import SilentChange, SingleRun, TrendChange, line_findings
from eval_skills.core.trend.trend import TrendPoint, lines
from eval_skills.reporting.trend.series import Annotation

if TYPE_CHECKING:
    from eval_skills.core.store import Store

SIGNS = {"up": "▲", "down": "▼"}
SINGLE, SILENT = "○", "·"
NOTES_SHOWN = 10
"""A commit changes with nearly every run: more lines than these tell nobody anything."""
SMALLEST_P = 0.001
LONGEST_LABEL = 80
_ALL_THE_TIME: frozenset[Kind] = frozenset({"commit"})


@dataclass(frozen=True, slots=True)
class Steps:
    """The change points of one benchmark's trend, its single runs that stand out, and what changed under the same version.

    All are oldest first; `untested` says why there could be no change point, or is None.
    """

    found: list[TrendChange]
    untested: str | None
    single: list[SingleRun]
    silent: list[SilentChange]

    @classmethod
    def of(cls, store: Store, skill: str, points: Sequence[TrendPoint], metric: str, *, newest: int) -> Steps:
        """Those of each line of the trend; it is untested where no line of it is tested."""
        parts = [line_findings(store, skill, line, metric, newest=newest) for line in lines(points)]
        found = sorted((change for part in parts for change in part.changes), key=lambda change: change.point.timestamp)
        single = sorted((run for part in parts for run in part.single), key=lambda run: run.point.timestamp)
        silent = sorted((run for part in parts for run in part.silent), key=lambda run: run.point.timestamp)
        reasons = [part.untested for part in parts]
        return cls(found, None if None in reasons else next(iter(reasons), None), single, silent)

    def sign(self, point: TrendPoint) -> str:
        """▲ or ▼ where the level changed with this point, ○ where it alone stands out, · where something else changed."""
        level = [SIGNS[change.direction] for change in self.found if change.point is point]
        single = [SINGLE for run in self.single if run.point is point]
        return next(iter([*level, *single, *(SILENT for run in self.silent if run.point is point)]), "")

    def lines(self, points: Sequence[TrendPoint], shown: Callable[[float | None], str]) -> Iterator[str]:
        """What stands below the bars of these points: the marks, and what each of them means."""
        if self.untested is not None:
            yield f"no lasting change of level: {self.untested}"
        elif not self.found:
            yield "no lasting change of level"
        if marks := "".join(self.sign(point) or " " for point in points).rstrip():
            yield marks
        for change in self.found:
            p = f"p < {SMALLEST_P:g}" if change.p < SMALLEST_P else f"p = {change.p:.3f}"
            levels = f"{shown(change.before)} → {shown(change.after)}"
            yield f"{SIGNS[change.direction]} {_days(change)}  {levels}  {p}  {change.cause}"
        for run in self.single:
            value, low, high = shown(run.point.value), shown(run.lower), shown(run.upper)
            yield f"{SINGLE} {run.point.timestamp:%Y-%m-%d}  {value}  outside {low} to {high}, the band of the other runs"
        told = self.silent[-NOTES_SHOWN:]
        if rest := len(self.silent) - len(told):
            yield f"{SILENT} {plural(rest, 'earlier run')} at which something recorded changed; --json has them"
        for silent in told:
            version = silent.point.skill_version
            yield f"{SILENT} {silent.point.timestamp:%Y-%m-%d}  {summary(silent.changed)}, though the version stayed {version}"

    def annotations(self) -> list[Annotation]:
        """A line for each in a drawing, with what changed there."""
        return [Annotation(change.point.timestamp, _label(change)) for change in self.found]

    def silent_annotations(self) -> list[Annotation]:
        """A line for each run at which something other than the commit changed although the skill's version stayed."""
        told = [(run.point, [each for each in run.changed if each.kind not in _ALL_THE_TIME]) for run in self.silent]
        return [Annotation(point.timestamp, _cut(f"{SILENT} {summary(changed)}")) for point, changed in told if changed]

    def to_json(self) -> dict[str, Any]:
        """The keys that a series gets."""
        return {
            "changePoints": [change_json(change) for change in self.found],
            "untested": self.untested,
            "singleRuns": [{**run_json(run.point), "lower": run.lower, "upper": run.upper} for run in self.single],
            "changedSilently": [
                {**run_json(run.point), "changed": [each.to_json() for each in run.changed]} for run in self.silent
            ],
        }


def _days(change: TrendChange) -> str:
    first, at, last = (f"{point.timestamp:%Y-%m-%d}" for point in (change.first, change.point, change.last))
    return at if first == last else f"{at} ({first} to {last})"


def _label(change: TrendChange) -> str:
    known = summary(change.there) if change.there else "no recorded cause"
    return _cut(f"{SIGNS[change.direction]} {known}")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def change_json(change: TrendChange) -> dict[str, Any]:
    """A change of level as JSON-ready data."""
    return {
        **run_json(change.point),
        "first": run_json(change.first),
        "last": run_json(change.last),
        "direction": change.direction,
        "before": change.before,
        "after": change.after,
        "p": change.p,
        "changed": [each.to_json() for each in change.there],
        "changedNearby": [_nearby(point, each) for point, each in change.nearby],
        "unrecorded": list(change.unrecorded),
        "cause": change.cause,
    }


def unknown_json(point: TrendPoint) -> dict[str, Any]:
    """Of how many items the value does not know the cost; nothing where it knows all."""
    return {"costUnknownItems": point.unknown_items, "items": point.items} if point.unknown_items else {}


def _nearby(point: TrendPoint, change: Change) -> dict[str, Any]:
    return {**run_json(point), **change.to_json()}


def run_json(point: TrendPoint) -> dict[str, Any]:
    """A run by its id and its moment."""
    return {"timestamp": point.timestamp.isoformat(), "runId": point.run_id}
