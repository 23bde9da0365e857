"""Feedback as LangSmith's tables of feedback have it: one row for each score of each item."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.result import ERROR_STATUSES
from eval_skills.core.text import encodable
from eval_skills.reporting.context import ReportContext, ranked
from eval_skills.reporting.escape import csv_cell
from eval_skills.reporting.exports.items import text, wanted, why, with_items

COLUMNS = ("run_id", "key", "score", "value", "comment", "skill", "example_id", "repetition", "inputs", "outputs", "reference")


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """CSV: of each item the key ``passed`` (score 1 or 0), ``score``, and one key for each of its dimensions.

    `run_id` is that of the Prefect task run where there is one, else our run's with the item's name. `value` is the status. An
    item that ended in an error has one row without a score: it was not judged.

    Raises:
        UsageError: the reports hold figures only.
    """
    with_items(reports, "LangSmith's feedback")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for report in ranked(reports):
        for item in report.task_results:
            writer.writerows(_rows(report, item, context))
    return encodable(out.getvalue())


def _rows(report: SkillCompletionReport, item: TaskResult, context: ReportContext) -> Iterator[list[Any]]:
    run = item.task_run_id or f"{context.run_id}/{report.skill_key}/{item.name}"
    about = [report.skill_key, item.task_id, item.run_index + 1, *map(text, (item.input, item.output, wanted(item)))]
    for key, score in _scores(item):
        row = [run, key, score, item.status, why(item), *about]
        yield [csv_cell(cell) if isinstance(cell, str) else cell for cell in row]


def _scores(item: TaskResult) -> Iterator[tuple[str, float | None]]:
    yield "passed", None if item.status in ERROR_STATUSES else float(item.passed)
    if item.status in ERROR_STATUSES:
        return
    if item.score is not None:
        yield "score", item.score
    yield from item.dimensions.items()
