"""The table that a run ends with: the best skill first, in the width there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from eval_skills.cli.session import printable
from eval_skills.core.dimensions import DIMENSIONS
from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import figures
from eval_skills.reporting.dimension_figures import dimension_title, mean_of, shown_dimensions
from eval_skills.reporting.ranking import ranked

if TYPE_CHECKING:
    from eval_skills.tasks.summary import RunSummary

GAP = 2

FIGURES: dict[str, Callable[[SkillCompletionReport], str]] = {
    "completion": lambda report: figures.rate(report.summary.completion_rate),
    "95 % interval": lambda report: figures.interval(report.summary.confidence_interval),
    "errors": lambda report: figures.rate(report.summary.error_rate),
    "flaky": lambda report: figures.rate(report.summary.flake_rate),
    "P50": lambda report: figures.milliseconds(report.latency.p50_ms),
    "P95": lambda report: figures.milliseconds(report.latency.p95_ms),
    "composite": lambda report: figures.score(report.summary.composite_score),
}
LEAST_TELLING_FIRST = ("P50", "flaky", "95 % interval", "P95", "errors", "composite")


def ranking(summary: RunSummary, width: int) -> Table:
    """The ranking. Figures that do not fit into `width` are left out whole, the least telling ones first: reports have them all.

    Agent runs have a column for every dimension that any of them was scored on; those of rubrics are in the reports alone.

    A skill's name is folded only where it and its completion rate alone are wider than `width`.
    """
    reports = ranked(summary.reports)
    columns = _columns(summary, reports)
    for name in (*LEAST_TELLING_FIRST[:3], *map(_heading, reversed(_dimensions(reports))), *LEAST_TELLING_FIRST[3:]):
        if _width(columns) > width:
            del columns[name]
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for name in columns:
        table.add_column(name, justify="left" if name == "skill" else "right", no_wrap=name != "skill", overflow="fold")
    for report, *cells in zip(reports, *columns.values(), strict=True):
        colour = "green" if report.summary.completion_rate >= summary.min_completion else "red"
        styles = [colour if name == "completion" else "" for name in columns]
        table.add_row(*map(Text, cells, styles))
    return table


def _columns(summary: RunSummary, reports: list[SkillCompletionReport]) -> dict[str, list[str]]:
    columns = {"#": [str(place) for place, _ in enumerate(reports, start=1)], "skill": [report.skill_key for report in reports]}
    columns |= {name: [show(report) for report in reports] for name, show in FIGURES.items()}
    for name in _dimensions(reports):
        columns[_heading(name)] = [figures.score(mean_of(report, name)) for report in reports]
    if summary.selected is not None:
        ranks = {choice.skill.key: choice.rank for choice in summary.selected}
        columns["selected"] = [str(ranks.get(report.skill_key, "")) for report in reports]
    return columns


def _dimensions(reports: list[SkillCompletionReport]) -> list[str]:
    return [name for name in shown_dimensions(reports) if not name.startswith("rubric.")]


def _heading(dimension: str) -> str:
    """A dimension's own name may be anybody's, and that of a figure."""
    return printable(dimension_title(dimension).lower() if dimension in DIMENSIONS else f"{dimension} (dimension)")


def _width(columns: dict[str, list[str]]) -> int:
    return sum(max(map(cell_len, (name, *cells))) + GAP for name, cells in columns.items()) - GAP
