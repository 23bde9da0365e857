"""The figures of one arm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, median

import numpy as np

from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.report import ConfidenceInterval, is_missing
from eval_skills.core.skill_effect.model import Arm, ArmFigures
from eval_skills.core.statistics.rates import completion_interval

_UNANSWERED = frozenset({"skill", "contract", "timeout"})
"""Error kinds of items that the agent did not answer, which count as not passed."""


def figures_of(arm: Arm, report: SkillCompletionReport) -> ArmFigures:
    """The figures of an arm, by the items of its report.

    Raises:
        InputError: the report holds no items.
    """
    items = report.task_results
    if not items:
        raise InputError(f"the report of {report.skill_key} holds figures only, and an effect is computed from items")
    rate, interval = _completion(items)
    loads = [item.skills_loaded for item in items if item.skills_loaded is not None]
    runs = [len(found) for _, found in by_task(items)]
    return ArmFigures(
        arm=arm,
        skill_key=report.skill_key,
        items=len(items),
        tasks=len(runs),
        runs=max(runs),
        fewest_runs=min(runs),
        completion_rate=rate,
        interval=interval,
        missing_items=sum(is_missing(item) for item in items),
        unanswered_items=sum(is_unanswered(item) for item in items),
        loaded=sum(bool(load) for load in loads),
        known_loads=len(loads),
        silent_items=sum(item.skills_loaded is None and not is_missing(item) and not is_unanswered(item) for item in items),
        tokens=_mean(item.tokens for item in items),
        cost_usd=_mean(item.cost_usd for item in items),
        judge_cost_usd=report.token_cost.judge_cost_usd,
        latency_ms=median(times) if (times := _known(item.latency_ms for item in items)) else None,
        steps=_mean(None if item.steps is None else float(item.steps) for item in items),
    )


def _completion(items: Sequence[TaskResult]) -> tuple[float | None, ConfidenceInterval | None]:
    """The completion rate of the items with a verdict, and its interval."""
    judged = [runs for _, runs in by_task(item for item in items if not is_missing(item))]
    if not judged:
        return None, None
    passed = np.array([sum(run.passed for run in runs) for runs in judged], dtype=np.int64)
    counts = np.array([len(runs) for runs in judged], dtype=np.int64)
    return float(passed.sum() / counts.sum()), completion_interval(passed, counts)


def is_unanswered(item: TaskResult) -> bool:
    """Whether the agent was asked and gave no answer; `infra` errors, and those of judges, do not count as that."""
    return item.status == "timeout" or (item.status == "error" and item.error_kind in _UNANSWERED)


def _mean(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return fmean(known) if known else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def task_rates(report: SkillCompletionReport) -> Iterator[tuple[str, float | None]]:
    """Each task with the share of its runs that passed, of those that have a verdict; None where none has."""
    for task, items in by_task(report.task_results):
        judged = [item.passed for item in items if not is_missing(item)]
        yield task, fmean(judged) if judged else None


def by_task(items: Iterable[TaskResult]) -> Iterable[tuple[str, list[TaskResult]]]:
    """The items of each task, tasks and items in their order."""
    found: dict[str, list[TaskResult]] = {}
    for item in items:
        found.setdefault(item.task_id, []).append(item)
    return found.items()
