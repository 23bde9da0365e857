"""Figures of a report that its own items, or its own counts, contradict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from eval_skills.core.diff.measures import latency_of
from eval_skills.core.errors import InputError
from eval_skills.core.models import ConfidenceInterval, SkillCompletionReport, StatusCounts, Summary, TaskResult
from eval_skills.core.models.report import is_missing
from eval_skills.core.models.result import FORBIDDEN_TOOL_CALLED
from eval_skills.core.statistics.rates import (
    OUR_METHODS,
    completion_interval,
    composite_score,
    mean_over_tasks,
    nearest_rank,
    pass_at_k,
    pass_hat_k,
)


def refuse_contradictions(report: SkillCompletionReport) -> None:
    """Refuse a report that says of its items what they do not say, or has one of them twice.

    Raises:
        InputError: with the place in the report, what it says, and what follows from the items or counts.
    """
    _check_items(report)
    _check_figures(report)


def _check_items(report: SkillCompletionReport) -> None:
    first: dict[tuple[str, int], int] = {}
    for place, item in enumerate(report.task_results):
        if item.passed != (item.status == "pass"):
            said = f"status is {item.status!r} and passed {str(item.passed).lower()}; only items with the status 'pass' passed"
            raise InputError(said, path=f"taskResults[{place}]")
        if (other := first.setdefault((item.task_id, item.run_index), place)) != place:
            said = f"run {item.run_index} of task {item.task_id!r} is there twice: taskResults[{other}] is it, too"
            raise InputError(said, path=f"taskResults[{place}]")


_ROUNDED = 5e-4
"""Figures may be rounded to three digits, as other programs may have written them; we write them whole."""


def _check_figures(report: SkillCompletionReport) -> None:
    """Refuse figures that do not follow from the items, or, where there are none, from the counts.

    Only those that no weight of a task is in; what the report does not say is not asked for. Other programs have percentiles,
    consistency and composites of their own definitions: those of their reports are taken as they are.
    """
    summary, items = report.summary, report.task_results
    said, source = summary.counts, "its counts"
    if items:
        said, source = _counts_of(items), "its items"
    if said is None:
        return
    total = said.passed + said.fail + said.error + said.timeout
    missing = sum(map(is_missing, items)) if items else summary.missing_items
    _check_counts(summary, said, source, {"items": total, **_item_counts(items)})
    _check_rate("completionRate", summary.completion_rate, said.passed, total, source)
    _check_rate("errorRate", summary.error_rate, said.error + said.timeout, total, source)
    if missing is not None:
        _check_rate("judgedCompletionRate", summary.judged_completion_rate, said.passed, total - missing, source)
        _check_rate("completionUpperBound", summary.completion_upper_bound, said.passed + missing, total, source)
    if summary.confidence_interval.method not in OUR_METHODS:
        _check_holds_its_rate(summary)
        return
    if items:
        _check_tasks(report)
        _check_latency(report)
        _check_sums(report)
    if total:
        _check_composite(report, said.passed / total, (said.error + said.timeout) / total)


def _check_holds_its_rate(summary: Summary) -> None:
    given = summary.confidence_interval
    if not given.lower - _ROUNDED <= summary.completion_rate <= given.upper + _ROUNDED:
        limits = f"it is {given.lower:.4f} to {given.upper:.4f}, and does not hold the completion rate"
        raise InputError(f"{limits}, {summary.completion_rate:.4f}", path="summary.confidenceInterval")


def _counts_of(items: Sequence[TaskResult]) -> StatusCounts:
    found = Counter(item.status for item in items)
    return StatusCounts(passed=found["pass"], fail=found["fail"], error=found["error"], timeout=found["timeout"])


def _item_counts(items: Sequence[TaskResult]) -> dict[str, int]:
    if not items:
        return {}
    forbidden = sum(any(reason.code == FORBIDDEN_TOOL_CALLED for reason in item.reasons) for item in items)
    tasks, missing = len({item.task_id for item in items}), sum(map(is_missing, items))
    return {"tasks": tasks, "missingItems": missing, "forbiddenItems": forbidden}


def _check_counts(summary: Summary, counts: StatusCounts, source: str, figures: Mapping[str, int]) -> None:
    given, known = summary.to_json(), counts.to_json()
    own = given.get("counts") or {}
    pairs = {f"counts.{name}": (own.get(name), number) for name, number in known.items()}
    pairs |= {name: (given.get(name), number) for name, number in figures.items()}
    for name, (number, follows) in pairs.items():
        if number is not None and number != follows:
            raise InputError(f"it says {number:,}, but {source} give {follows:,}", path=f"summary.{name}")


def _check_rate(name: str, given: float | None, part: int, whole: int, source: str) -> None:
    if given is None or (whole > 0 and abs(given - part / whole) <= _ROUNDED):
        return
    if whole == part == 0 and given == 0:
        return  # a report of nothing
    follows = f"{part / whole:.4f} ({part:,} of {whole:,})" if whole > 0 else "none: no item has a verdict"
    raise InputError(f"it says {given:.4f}, but {source} give {follows}", path=f"summary.{name}")


def _check_figure(path: str, given: float | None, follows: float | None, source: str = "its items", slack: float = 1) -> None:
    if given is None or (follows is not None and abs(given - follows) <= _ROUNDED * slack * max(1.0, abs(follows))):
        return
    found = "none" if follows is None else f"{follows:.4f}"
    raise InputError(f"it says {given:.4f}, but {source} give {found}", path=path)


def _check_tasks(report: SkillCompletionReport) -> None:
    """The interval, and what the runs of a task have to do with each other."""
    summary, tasks, runs = report.summary, dict[str, list[int]](), dict[int, list[bool]]()
    for item in report.task_results:
        counted = tasks.setdefault(item.task_id, [0, 0, 0])
        for place, number in enumerate((item.passed, True, is_missing(item))):
            counted[place] += number
        runs.setdefault(item.run_index, []).append(item.passed)
    passed, items, missing = np.array(list(tasks.values()), dtype=np.int64).T
    _check_interval(summary, completion_interval(passed, items, level=summary.confidence_interval.level))
    judged = items - missing
    repeated = judged >= 2
    mixed = ((passed > 0) & (passed < judged))[repeated]
    _check_figure("summary.flakeRate", summary.flake_rate, float(mixed.mean()) if len(mixed) else None)
    consistency = max(0.0, 1 - float(np.std([np.mean(each) for each in runs.values()])))  # of a single run, others may say 1
    _check_figure("summary.consistencyScore", summary.consistency_score, consistency)
    if isinstance(k := report.evaluator_metadata.get("k"), int) and k > 0:
        _check_figure("summary.passAtK", summary.pass_at_k, mean_over_tasks(pass_at_k, passed, items, k))
        _check_figure("summary.passHatK", summary.pass_hat_k, mean_over_tasks(pass_hat_k, passed, items, k))


def _check_interval(summary: Summary, follows: ConfidenceInterval) -> None:
    """Limits that another method made can only be seen to hold the rate."""
    given = summary.confidence_interval
    if given.method != follows.method:
        _check_holds_its_rate(summary)
        return
    _check_figure("summary.confidenceInterval.lower", given.lower, follows.lower)
    _check_figure("summary.confidenceInterval.upper", given.upper, follows.upper)


def _check_latency(report: SkillCompletionReport) -> None:
    known = sorted(found for item in report.task_results if (found := latency_of(item)) is not None)
    for percent, given in ((50, report.latency.p50_ms), (95, report.latency.p95_ms), (99, report.latency.p99_ms)):
        _check_figure(f"latency.p{percent}Ms", given, nearest_rank(known, percent))
    _check_figure("latency.meanMs", report.latency.mean_ms, math.fsum(known) / len(known) if known else None)


def _check_sums(report: SkillCompletionReport) -> None:
    """Sums of what not a single item knows are not made of theirs."""
    items, cost = report.task_results, report.token_cost
    sums: dict[str, tuple[float | None, list[float | None]]] = {
        "promptTokens": (cost.prompt_tokens, [item.prompt_tokens for item in items]),
        "completionTokens": (cost.completion_tokens, [item.completion_tokens for item in items]),
        "estimatedUSD": (cost.estimated_usd, [item.cost_usd for item in items]),
    }
    for name, (given, amounts) in sums.items():
        if known := [amount for amount in amounts if amount is not None]:
            _check_figure(f"tokenCost.{name}", given, math.fsum(known))


def _check_composite(report: SkillCompletionReport, completion_rate: float, error_rate: float) -> None:
    """It takes the P95 that the report says, which may be rounded itself."""
    slowest_ms = report.evaluator_metadata.get("maxLatencyMs")
    if not isinstance(slowest_ms, int | float) or isinstance(slowest_ms, bool) or slowest_ms <= 0:
        return  # what scales the latency is not known
    follows = composite_score(completion_rate, error_rate, report.latency.p95_ms, slowest_ms)
    _check_figure("summary.compositeScore", report.summary.composite_score, follows, "its rates and its P95", slack=2)
