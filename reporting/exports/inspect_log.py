"""A log of Inspect (version 2, as JSON), which ``inspect view`` shows and ``read_eval_log`` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count
from statistics import fmean, stdev
from typing import Any

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.result import ERROR_STATUSES
from eval_skills.core.text import encodable
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.exports.items import arguments_of, ended, exchanges, text, the_one, wanted, was_answered, why

SCORER = "eval_skills"
_VERDICT = {"pass": "C", "fail": "I"}


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """One log, of one skill: tasks are samples, runs are epochs (from 1), the skill is the model.

    An item that ended in an error is a sample with an `error` and without a score: Inspect's figures leave it out. As there,
    the epochs of a sample are reduced to their mean first: the accuracy is the mean over the samples, and the standard error
    takes samples, not their epochs, as independent. The messages of a conversation stand turn by turn, and its input are what the
    user said.

    Source: Inspect's ``src/inspect_ai/log/_log.py`` (``EvalSample``, ``EvalStats``), ``tool/_tool_call.py`` (``ToolCall``,
    ``ToolCallError``) and ``model/_chat_message.py``.

    Raises:
        UsageError: there are several skills, or no items.
    """
    report = the_one(reports, "a log of Inspect")
    items = report.task_results
    created = context.created_utc.isoformat(timespec="seconds")
    tasks = list(dict.fromkeys(item.task_id for item in items))
    scored = [item for item in items if item.status not in ERROR_STATUSES]
    reduced = _reduced(scored)
    log = {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": f"{context.run_id}-{report.skill_id}",
            "run_id": context.run_id,
            "created": created,
            "task": report.benchmark_id,
            "task_id": f"{report.benchmark_id}-{context.run_id}",
            "dataset": {"name": report.benchmark_id, "samples": len(tasks), "sample_ids": tasks, "shuffled": False},
            "model": report.skill_key,
            "config": {"epochs": max((item.run_index + 1 for item in items), default=1)},
            "packages": {},
            "metadata": {"source": "eval-skills"},
        },
        "plan": {"name": "plan", "steps": []},
        "results": {
            "total_samples": len(items),
            "completed_samples": len(scored),
            "scores": [
                {
                    "name": SCORER,
                    "scorer": SCORER,
                    "scored_samples": len(reduced),
                    "unscored_samples": 0,
                    "params": {},
                    "metrics": _metrics(reduced),
                }
            ],
        },
        "stats": {**_times(items), "model_usage": _used(report)},
        "samples": [_sample(report, item) for item in items],
    }
    return encodable(json.dumps(log, ensure_ascii=False, indent=1)) + "\n"


def _times(items: Sequence[TaskResult]) -> dict[str, str]:
    """When the first item began and the last one ended; empty, as in Inspect's own unfinished logs, where no item says it."""
    begun = [item.started_at for item in items if item.started_at is not None]
    done = [end for item in items if (end := ended(item)) is not None]
    return {
        "started_at": min(begun).isoformat() if begun else "",
        "completed_at": max(done).isoformat() if done else "",
    }


def _reduced(scored: Sequence[TaskResult]) -> list[float]:
    """The share of each sample's scored epochs that passed."""
    verdicts: dict[str, list[bool]] = {}
    for item in scored:
        verdicts.setdefault(item.task_id, []).append(item.passed)
    return [fmean(each) for each in verdicts.values()]


def _metrics(reduced: Sequence[float]) -> dict[str, Any]:
    if not reduced:
        return {}
    found = {"accuracy": fmean(reduced)}
    if len(reduced) > 1:
        found["stderr"] = stdev(reduced) / len(reduced) ** 0.5
    return {name: {"name": name, "value": value} for name, value in found.items()}


def _used(report: SkillCompletionReport) -> dict[str, Any]:
    cost = report.token_cost
    if cost.total_tokens is None:
        return {}
    return {report.skill_key: _usage(cost.prompt_tokens, cost.completion_tokens)}


def _usage(prompt: int | None, completion: int | None) -> dict[str, int]:
    known = {"input_tokens": prompt, "output_tokens": completion}
    told = {name: tokens for name, tokens in known.items() if tokens is not None}
    return told | {"total_tokens": sum(told.values())}


def _sample(report: SkillCompletionReport, item: TaskResult) -> dict[str, Any]:
    answer = text(item.output)
    output: dict[str, Any] = {"model": report.skill_key, "choices": [], "completion": answer}
    if was_answered(item):
        output["choices"] = [{"message": {"role": "assistant", "content": answer, "source": "generate"}, "stop_reason": "stop"}]
    if item.prompt_tokens is not None or item.completion_tokens is not None:
        output["usage"] = _usage(item.prompt_tokens, item.completion_tokens)
    sample = {
        "id": item.task_id,
        "epoch": item.run_index + 1,
        "input": [{"role": "user", "content": text(each.prompt)} for each in exchanges(item)] if item.turns else text(item.input),
        "target": text(wanted(item)),
        "messages": list(_messages(item)),
        "output": output,
        "scores": _scores(item, answer),
        "metadata": {"status": item.status, "tags": item.tags},
    }
    if item.started_at is not None:
        sample["started_at"] = item.started_at.isoformat()
    if (end := ended(item)) is not None:
        sample["completed_at"] = end.isoformat()
    if item.latency_ms is not None:
        sample["total_time"] = item.latency_ms / 1000
    if item.status in ERROR_STATUSES:
        sample["error"] = {"message": why(item), "traceback": "", "traceback_ansi": ""}
    return sample


def _messages(item: TaskResult) -> Iterator[dict[str, Any]]:
    """What was said and done, in order: of each turn the user's message, the calls with their results, and the answer."""
    number = count(1)
    for each in exchanges(item):
        yield {"role": "user", "content": text(each.prompt)}
        for call in each.calls:
            name = call.id or f"call-{next(number)}"
            called = {"id": name, "function": call.name, "arguments": arguments_of(call)}
            yield {"role": "assistant", "content": "", "tool_calls": [called]}
            if call.result is not None or call.error is not None:
                failed = {} if call.error is None else {"error": {"type": "unknown", "message": call.error}}
                yield {"role": "tool", "content": text(call.result), "tool_call_id": name, "function": call.name, **failed}
        if each.answered:
            yield {"role": "assistant", "content": text(each.answer)}


def _scores(item: TaskResult, answer: str) -> dict[str, Any]:
    if item.status in ERROR_STATUSES:
        return {}
    details = {"score": item.score, "dimensions": item.dimensions, "scorer": item.scorer}
    return {SCORER: {"value": _VERDICT[item.status], "answer": answer, "explanation": why(item) or None, "metadata": details}}
