"""The table of a trend: a line for each of the newest runs, and for every run where the level changed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from eval_skills.cli.session import current
from eval_skills.cli.trend_steps import Steps
from eval_skills.core.trend import TrendPoint
from eval_skills.reporting import figures
from eval_skills.reporting.trend_figures import shown

BOUNDED = "completionRate"
"""The figure that comes with an interval."""


def show_table(points: Sequence[TrendPoint], metric: str, steps: Steps, *, limit: int) -> None:
    """Print the newest `limit` points, oldest first, and before them those where the level changed; and say what is left out."""
    seen = _seen(points, steps, limit)
    current().out().print(_table(seen, metric, steps))
    if rest := len(points) - len(seen):
        current().say(
            f"{figures.plural(rest, 'earlier run')} not shown; --limit {len(points)} shows all, and --json has them", style="dim"
        )


def _seen(points: Sequence[TrendPoint], steps: Steps, limit: int) -> list[TrendPoint]:
    return [*(point for point in points[:-limit] if steps.sign(point)), *points[-limit:]]


def _table(points: Sequence[TrendPoint], metric: str, steps: Steps) -> Table:
    table, bounded, show = Table(box=None, pad_edge=False), metric == BOUNDED, shown(metric)
    for name in ("date (UTC)", "run", "version", metric, *(["95 % interval"] if bounded else []), *([""] if steps.found else [])):
        table.add_column(name, overflow="fold", justify="right" if name in {metric, "95 % interval"} else "left")
    for point in points:
        cells = [point.timestamp.strftime("%Y-%m-%d %H:%M"), point.run_id, point.skill_version, show(point.value)]
        cells += [figures.interval(point.interval)] if bounded else []
        table.add_row(*map(Text, [*cells, *([steps.sign(point)] if steps.found else [])]))
    return table
