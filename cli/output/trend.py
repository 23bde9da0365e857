"""The tables of `trend`: the last value of every skill; and of one, its newest runs and every run where the level changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval_skills.cli.context import current, print_json, printable
from eval_skills.cli.output.tables import Column, print_table
from eval_skills.core.store import Store
from eval_skills.core.text import plural
from eval_skills.core.trend.trend import Trend, TrendPoint, lines, nothing_found
from eval_skills.reporting import numbers
from eval_skills.reporting.trend.series import BOUNDED, shown, value_text
from eval_skills.reporting.trend.steps import SIGNS, SILENT, Steps, change_json, run_json, unknown_json


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
            cells = (skill, benchmark, f"{_runs(points):,}", value_text(points[-1], show), _direction(points), where)
            rows.append([*map(printable, cells)])
            change = None if last is None else change_json(last)
            facts = {
                "skill": skill,
                "benchmark": benchmark,
                "runs": _runs(points),
                "value": points[-1].value,
                **unknown_json(points[-1]),
                "moved": _direction(points),
            }
            listed.append({**facts, **run_json(points[-1]), "lastChange": change, "untested": steps.untested})
    if current().json:
        print_json({"metric": metric, "skills": listed})
    elif listed:
        print_table(columns, rows)
    else:
        current().say(f"{nothing_found(metric)} in this time")


def _runs(points: Sequence[TrendPoint]) -> int:
    """How many runs these are: one that asked several versions of the skill has a point for each."""
    return len({point.run_id for point in points})


def _direction(points: Sequence[TrendPoint]) -> str:
    """↑ where the last value is above the last known one before it, ↓ below it, = the same; – where one of them is not known.

    The one before is of the same version where versions ran side by side.
    """
    line = next(line for line in lines(points) if points[-1] in line)
    values = [point.whole_value for point in line if point.whole_value is not None]
    if len(values) < 2 or points[-1].whole_value is None:
        return numbers.UNKNOWN
    return "↑" if values[-1] > values[-2] else "↓" if values[-1] < values[-2] else "="


def show_table(points: Sequence[TrendPoint], metric: str, steps: Steps, *, limit: int) -> None:
    """Print the newest `limit` points, oldest first, and before them those where the level changed; and say what is left out."""
    seen = _seen(points, steps, limit)
    _print_points(seen, metric, steps)
    if rest := len(points) - len(seen):
        current().say(
            f"{plural(rest, 'earlier run')} not shown; --limit {len(points)} shows all, and --json has them", style="dim"
        )


def _seen(points: Sequence[TrendPoint], steps: Steps, limit: int) -> list[TrendPoint]:
    return [*(point for point in points[:-limit] if steps.sign(point) not in ("", SILENT)), *points[-limit:]]


def _print_points(points: Sequence[TrendPoint], metric: str, steps: Steps) -> None:
    bounded, show, marked = metric in BOUNDED, shown(metric), any(map(steps.sign, points))
    columns = [Column("date (UTC)", drop=2), Column("run"), Column("version", drop=1), Column(metric, right=True)]
    columns += [Column("95 % interval", right=True)] if bounded else []
    rows = []
    for point in points:
        cells = [point.timestamp.strftime("%Y-%m-%d %H:%M"), point.run_id, point.skill_version, value_text(point, show)]
        cells += [numbers.interval(point.interval)] if bounded else []
        rows.append([*cells, *([steps.sign(point)] if marked else [])])
    print_table([*columns, *([Column("")] if marked else [])], rows)
