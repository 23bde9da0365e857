"""Latency, cost, tokens, steps, partial scores and errors of the shared tasks, each with a paired test of its own.

No other change of these figures is called good or bad: a P95, for one, moves by chance. Their p values are one family for Holm's
procedure, over all figures of all skills that are compared together, apart from the verdicts' family: what a run costs takes no
power from the verdict on completion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from eval_skills.core.diff.model import DiffRow, Metric, ReportDiff, SkillDiff
from eval_skills.core.diff.tasks import TaskPairs
from eval_skills.core.models import TaskResult
from eval_skills.core.models.report import is_missing
from eval_skills.core.models.result import ERROR_STATUSES
from eval_skills.core.statistics.paired import holm, sign_flip_test
from eval_skills.core.statistics.rates import FloatArray


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of one run, None where it is not known; compared by its ratio, else by its difference.

    `may_be_nothing`: whether a zero means none, as of a cost; a latency of zero is one that no clock saw.
    """

    metric: Metric
    value: Callable[[TaskResult], float | None]
    by_ratio: bool
    more_is_good: bool = False
    may_be_nothing: bool = True


def latency_of(run: TaskResult) -> float | None:
    """In ms; how long it took until a skill could not be reached says nothing about the skill."""
    return None if run.error_kind == "infra" else run.latency_ms


def _score(run: TaskResult) -> float | None:
    return None if is_missing(run) else run.score or 0.0


_SAME = 1e-12
ERRORS = Measure("errorRate", lambda run: float(run.status in ERROR_STATUSES), by_ratio=False)
MEASURES = (
    Measure("latencyMs", latency_of, by_ratio=True, may_be_nothing=False),
    Measure("costUsd", lambda run: run.cost_usd, by_ratio=True),
    Measure("tokens", lambda run: run.tokens, by_ratio=True),
    Measure("steps", lambda run: run.steps, by_ratio=True),
    Measure("partialScore", _score, by_ratio=False, more_is_good=True),
)


def measured_rows(tasks: TaskPairs, seed: int) -> list[DiffRow]:
    """A row for each figure that is known of a task on both sides; partial scores only where one is neither 0 nor 1.

    `before` and `after` are means over the tasks of each task's mean, geometric where the ratio is compared. There tasks that are
    zero on both sides are left out, and the signs of the tasks' log ratios are flipped; else those of their differences. Where a
    task took nothing on one side and something on the other, the difference is compared, since there is no ratio.
    """
    return [row for measure in MEASURES if (row := _row(measure, tasks, seed))]


def errors_p(tasks: TaskPairs, seed: int) -> float | None:
    """The p of the change of the error rate over the shared tasks; None without any."""
    row = _row(ERRORS, tasks, seed)
    return row.p_value if row else None


def adjusted_measures(diffs: Sequence[ReportDiff]) -> list[ReportDiff]:
    """The same, with the p values of all rows adjusted together, and `significant` where that allows to speak of a change.

    The row of the completion rate follows the verdict.
    """
    rows = [row for diff in diffs for skill in diff.skills for row in skill.rows if row.p_value is not None]
    adjusted = iter(holm([row.p_value for row in rows if row.p_value is not None]))

    def marked(skill: SkillDiff, significance: float) -> SkillDiff:
        return skill.model_copy(update={"rows": [_tested(row, skill, adjusted, significance) for row in skill.rows]})

    return [diff.model_copy(update={"skills": [marked(skill, diff.significance) for skill in diff.skills]}) for diff in diffs]


def _tested(row: DiffRow, skill: SkillDiff, adjusted: Iterator[float], significance: float) -> DiffRow:
    if row.metric == "completionRate" and skill.statistics:
        agrees = row.good is not None and skill.verdict == ("better" if row.good else "worse")
        return row.model_copy(update={"adjusted_p": skill.statistics.adjusted_p, "significant": agrees})
    if row.p_value is None:
        return row
    p_value = next(adjusted)
    return row.model_copy(update={"adjusted_p": p_value, "significant": bool(row.arrow) and p_value <= significance})


def _row(measure: Measure, tasks: TaskPairs, seed: int) -> DiffRow | None:
    before, after = (_means(side, measure) for side in (tasks.before, tasks.after))
    known = ~np.isnan(before + after)
    before, after = before[known], after[known]
    both = (before > 0) & (after > 0)
    one_alone = bool(((before > 0) != (after > 0)).any())
    if by_ratio := measure.by_ratio and not (one_alone and measure.may_be_nothing):
        before, after = np.log(before[both]), np.log(after[both])
    if not len(before) or (measure.metric == "partialScore" and not _partial(tasks)):
        return None
    differences = after - before
    moved = float(differences.mean())
    p_value = sign_flip_test(differences, seed=seed)
    ends = [float(np.exp(side.mean()) if by_ratio else side.mean()) for side in (before, after)]
    return DiffRow(
        metric=measure.metric,
        before=ends[0],
        after=ends[1],
        delta=ends[1] - ends[0],
        ratio=float(np.exp(moved)) if by_ratio else None,
        arrow="" if abs(moved) <= _SAME else "↑" if moved > 0 else "↓",
        good=None if abs(moved) <= _SAME else (moved > 0) == measure.more_is_good,
        p_value=p_value,
    )


def _means(side: Sequence[Sequence[TaskResult]], measure: Measure) -> FloatArray:
    """By task the mean of what is known; NaN where nothing is."""
    known = ([value for run in runs if (value := measure.value(run)) is not None] for runs in side)
    return np.array([fmean(values) if values else np.nan for values in known], dtype=np.float64)


def _partial(tasks: TaskPairs) -> bool:
    runs = (run for side in (tasks.before, tasks.after) for runs in side for run in runs)
    return any(run.score not in {None, 0.0, 1.0} for run in runs)
