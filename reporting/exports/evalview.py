"""Results as EvalView keeps them in ``.evalview/results``: a JSON list, a result for each item."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.response import ToolCall
from eval_skills.core.models.result import ERROR_STATUSES, FORBIDDEN_TOOL_CALLED
from eval_skills.core.text import encodable
from eval_skills.reporting.context import ReportContext, ranked
from eval_skills.reporting.exports.items import arguments_of, ended, exchanges, text, why, with_items

_OF_COST, _OF_LATENCY = frozenset({"COST_ABOVE_MAX", "COST_UNKNOWN"}), frozenset({"LATENCY_ABOVE_MAX", "LATENCY_UNKNOWN"})
"""The reasons of items that failed by a limit."""


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """A result for each item, the skill as its adapter.

    EvalView's results have no place for what is unknown: an item whose beginning is not known began with its run, a dimension
    that was not scored counts as full, cost, latency and the limits on them as 0, and an item that ended in an error as failed
    with a score of 0; its rationale names the error. The steps of a conversation are the calls of all its turns.

    Source: EvalView's ``evalview/core/types.py`` (``ExecutionTrace``, ``StepTrace``).

    Raises:
        UsageError: the reports hold figures only.
    """
    with_items(reports, "a file of EvalView's results")
    found = [_result(report, item, context) for report in ranked(reports) for item in report.task_results]
    return encodable(json.dumps(found, ensure_ascii=False, indent=2)) + "\n"


def _result(report: SkillCompletionReport, item: TaskResult, context: ReportContext) -> dict[str, Any]:
    calls, said = [call for each in exchanges(item) for call in each.calls], why(item)
    cost, latency = item.cost_usd or 0.0, item.latency_ms or 0.0
    failed = item.status in ERROR_STATUSES
    started = item.started_at or context.created_utc
    return {
        "test_case": item.name,
        "passed": item.passed,
        "score": 100 * (item.score or 0.0),
        "evaluations": _evaluations(item, calls, said),
        "trace": {
            "session_id": item.task_run_id or f"{context.run_id}/{report.skill_key}/{item.name}",
            "start_time": started.isoformat(),
            "end_time": (ended(item) or started).isoformat(),
            "steps": [_step(place, call) for place, call in enumerate(calls, 1)],
            "final_output": said if failed else text(item.output),
            "metrics": {"total_cost": cost, "total_latency": latency, "total_tokens": _tokens(item)},
        },
        "timestamp": started.isoformat(),
        "adapter_name": report.skill_key,
        "input_query": text(item.input),
        "actual_output": None if failed else text(item.output),
    }


def _evaluations(item: TaskResult, calls: Sequence[ToolCall], said: str) -> dict[str, Any]:
    """What EvalView's own evaluators would say of it."""
    sequence = item.dimensions.get("sequence_correctness", 1.0)
    codes = {reason.code for reason in item.reasons if not reason.informational}
    found: dict[str, Any] = {
        "tool_accuracy": {"accuracy": item.dimensions.get("tool_accuracy", 1.0)},
        "sequence_correctness": {
            "correct": sequence == 1.0,
            "expected_sequence": [],
            "actual_sequence": [call.name for call in calls],
            "progress_score": sequence,
        },
        "output_quality": {
            "score": 100 * item.dimensions.get("output_quality", item.score or 0.0),
            "rationale": said,
            "contains_checks": {"passed": [], "failed": []},
            "not_contains_checks": {"passed": [], "failed": []},
        },
        "cost": {"total_cost": item.cost_usd or 0.0, "threshold": 0.0, "passed": not codes & _OF_COST},
        "latency": {"total_latency": item.latency_ms or 0.0, "threshold": 0.0, "passed": not codes & _OF_LATENCY},
    }
    if forbidden := [reason.message for reason in item.reasons if reason.code == FORBIDDEN_TOOL_CALLED]:
        found["forbidden_tools"] = {"violations": forbidden, "passed": False}
    return found


def _step(place: int, call: ToolCall) -> dict[str, Any]:
    return {
        "step_id": call.id or str(place),
        "step_name": call.name,
        "tool_name": call.name,
        "parameters": arguments_of(call),
        "output": call.result if call.error is None else call.error,
        "success": call.error is None,
        "metrics": {},
    }


def _tokens(item: TaskResult) -> dict[str, int] | None:
    known = {"input_tokens": item.prompt_tokens, "output_tokens": item.completion_tokens}
    told = {name: tokens for name, tokens in known.items() if tokens is not None}
    return told or None
