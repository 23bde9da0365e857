"""A record of OpenAI's evals: JSON Lines with the specification, an event for each answer and verdict, and the final report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.escape import encodable
from eval_skills.reporting.exports.items import ERRORS, sample_name, text, the_one, wanted, was_answered, why


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """The lines that ``oaieval`` records: ``spec``, then ``sampling`` and ``match`` events, then ``final_report``.

    An item that ended in an error has an event of the type ``error`` and no ``match``. The final report counts such items as not
    passed in `accuracy`, as our completion rate does, and how many they are in `errors`.

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
                "run_id": context.run_id, "event_id": next(number), "sample_id": sample_name(item), "type": kind, "data": data,
                "created_by": "eval-skills", "created_at": created,
            }  # fmt: skip
    summary = report.summary
    errors = sum(item.status in ERRORS for item in report.task_results)
    yield {"final_report": {"accuracy": summary.completion_rate, "partial_score": summary.partial_score, "errors": errors}}


def _events(item: TaskResult) -> Iterator[tuple[str, dict[str, Any]]]:
    if item.status in ERRORS:
        yield "error", {"type": item.error_kind or item.status, "message": item.error_message}
        return
    if was_answered(item):
        yield "sampling", {"prompt": text(item.input), "sampled": [text(item.output)]}
    judged = {"correct": item.passed, "expected": wanted(item), "picked": item.output, "sampled": text(item.output)}
    yield "match", {**judged, "score": item.score, "reason": why(item)}
