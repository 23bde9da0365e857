"""The results file of promptfoo, version 3, which ``promptfoo import`` takes and its viewer shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.result import ERROR_STATUSES
from eval_skills.core.text import encodable
from eval_skills.reporting.context import ReportContext, ranked
from eval_skills.reporting.exports.items import text, why, with_items

PROMPT = "{{input}}"
_PASSED, _WRONG, _ERROR = 0, 1, 2
"""Its reasons of failure: none, an assertion, an error."""


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """Each skill is a provider, each task and run a test, and each item a result.

    promptfoo knows no result without a score: an item that ended in an error has 0 there, marked as an error, not as a failed
    assertion. Latency and cost that are not known are left out, and so are tokens that no item of a skill reports. For the sums
    of cost and latency, and of the tokens of all skills, the format needs a number: what is not known counts as 0 there.

    Source: promptfoo's ``src/types/index.ts`` (``PromptMetricsSchema``, ``EvaluateStats``) and ``src/types/shared.ts``
    (``BaseTokenUsageSchema``).

    Raises:
        UsageError: the reports hold figures only.
    """
    with_items(reports, "a results file of promptfoo")
    shown = ranked(reports)
    tests = {name: place for place, name in enumerate(dict.fromkeys(i.name for r in shown for i in r.task_results))}
    results = [
        _result(report, place, item, tests[item.name]) for place, report in enumerate(shown) for item in report.task_results
    ]
    time = context.created_utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    title = f"{context.title}: {', '.join(dict.fromkeys(report.benchmark_id for report in shown))}"
    document = {
        "evalId": f"eval-skills-{context.run_id}",
        "results": {
            "version": 3,
            "timestamp": time,
            "prompts": [_prompt(report) for report in shown],
            "results": results,
            "stats": {**_counts([item for report in shown for item in report.task_results]), "tokenUsage": _all_tokens(shown)},
        },
        "config": {
            "description": title,
            "prompts": [PROMPT],
            "providers": [report.skill_key for report in shown],
            "tests": [],
        },
        "shareableUrl": None,
        "metadata": {"promptfooVersion": "eval-skills", "evaluationCreatedAt": time},
    }
    return encodable(json.dumps(document, ensure_ascii=False, indent=1)) + "\n"


def _result(report: SkillCompletionReport, prompt: int, item: TaskResult, test: int) -> dict[str, Any]:
    variables = item.input if isinstance(item.input, dict) else {"input": item.input}
    graded = {"pass": item.passed, "score": item.score or 0, "reason": why(item), "namedScores": item.dimensions}
    error = why(item) if item.status in ERROR_STATUSES else None
    shown = text(item.input)
    return {
        "id": f"{report.skill_key}/{item.name}",
        "promptIdx": prompt,
        "testIdx": test,
        "promptId": report.skill_key,
        "prompt": {"raw": shown, "label": PROMPT},
        "provider": {"id": report.skill_key, "label": report.skill_key},
        "testCase": {"description": item.name, "vars": variables, "assert": [], "metadata": {"expected": item.expected}},
        "vars": variables,
        "response": {"output": item.output, **({"error": error} if error else {}), "tokenUsage": _tokens(item)},
        **({"error": error} if error else {}),
        "success": item.passed,
        "failureReason": _PASSED if item.passed else _ERROR if error is not None else _WRONG,
        "score": item.score or 0,
        "namedScores": item.dimensions,
        "gradingResult": {**graded, "componentResults": [], "tokensUsed": {}},
        **({"latencyMs": item.latency_ms} if item.latency_ms is not None else {}),
        **({"cost": item.cost_usd} if item.cost_usd is not None else {}),
        "metadata": {"status": item.status, "runIndex": item.run_index, "tags": item.tags},
    }


def _prompt(report: SkillCompletionReport) -> dict[str, Any]:
    items = report.task_results
    counts = _counts(items)
    return {
        "raw": PROMPT,
        "label": PROMPT,
        "id": report.skill_key,
        "provider": report.skill_key,
        "metrics": {
            "score": sum(item.score or 0 for item in items),
            "testPassCount": counts["successes"],
            "testFailCount": counts["failures"],
            "testErrorCount": counts["errors"],
            "assertPassCount": counts["successes"],
            "assertFailCount": counts["failures"],
            "totalLatencyMs": sum(item.latency_ms or 0 for item in items),
            "tokenUsage": _known_tokens(report),
            "namedScores": {},
            "namedScoresCount": {},
            "cost": report.token_cost.estimated_usd or 0,
        },
    }


def _counts(items: Sequence[TaskResult]) -> dict[str, int]:
    return {
        "successes": sum(item.passed for item in items),
        "failures": sum(item.status == "fail" for item in items),
        "errors": sum(item.status in ERROR_STATUSES for item in items),
    }


def _tokens(item: TaskResult) -> dict[str, int]:
    known = {"prompt": item.prompt_tokens, "completion": item.completion_tokens}
    told = {name: tokens for name, tokens in known.items() if tokens is not None}
    return {**told, "total": sum(told.values())} if told else {}


def _known_tokens(report: SkillCompletionReport) -> dict[str, int]:
    """The tokens of a skill, without those that no item reports."""
    used = [_tokens(item) for item in report.task_results]
    names = dict.fromkeys(name for each in used for name in each)
    return {name: sum(each.get(name, 0) for each in used) for name in names} | {"numRequests": len(used)}


def _all_tokens(reports: Sequence[SkillCompletionReport]) -> dict[str, int]:
    """The tokens of all skills, of which the format leaves none out."""
    found = [_known_tokens(report) for report in reports]
    return {name: sum(each.get(name, 0) for each in found) for name in ("prompt", "completion", "total", "cached", "numRequests")}
