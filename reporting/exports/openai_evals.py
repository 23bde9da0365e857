"""A record of OpenAI's evals: JSON Lines with the specification, an event for each answer and verdict, and the final report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count
from statistics import fmean
from typing import Any

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.result import ERROR_STATUSES
from eval_skills.core.text import encodable
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.exports.items import exchanges, text, the_one, wanted, why


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """The lines that ``oaieval`` records: ``spec``, then ``sampling`` and ``match`` events, then ``final_report``.

    An item that ended in an error has an event of the type ``error`` and no ``match``. As with evals' own accuracy, that of the
    final report is over the ``match`` events, and so is `partial_score`, their mean score; both are null where there is none.
    `errors` counts the items that ended in one.

    Source: evals' ``evals/metrics.py`` (``get_accuracy``) and ``evals/elsuite/basic/match.py``.

    Raises:
        UsageError: there are several skills, or no items.
    """
    report = the_one(reports, "a record of OpenAI's evals")
    return "".join(encodable(json.dumps(line, ensure_ascii=False)) + "\n" for line in _lines(report, context))


def _lines(report: SkillCompletionReport, context: ReportContext) -> Iterator[dict[str, Any]]:
    created = context.created_utc.strftime("%Y-%m-%d %H:%M:%S")
    name = f"{report.benchmark_id}.eval-skills.v0"
    spec = {
        "completion_fns": [report.skill_key],
        "eval_name": name,
        "base_eval": report.benchmark_id,
        "split": "eval-skills",
        "run_config": {"completion_fns": [report.skill_key], "eval_spec": {"key": name, "group": report.benchmark_id}},
        "created_by": "eval-skills",
        "run_id": context.run_id,
        "created_at": created,
    }
    yield {"spec": spec}
    number = count()
    for item in report.task_results:
        for kind, data in _events(item):
            yield {
                "run_id": context.run_id, "event_id": next(number), "sample_id": item.name, "type": kind, "data": data,
                "created_by": "eval-skills", "created_at": created,
            }  # fmt: skip
    yield {"final_report": _final(report.task_results)}


def _final(items: Sequence[TaskResult]) -> dict[str, Any]:
    matched = [item for item in items if item.status not in ERROR_STATUSES]
    return {
        "accuracy": fmean(item.passed for item in matched) if matched else None,
        "partial_score": fmean(item.score or 0.0 for item in matched) if matched else None,
        "errors": len(items) - len(matched),
    }


def _events(item: TaskResult) -> Iterator[tuple[str, dict[str, Any]]]:
    for each in exchanges(item):
        if each.answered:
            yield "sampling", {"prompt": text(each.prompt), "sampled": [text(each.answer)]}
    if item.status in ERROR_STATUSES:
        yield "error", {"type": item.error_kind or item.status, "message": item.error_message}
        return
    judged = {"correct": item.passed, "expected": wanted(item), "picked": item.output, "sampled": text(item.output)}
    yield "match", {**judged, "score": item.score, "reason": why(item)}
