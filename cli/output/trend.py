"""The steps of a trend as `trend` shows them: marks below the bars, a line for each, JSON, and lines in the drawings.

The table of a trend: a line for each of the newest runs, and for every run where the level changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from eval_skills.cli.context import current
from eval_skills.core.store import Store
from eval_skills.core.text import plural
from eval_skills.core.trend.attribution import Change, summary
from eval_skills.core.trend.changes import TrendChange, trend_changes, untested_reason
from eval_skills.core.trend.trend import TrendPoint, lines
from eval_skills.reporting import numbers
from eval_skills.reporting.trend.series import Annotation, shown

SIGNS = {"up": "▲", "down": "▼"}
SMALLEST_P = 0.001
LONGEST_LABEL = 80


@dataclass(frozen=True, slots=True)
class Steps:
    """The change points of one benchmark's trend, oldest first; `untested` says why it could not have any, or is None."""

    found: list[TrendChange]
    untested: str | None

    @classmethod
    def of(cls, store: Store, skill: str, points: Sequence[TrendPoint], metric: str) -> Steps:
        """Those of each line of the trend; it is untested where no line of it is tested."""
        parts = lines(points)
        found = [change for line in parts for change in trend_changes(store, skill, line, metric)]
        reasons = [untested_reason(line) for line in parts]
        untested = None if None in reasons else next(iter(reasons), None)
        return cls(sorted(found, key=lambda change: change.point.timestamp), untested)

    def sign(self, point: TrendPoint) -> str:
        """▲ or ▼ where the level changed with this point, else nothing."""
        return next((SIGNS[change.direction] for change in self.found if change.point is point), "")

    def lines(self, points: Sequence[TrendPoint], shown: Callable[[float | None], str]) -> Iterator[str]:
        """What stands below the bars of these points: the marks, and what each of them means."""
        if self.untested is not None:
            yield f"no change point: {self.untested}"
        elif not self.found:
            yield "no change point: what moved is within what moves by chance"
        elif marks := "".join(self.sign(point) or " " for point in points).rstrip():
            yield marks
        for change in self.found:
            p = f"p < {SMALLEST_P:g}" if change.p < SMALLEST_P else f"p = {change.p:.3f}"
            levels = f"{shown(change.before)} → {shown(change.after)}"
            yield f"{SIGNS[change.direction]} {_days(change)}  {levels}  {p}  {change.cause}"

    def annotations(self) -> list[Annotation]:
        """A line for each in a drawing, with what changed there."""
        return [Annotation(change.point.timestamp, _label(change)) for change in self.found]

    def to_json(self) -> dict[str, Any]:
        """The keys that a series gets."""
        return {"changePoints": [_json(change) for change in self.found], "untested": self.untested}


def _days(change: TrendChange) -> str:
    first, at, last = (f"{point.timestamp:%Y-%m-%d}" for point in (change.first, change.point, change.last))
    return at if first == last else f"{at} ({first} to {last})"


def _label(change: TrendChange) -> str:
    known = summary(change.there) if change.there else "no recorded cause"
    text = f"{SIGNS[change.direction]} {known}"
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def _json(change: TrendChange) -> dict[str, Any]:
    return {
        **_run(change.point),
        "first": _run(change.first),
        "last": _run(change.last),
        "direction": change.direction,
        "before": change.before,
        "after": change.after,
        "p": change.p,
        "changed": [each.to_json() for each in change.there],
        "changedNearby": [_nearby(point, each) for point, each in change.nearby],
        "unrecorded": list(change.unrecorded),
        "cause": change.cause,
    }


def _nearby(point: TrendPoint, change: Change) -> dict[str, Any]:
    return {**_run(point), **change.to_json()}


def _run(point: TrendPoint) -> dict[str, Any]:
    return {"timestamp": point.timestamp.isoformat(), "runId": point.run_id}


BOUNDED = "completionRate"
"""The figure that comes with an interval."""


def show_table(points: Sequence[TrendPoint], metric: str, steps: Steps, *, limit: int) -> None:
    """Print the newest `limit` points, oldest first, and before them those where the level changed; and say what is left out."""
    seen = _seen(points, steps, limit)
    current().out().print(_table(seen, metric, steps))
    if rest := len(points) - len(seen):
        current().say(
            f"{plural(rest, 'earlier run')} not shown; --limit {len(points)} shows all, and --json has them", style="dim"
        )


def _seen(points: Sequence[TrendPoint], steps: Steps, limit: int) -> list[TrendPoint]:
    return [*(point for point in points[:-limit] if steps.sign(point)), *points[-limit:]]


def _table(points: Sequence[TrendPoint], metric: str, steps: Steps) -> Table:
    table, bounded, show = Table(box=None, pad_edge=False), metric == BOUNDED, shown(metric)
    for name in ("date (UTC)", "run", "version", metric, *(["95 % interval"] if bounded else []), *([""] if steps.found else [])):
        table.add_column(name, overflow="fold", justify="right" if name in {metric, "95 % interval"} else "left")
    for point in points:
        cells = [point.timestamp.strftime("%Y-%m-%d %H:%M"), point.run_id, point.skill_version, show(point.value)]
        cells += [numbers.interval(point.interval)] if bounded else []
        table.add_row(*map(Text, [*cells, *([steps.sign(point)] if steps.found else [])]))
    return table
