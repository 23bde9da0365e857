"""What people look at: reports of a run as files."""

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
