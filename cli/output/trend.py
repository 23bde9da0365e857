"""The steps of a trend as `trend` shows them: marks below the bars, a line for each, JSON, and lines in the drawings.

The table of a trend: a line for each of the newest runs, and for every run where the level changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from eval_skills.cli.context import current, print_json, printable
from eval_skills.cli.output.tables import Column, print_table
from eval_skills.core.store import Store
from eval_skills.core.text import plural
from eval_skills.core.trend.attribution import Change, summary
from eval_skills.core.trend.changes import SilentChange, SingleRun, TrendChange, line_findings
from eval_skills.core.trend.trend import Trend, TrendPoint, lines
from eval_skills.reporting import numbers
from eval_skills.reporting.trend.series import BOUNDED, Annotation, shown, value_text

SIGNS = {"up": "▲", "down": "▼"}
SINGLE, SILENT = "○", "·"
NOTES_SHOWN = 10
"""A commit changes with nearly every run: more lines than these tell nobody anything."""
SMALLEST_P = 0.001
LONGEST_LABEL = 80


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

    def to_json(self) -> dict[str, Any]:
        """The keys that a series gets."""
        return {
            "changePoints": [_json(change) for change in self.found],
            "untested": self.untested,
            "singleRuns": [{**_run(run.point), "lower": run.lower, "upper": run.upper} for run in self.single],
            "changedSilently": [{**_run(run.point), "changed": [each.to_json() for each in run.changed]} for run in self.silent],
        }


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


def show_every(store: Store, found: Mapping[str, Trend], metric: str) -> None:
    """The last value of every skill on each benchmark, and the last lasting change of its level; or one JSON document."""
    show = shown(metric)
    columns = [
        Column("skill"),
        Column("benchmark", least=12, drop=2),
        Column("runs", right=True, drop=1),
        Column(metric, right=True),
        Column("moved", drop=3),
        Column("last change of level", drop=4),
    ]
    rows: list[list[str]] = []
    listed: list[dict[str, Any]] = []
    for skill, trend in found.items():
        for benchmark, points in trend.items():
            steps = Steps.of(store, skill, points, metric, newest=0)
            last = steps.found[-1] if steps.found else None
            levels = f" {show(last.before)} → {show(last.after)}" if last else ""
            where = f"{SIGNS[last.direction]} {last.point.timestamp:%Y-%m-%d}{levels}" if last else "–"
            cells = (skill, benchmark, f"{len(points):,}", show(points[-1].value), _direction(points), where)
            rows.append([*map(printable, cells)])
            change = None if last is None else _json(last)
            facts = {
                "skill": skill,
                "benchmark": benchmark,
                "runs": len(points),
                "value": points[-1].value,
                "moved": _direction(points),
            }
            listed.append({**facts, **_run(points[-1]), "lastChange": change, "untested": steps.untested})
    if current().json:
        print_json({"metric": metric, "skills": listed})
    elif listed:
        print_table(columns, rows)
    else:
        current().say("no report in this time")


def _direction(points: Sequence[TrendPoint]) -> str:
    """↑ where the last value is above the one before it, ↓ below it, = the same; – where one of them is not known."""
    values = [point.value for point in points if point.value is not None]
    if len(values) < 2 or points[-1].value is None:
        return numbers.UNKNOWN
    return "↑" if values[-1] > values[-2] else "↓" if values[-1] < values[-2] else "="


def show_table(points: Sequence[TrendPoint], metric: str, steps: Steps, *, limit: int) -> None:
    """Print the newest `limit` points, oldest first, and before them those where the level changed; and say what is left out."""
    seen = _seen(points, steps, limit)
    current().out().print(_table(seen, metric, steps))
    if rest := len(points) - len(seen):
        current().say(
            f"{plural(rest, 'earlier run')} not shown; --limit {len(points)} shows all, and --json has them", style="dim"
        )


def _seen(points: Sequence[TrendPoint], steps: Steps, limit: int) -> list[TrendPoint]:
    return [*(point for point in points[:-limit] if steps.sign(point) not in ("", SILENT)), *points[-limit:]]


def _table(points: Sequence[TrendPoint], metric: str, steps: Steps) -> Table:
    table, bounded, show = Table(box=None, pad_edge=False), metric in BOUNDED, shown(metric)
    marked = any(map(steps.sign, points))
    for name in ("date (UTC)", "run", "version", metric, *(["95 % interval"] if bounded else []), *([""] if marked else [])):
        table.add_column(name, overflow="fold", justify="right" if name in {metric, "95 % interval"} else "left")
    for point in points:
        value = value_text(point, show)
        cells = [point.timestamp.strftime("%Y-%m-%d %H:%M"), point.run_id, point.skill_version, value]
        cells += [numbers.interval(point.interval)] if bounded else []
        table.add_row(*map(Text, [*cells, *([steps.sign(point)] if marked else [])]))
    return table
