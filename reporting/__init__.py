"""What people look at: reports of a run as files.

Names are loaded on first use: who shows a figure as people read it does not need all that makes reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core import lazily

if TYPE_CHECKING:
    from eval_skills.reporting.context import ReportContext, ranked
    from eval_skills.reporting.json_report import read_reports
    from eval_skills.reporting.summary import RunCounts, count_run, summary_line
    from eval_skills.reporting.writing import check_formats, format_named, formats, render, write_rendered, write_reports

__all__ = [
    "ReportContext", "RunCounts", "check_formats", "count_run", "format_named", "formats", "ranked", "read_reports", "render",
    "summary_line", "write_rendered", "write_reports",
]  # fmt: skip

_MODULES = {
    "context": "ReportContext ranked",
    "json_report": "read_reports",
    "summary": "RunCounts count_run summary_line",
    "writing": "check_formats format_named formats render write_rendered write_reports",
}

if not TYPE_CHECKING:  # a type checker must not take every name for one of ours
    __getattr__ = lazily(__name__, _MODULES)
