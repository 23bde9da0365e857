"""What people look at: reports of a run as files.

Names are loaded on first use: who shows a figure as people read it does not need all that makes reports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.reporting.context import ReportContext, ranked
    from eval_skills.reporting.json_report import read_reports
    from eval_skills.reporting.summary import RunCounts, count_run, summary_line
    from eval_skills.reporting.writing import check_formats, format_named, formats, render, write_rendered, write_reports

__all__ = [
    "ReportContext",
    "RunCounts",
    "check_formats",
    "count_run",
    "format_named",
    "formats",
    "ranked",
    "read_reports",
    "render",
    "summary_line",
    "write_rendered",
    "write_reports",
]

_MODULES = {
    "context": "ReportContext ranked",
    "json_report": "read_reports",
    "summary": "RunCounts count_run summary_line",
    "writing": "check_formats format_named formats render write_rendered write_reports",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


if not TYPE_CHECKING:  # a type checker must not take every name for one of ours

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
