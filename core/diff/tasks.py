"""The tasks that two reports share, and what pairing them says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval_skills.core.diff.model import DifferenceInterval, Flip, FlipSide, MissingItems, PairedStatistics
from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.statistics.paired import (
    EXACT_LIMIT,
    MeanDifference,
    correlation,
    mean_difference,
    p_floor,
    paired_t_p,
    sign_flip_test,
    sign_test,
    smallest_effect,
    tasks_needed,
)
from eval_skills.core.statistics.rates import FloatArray

MISSING_KINDS = frozenset({"infra", "scorer", "judge"})
"""Error kinds that leave open whether the skill would have passed."""

_SAME = 1e-12
Runs = list[TaskResult]


@dataclass(frozen=True, slots=True)
class TaskPairs:
    """The runs of every shared task on both sides, by task id; and the ids of the tasks that only one side has."""

    tasks: list[str]
    before: list[Runs]
    after: list[Runs]
    only_before: list[str]
    only_after: list[str]

    def differences(self) -> FloatArray:
        """Per task the completion rate after − before, where an item without a verdict did not pass."""
        return _rates(self.after) - _rates(self.before)

    def statistics(self, *, margin: float, significance: float, seed: int) -> PairedStatistics | None:
        """Everything the pairs say, before the p is adjusted for other skills; None without a shared task."""
        if not self.tasks:
            return None
        differences = self.differences()
        better, worse = int((differences > _SAME).sum()), int((differences < -_SAME).sum())
        deviation = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
        p_value = sign_flip_test(differences, seed=seed)
        return PairedStatistics(
            tasks=len(self.tasks),
            tasks_better=better,
            tasks_worse=worse,
            mean_difference=float(differences.mean()),
            interval=_interval(mean_difference(differences, level=1 - significance)),
            equivalence_interval=_interval(mean_difference(differences, level=1 - 2 * significance)),
            equivalence_margin=margin,
            correlation=correlation(_rates(self.before), _rates(self.after)),
            test="sign_flip_exact" if better + worse <= EXACT_LIMIT else "sign_flip_drawn",
            seed=seed,
            p_value=p_value,
            adjusted_p=p_value,
            sign_test_p=sign_test(better, worse),
            t_test_p=paired_t_p(differences),
            p_floor=p_floor(better + worse),
            smallest_effect=smallest_effect(deviation, len(differences)),
            tasks_needed=tasks_needed(deviation, margin),
            missing=self._missing(),
        )

    def flips(self) -> list[Flip]:
        """The tasks whose completion rate moved, each with a run of both sides that shows it."""
        return [
            _flip(task, before, after)
            for task, before, after, difference in zip(self.tasks, self.before, self.after, self.differences(), strict=True)
            if abs(difference) > _SAME
        ]

    def _missing(self) -> MissingItems | None:
        before, after = _missing_shares(self.before), _missing_shares(self.after)
        counts = [sum(is_missing(run) for runs in side for run in runs) for side in (self.before, self.after)]
        if not any(counts):
            return None
        mean = float(self.differences().mean())
        lower, upper = mean - float(before.mean()), mean + float(after.mean())
        return MissingItems(before=counts[0], after=counts[1], lower=lower, upper=upper)


def pair_tasks(before: SkillCompletionReport, after: SkillCompletionReport) -> TaskPairs:
    """The items of both reports by task.

    Raises:
        InputError: a report holds one run of a task twice.
    """
    olds, news = _by_task(before), _by_task(after)
    shared = sorted(olds.keys() & news.keys())
    return TaskPairs(
        tasks=shared,
        before=[olds[task] for task in shared],
        after=[news[task] for task in shared],
        only_before=sorted(olds.keys() - news.keys()),
        only_after=sorted(news.keys() - olds.keys()),
    )


def _by_task(report: SkillCompletionReport) -> dict[str, Runs]:
    by_task: dict[str, Runs] = {}
    for result in sorted(report.task_results, key=lambda result: (result.task_id, result.run_index)):
        runs = by_task.setdefault(result.task_id, [])
        if runs and runs[-1].run_index == result.run_index:
            raise InputError(f"the report of {report.skill_key} holds {result.task_id}#{result.run_index + 1} twice")
        runs.append(result)
    return by_task


def _rates(side: Sequence[Runs]) -> FloatArray:
    return np.array([sum(run.passed for run in runs) / len(runs) for runs in side], dtype=np.float64)


def _missing_shares(side: Sequence[Runs]) -> FloatArray:
    return np.array([sum(is_missing(run) for run in runs) / len(runs) for runs in side], dtype=np.float64)


def is_missing(run: TaskResult) -> bool:
    """Whether it is open if the skill would have passed."""
    return run.status == "error" and run.error_kind in MISSING_KINDS


def _interval(mean: MeanDifference) -> DifferenceInterval:
    return DifferenceInterval(lower=mean.lower, upper=mean.upper, level=mean.level, method=mean.method)


def _flip(task_id: str, before: Runs, after: Runs) -> Flip:
    got_better = _rate(after) > _rate(before)
    return Flip(
        task_id=task_id,
        change="better" if got_better else "worse",
        before=_flip_side(before, passed=not got_better),
        after=_flip_side(after, passed=got_better),
    )


def _rate(runs: Runs) -> float:
    return sum(run.passed for run in runs) / len(runs)


def _flip_side(runs: Runs, *, passed: bool) -> FlipSide:
    shown = next(run for run in runs if run.passed == passed)
    return FlipSide(
        completion_rate=_rate(runs), run_index=shown.run_index, status=shown.status, output=shown.output, reasons=shown.reasons
    )
