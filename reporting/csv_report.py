"""The report as CSV: one row per skill, numbers unrounded, unknown values empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.escape import csv_cell, encodable
from eval_skills.reporting.table import COLUMNS, skill_rows


def render_csv(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """The table with a header line; text cannot become a formula of a spreadsheet, numbers are left as they are."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ["rank", *(column.name for column in COLUMNS)], lineterminator="\n")
    writer.writeheader()
    for row in skill_rows(reports, context):
        writer.writerow({name: _csv_value(value) for name, value in row.items()})
    return text.getvalue()


def _csv_value(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return csv_cell(encodable(value)) if isinstance(value, str) else value
