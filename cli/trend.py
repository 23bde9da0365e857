"""``eval-skills trend``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.moments import from_moment, to_moment
from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.core.trend import Trend, TrendPoint

SHARES = frozenset({"completionRate", "errorRate", "flakeRate", "partialScore", "compositeScore"})
"""What lies in [0, 1], so that a line of it begins at 0 and ends at 1."""


def trend_command(
    *,
    skill: Annotated[str, Parameter(help="The skill: its id (every version), or id@version")],
    metric: Annotated[
        str,
        Parameter(help="completionRate, errorRate, p95Ms, compositeScore, partialScore, flakeRate or estimatedUSD"),
    ] = "completionRate",
    benchmark: Annotated[str | None, Parameter(help="Only this benchmark: its id, or id@version [default: each]")] = None,
    since: Annotated[
        datetime | None,
        Parameter(converter=from_moment, help="Begin with this day (2026-01-01), or this long ago (12h, 30d, 4w)"),
    ] = None,
    until: Annotated[
        datetime | None, Parameter(converter=to_moment, help="End with this day (2026-01-31), or this long ago (12h, 30d, 4w)")
    ] = None,
    output: Annotated[Path | None, Parameter(help="Write the trend to this HTML file, too")] = None,
    store: Annotated[str | None, Parameter(help="Where past results are [default: ./eval-store]")] = None,
) -> int:
    """Show how a figure of a skill moved from run to run.

    Example: eval-skills trend --skill calculator --metric p95Ms --since 30d --output trend.html
    """
    from eval_skills.cli.stored import existing_store
    from eval_skills.core.trend import check_metric, trend

    check_metric(metric)
    _check_output(output)
    found = trend(existing_store(store), skill, metric=metric, benchmark=benchmark, since=since, until=until)
    if output is not None:
        _write(output, found, skill, metric)
    _show(found, skill, metric, output)
    return 0


def _check_output(output: Path | None) -> None:
    from eval_skills.core.errors import UsageError
    from eval_skills.tasks.places import check_file

    if output is None:
        return
    if output.suffix.lower() not in {".html", ".htm"}:
        raise UsageError(f"--output {output}: a trend is written as HTML; give a file that ends in .html")
    check_file(output, "--output", "the trend")


def _write(output: Path, found: Trend, skill: str, metric: str) -> None:
    from eval_skills.core.store.durable import write_whole
    from eval_skills.reporting.trend_page import render

    write_whole(output, render(found, skill=skill, metric=metric, shown=shown(metric)).encode())


def shown(metric: str) -> Callable[[float | None], str]:
    """How a value of the metric is written for people."""
    from eval_skills.reporting import figures

    if metric in {"completionRate", "errorRate", "flakeRate"}:
        return figures.rate
    return {"p95Ms": figures.milliseconds, "estimatedUSD": figures.usd}.get(metric, figures.score)


def _show(found: Trend, skill: str, metric: str, output: Path | None) -> None:
    from eval_skills.cli.tables import print_json

    if current().json:
        print_json(_document(found, skill, metric, output))
        return
    for benchmark, points in found.items():
        _show_line(benchmark, points, skill, metric)
        current().out().print(_table(points, metric))
    if not found:
        current().say(f"no report of {skill} in this time")
    if output is not None:
        current().say(f"written to {output}")


def _show_line(benchmark: str, points: list[TrendPoint], skill: str, metric: str) -> None:
    from eval_skills.cli.sparkline import sparkline

    show = shown(metric)
    line = sparkline([point.value for point in points][-current().out().width :], top=1.0 if metric in SHARES else None)
    current().say(f"{skill} on {benchmark}, {metric}: {show(points[0].value)} → {show(points[-1].value)}", style="bold")
    current().say(line)


def _table(points: list[TrendPoint], metric: str) -> Any:
    from rich.table import Table
    from rich.text import Text

    from eval_skills.reporting import figures

    table = Table(box=None, pad_edge=False)
    for name in ("date (UTC)", "run", "version", metric, *(["95 % interval"] if metric == "completionRate" else [])):
        table.add_column(name, overflow="fold", justify="right" if name in {metric, "95 % interval"} else "left")
    for point in points:
        cells = [point.timestamp.strftime("%Y-%m-%d %H:%M"), point.run_id, point.skill_version, shown(metric)(point.value)]
        table.add_row(*map(Text, [*cells, *([figures.interval(point.interval)] if metric == "completionRate" else [])]))
    return table


def _document(found: Trend, skill: str, metric: str, output: Path | None) -> dict[str, Any]:
    series = [{"benchmark": benchmark, "points": [_point(point) for point in points]} for benchmark, points in found.items()]
    return {"skill": skill, "metric": metric, "series": series, "file": str(output) if output else None}


def _point(point: TrendPoint) -> dict[str, Any]:
    return {
        "timestamp": point.timestamp.isoformat(),
        "runId": point.run_id,
        "skillVersion": point.skill_version,
        "benchmarkVersion": point.benchmark_version,
        "value": point.value,
        "interval": point.interval.to_json() if point.interval else None,
    }
