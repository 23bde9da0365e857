"""The tasks that two reports share, and what pairing them says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from eval_skills.core.diff.model import AtBound, DifferenceInterval, Flip, FlipSide, MissingItems, NewlyFailing, PairedStatistics
from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.report import is_missing
from eval_skills.core.statistics.newly_failing import newly_failing_tasks
from eval_skills.core.statistics.paired import (
    MeanDifference,
    Spread,
    correlation,
    is_exact,
    mean_difference,
    p_floor,
    paired_t_p,
    proving_interval,
    sign_flip_test,
    sign_test,
    smallest_effect,
    tasks_needed,
)
from eval_skills.core.statistics.rates import FloatArray, IntArray
from eval_skills.core.statistics.runs import fewer_passes_p
from eval_skills.core.text import natural_order

_SAME = 1e-12
Runs = list[TaskResult]


@dataclass(frozen=True, slots=True)
class TaskPairs:
    """The runs of every shared task on both sides, by task id; and the ids of the tasks that cannot be paired.

    Those that only one side has, those that are another question under the same id (`changed`), and those whose answers are
    judged otherwise (`judged_otherwise`): by another scorer, another version of its code, another model, or other settings.
    `missing_of_otherwise` are how many items of these have no verdict on the skill, before and after. `without_items` are the
    sides (``before``, ``after``) that hold figures only: which tasks they share with the other is not known.
    """

    tasks: list[str]
    before: list[Runs]
    after: list[Runs]
    only_before: list[str]
    only_after: list[str]
    changed: list[str]
    judged_otherwise: list[str] = field(default_factory=list)
    missing_of_otherwise: tuple[int, int] = (0, 0)
    without_items: tuple[str, ...] = ()

    @property
    def sides(self) -> tuple[list[Runs], list[Runs]]:
        """The runs before and after."""
        return self.before, self.after

    @property
    def apart(self) -> bool:
        """Whether a side holds tasks that are not compared."""
        return bool(self.only_before or self.only_after or self.changed or self.judged_otherwise)

    def missing(self) -> tuple[int, int]:
        """How many items of the shared tasks have no verdict on the skill, before and after."""
        return _missing(self.before), _missing(self.after)

    def judges_alone(self) -> bool:
        """Whether these items have answers, and only judges failed on them."""
        missing = [run for side in self.sides for runs in side for run in runs if is_missing(run)]
        return bool(missing) and all(run.error_kind == "judge" for run in missing)

    def statistics(self, *, margin: float, significance: float, seed: int) -> PairedStatistics | None:
        """Everything the pairs say, before the p is adjusted for other skills.

        None where no task has an item with a verdict on both sides.
        """
        before, after = _rates(self.before), _rates(self.after)
        known = ~np.isnan(before + after)
        before, after = before[known], after[known]
        if not known.any():
            return None
        differences = after - before
        better, worse = int((differences > _SAME).sum()), int((differences < -_SAME).sum())
        spread = self._spread(before, after)
        p_value = sign_flip_test(differences, seed=seed)
        return PairedStatistics(
            tasks=len(differences),
            tasks_better=better,
            tasks_worse=worse,
            mean_difference=float(differences.mean()),
            interval=_interval(mean_difference(differences, level=1 - significance)),
            equivalence_interval=_interval(proving_interval(differences, level=1 - 2 * significance)),
            equivalence_margin=margin,
            correlation=correlation(before, after),
            test="sign_flip_exact" if is_exact(differences) else "sign_flip_drawn",
            seed=seed,
            p_value=p_value,
            adjusted_p=p_value,
            sign_test_p=sign_test(better, worse),
            t_test_p=paired_t_p(differences),
            p_floor=p_floor(better + worse),
            smallest_effect=smallest_effect(spread, len(differences), significance=significance),
            tasks_needed=tasks_needed(spread, margin, significance=significance),
            spread=spread,
            fewer_passes_p=fewer_passes_p(*(_counts(list(map(_judged, side))) for side in self.sides)),
            missing=self._at_bounds(significance, seed),
        )

    def differences(self) -> dict[str, float]:
        """By task the difference of the completion rates, after − before, of the items with a verdict; without unknown ones."""
        found = zip(self.tasks, (_rates(self.after) - _rates(self.before)).tolist(), strict=True)
        return {task: difference for task, difference in found if not math.isnan(difference)}

    def without_verdict(self) -> list[str]:
        """The shared tasks of which a side has no item with a verdict on the skill."""
        known = self.differences()
        return [task for task in self.tasks if task not in known]

    def _spread(self, before: FloatArray, after: FloatArray) -> Spread:
        deviation = float((after - before).std(ddof=1)) if len(after) > 1 else 0.0
        runs = sum(len(_judged(runs)) for side in self.sides for runs in side)
        return Spread(deviation=deviation, rate=float((before + after).mean() / 2), runs=runs / (2 * len(after)))

    def newly_failing(self) -> NewlyFailing:
        """The tasks that were lost in every run, of those whose items all have a verdict."""
        whole = [index for index in range(len(self.tasks)) if not any(map(is_missing, self.before[index] + self.after[index]))]
        found = newly_failing_tasks(*(_counts([side[index] for index in whole]) for side in self.sides))
        tasks = [self.tasks[whole[index]] for index in found.tasks]
        return NewlyFailing(tasks=tasks, chance=found.chance, floor=found.floor)

    def flips(self) -> list[Flip]:
        """The tasks whose completion rate moved, as far as there are verdicts, each with a run of both sides that shows it."""
        return [
            _flip(task, before, after)
            for task, before, after in zip(self.tasks, map(_judged, self.before), map(_judged, self.after), strict=True)
            if before and after and abs(_rate(after) - _rate(before)) > _SAME
        ]

    def _at_bounds(self, significance: float, seed: int) -> MissingItems | None:
        """What remains true however the missing items would have gone; None where there are none.

        The bounds assume nothing of why an item is missing. Source: Manski 1989, "Anatomy of the selection problem".
        """
        before, after = self.missing()
        if not before + after:
            return None
        lower = _rates(self.after, missing=0.0) - _rates(self.before, missing=1.0)
        upper = _rates(self.after, missing=1.0) - _rates(self.before, missing=0.0)
        return MissingItems(
            before=before,
            after=after,
            lower=float(lower.mean()),
            upper=float(upper.mean()),
            at_lower=_at_bound(lower, significance, seed),
            at_upper=_at_bound(upper, significance, seed),
            judges_alone=self.judges_alone(),
        )


def pair_tasks(before: SkillCompletionReport, after: SkillCompletionReport) -> TaskPairs:
    """The items of both reports by task: by its id, and by its digests where both sides know them.

    Raises:
        InputError: a report holds one run of a task twice.
    """
    sides = {"before": before, "after": after}
    without = tuple(side for side, report in sides.items() if report.summary.items and not report.task_results)
    olds, news = ({}, {}) if without else (_by_task(before), _by_task(after))
    both = sorted(olds.keys() & news.keys())
    changed = [task for task in both if _differ(olds[task], news[task], "task_digest")]
    judged_otherwise = [task for task in both if _differ(olds[task], news[task], "scoring_digest") and task not in set(changed)]
    shared = [task for task in both if task not in {*changed, *judged_otherwise}]
    then, now = (_missing(side[task] for task in judged_otherwise) for side in (olds, news))
    return TaskPairs(
        tasks=shared,
        before=[olds[task] for task in shared],
        after=[news[task] for task in shared],
        only_before=sorted(olds.keys() - news.keys(), key=natural_order),
        only_after=sorted(news.keys() - olds.keys(), key=natural_order),
        changed=changed,
        judged_otherwise=judged_otherwise,
        missing_of_otherwise=(then, now),
        without_items=without,
    )


def _missing(side: Iterable[Runs]) -> int:
    return sum(is_missing(run) for runs in side for run in runs)


def _differ(before: Runs, after: Runs, digest: Literal["task_digest", "scoring_digest"]) -> bool:
    """Whether both sides know this digest, and have another one; reports of earlier versions do not."""
    then, now = ({getattr(run, digest) for run in runs} for runs in (before, after))
    return None not in then | now and then != now


def _by_task(report: SkillCompletionReport) -> dict[str, Runs]:
    by_task: dict[str, Runs] = {}
    for result in sorted(report.task_results, key=lambda result: (result.task_id, result.run_index)):
        runs = by_task.setdefault(result.task_id, [])
        if runs and runs[-1].run_index == result.run_index:
            raise InputError(f"the report of {report.skill_key} holds {result.name} twice")
        runs.append(result)
    return by_task


def _counts(side: Sequence[Runs]) -> tuple[IntArray, IntArray]:
    """Per task how many runs passed, and how many there are."""
    passed = np.array([sum(run.passed for run in runs) for runs in side], dtype=np.int64)
    return passed, np.array([len(runs) for runs in side], dtype=np.int64)


def _rates(side: Sequence[Runs], *, missing: float | None = None) -> FloatArray:
    """Per task the share of passed runs; of its runs with a verdict (NaN without one), or with each missing one as `missing`."""
    return np.array([_rate(_judged(runs)) if missing is None else _imputed(runs, missing) for runs in side], dtype=np.float64)


def _imputed(runs: Runs, missing: float) -> float:
    return sum(missing if is_missing(run) else run.passed for run in runs) / len(runs)


def _judged(runs: Runs) -> Runs:
    return [run for run in runs if not is_missing(run)]


def _rate(runs: Runs) -> float:
    return sum(run.passed for run in runs) / len(runs) if runs else float("nan")


def _at_bound(differences: FloatArray, significance: float, seed: int) -> AtBound:
    p_value = sign_flip_test(differences, seed=seed)
    interval = _interval(proving_interval(differences, level=1 - 2 * significance))
    return AtBound(p_value=p_value, adjusted_p=p_value, equivalence_interval=interval)


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


def _flip_side(runs: Runs, *, passed: bool) -> FlipSide:
    shown = next(run for run in runs if run.passed == passed)
    return FlipSide(
        completion_rate=_rate(runs),
        run_index=shown.run_index,
        runs=len(runs),
        status=shown.status,
        output=shown.output,
        reasons=shown.reasons,
    )
