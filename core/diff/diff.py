"""What changed between two evaluations, whether it is more than chance, and whether it passes a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from eval_skills.core.diff.model import DifferenceInterval, DiffRow, Judgement, Metric, PairedStatistics, ReportDiff, SkillDiff
from eval_skills.core.diff.pairing import ReportPair, pair_reports
from eval_skills.core.diff.tasks import TaskPairs, pair_tasks
from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.statistics.paired import holm
from eval_skills.core.statistics.rates import DEFAULT_SEED

SIGNIFICANCE = 0.05
EQUIVALENCE_MARGIN = 0.05
_MORE_IS_GOOD: dict[Metric, bool] = {"completionRate": True, "errorRate": False, "p95Ms": False, "compositeScore": True}
_ROUNDING = 1e-12


def diff_reports(
    before: Sequence[SkillCompletionReport],
    after: Sequence[SkillCompletionReport],
    *,
    mapping: Mapping[str, str] | None = None,
    significance: float = SIGNIFICANCE,
    equivalence_margin: float = EQUIVALENCE_MARGIN,
    min_effect: float = 0.0,
    seed: int = DEFAULT_SEED,
) -> ReportDiff:
    """Two evaluations skill by skill: figures side by side, and a verdict from the tasks that both sides ran.

    The task is the unit: a task's runs are averaged, and the differences of the tasks are tested by flipping their signs; Holm's
    procedure adjusts the p values for the number of skills. See `pair_reports` for which reports belong together and for
    `mapping`, and `judge` for the verdict. `equivalence_margin` is the largest mean difference that still counts as none;
    `min_effect` the smallest one, in [0, 1], that counts as better or worse.

    Raises:
        UsageError: `significance` is not between 0 and 0.5, `equivalence_margin` not between 0 and 1, `min_effect` not from 0 to
            1, or `mapping` is wrong.
        InputError: a side holds a report, or an item, twice.
    """
    _refuse_nonsense(significance, equivalence_margin, min_effect)
    pairs = pair_reports(before, after, mapping or {})
    tasks = [pair_tasks(pair.before, pair.after) if pair.before and pair.after else None for pair in pairs]
    statistics = _adjusted(
        [
            None if shared is None else shared.statistics(margin=equivalence_margin, significance=significance, seed=seed)
            for shared in tasks
        ]
    )
    return ReportDiff(
        skills=[_skill_diff(*parts, significance, min_effect) for parts in zip(pairs, tasks, statistics, strict=True)],
        significance=significance,
        equivalence_margin=equivalence_margin,
        min_effect=min_effect,
    )


def _refuse_nonsense(significance: float, equivalence_margin: float, min_effect: float) -> None:
    if not 0 < significance < 0.5:
        raise UsageError(f"the significance must lie between 0 and 0.5; got {significance}")
    if not 0 < equivalence_margin < 1:
        raise UsageError(f"the equivalence margin must lie between 0 and 1; got {equivalence_margin}")
    if not 0 <= min_effect <= 1:
        raise UsageError(f"the smallest effect that counts must lie between 0 and 1; got {min_effect}")


def _adjusted(statistics: list[PairedStatistics | None]) -> list[PairedStatistics | None]:
    p_values = iter(holm([tested.p_value for tested in statistics if tested is not None]))
    return [tested and tested.model_copy(update={"adjusted_p": next(p_values)}) for tested in statistics]


def _skill_diff(
    pair: ReportPair, tasks: TaskPairs | None, statistics: PairedStatistics | None, significance: float, min_effect: float
) -> SkillDiff:
    shown = pair.after or pair.before
    assert shown is not None
    verdict, explanation = (None, "") if tasks is None else judge(statistics, significance, min_effect)
    return SkillDiff(
        skill_id=shown.skill_id,
        skill_version=shown.skill_version,
        benchmark_id=shown.benchmark_id,
        before_skill_id=pair.before.skill_id if pair.before else None,
        before_version=pair.before.skill_version if pair.before else None,
        change="compared" if tasks is not None else "added" if pair.before is None else "removed",
        rows=[_row(metric, pair) for metric in _MORE_IS_GOOD],
        verdict=verdict,
        explanation=explanation,
        statistics=statistics,
        flips=tasks.flips() if tasks else [],
        tasks_only_before=tasks.only_before if tasks else [],
        tasks_only_after=tasks.only_after if tasks else [],
    )


def _row(metric: Metric, pair: ReportPair) -> DiffRow:
    before, after = (_figure(report, metric) if report else None for report in (pair.before, pair.after))
    delta = None if before is None or after is None else after - before
    if delta is None or abs(delta) <= _ROUNDING:
        return DiffRow(metric=metric, before=before, after=after, delta=None if delta is None else 0.0, arrow="", good=None)
    return DiffRow(
        metric=metric,
        before=before,
        after=after,
        delta=delta,
        arrow="↑" if delta > 0 else "↓",
        good=(delta > 0) == _MORE_IS_GOOD[metric],
    )


def _figure(report: SkillCompletionReport, metric: Metric) -> float | None:
    figures: dict[Metric, float | None] = {
        "completionRate": report.summary.completion_rate,
        "errorRate": report.summary.error_rate,
        "p95Ms": report.latency.p95_ms,
        "compositeScore": report.summary.composite_score,
    }
    return figures[metric]


def judge(statistics: PairedStatistics | None, significance: float, min_effect: float = 0.0) -> tuple[Judgement, str]:
    """The verdict and its explanation, by the first rule that holds.

    No shared task: ``inconclusive``. Adjusted p ≤ `significance` and a mean difference of at least `min_effect` (in [0, 1]):
    ``better`` or ``worse``, by the sign of the mean difference. The equivalence interval lies inside ± the margin: ``equivalent``
    (two one-sided tests). Else ``inconclusive``, which says what this sample could have shown at all; it never means that nothing
    changed.
    """
    if statistics is None:
        return "inconclusive", "cannot decide: no task was recorded on both sides"
    decided = statistics.adjusted_p <= significance and bool(statistics.mean_difference)
    if decided and abs(statistics.mean_difference) >= min_effect - _ROUNDING:
        return ("better" if statistics.mean_difference > 0 else "worse"), _moved(statistics)
    interval, margin = statistics.equivalence_interval, statistics.equivalence_margin
    if -margin < interval.lower and interval.upper < margin:
        return "equivalent", f"the mean difference lies within ±{margin:g}: {_shown(interval)} over {statistics.tasks} tasks"
    if decided:
        return "inconclusive", f"smaller than the least effect that counts, {min_effect:g}: {_moved(statistics)}"
    return "inconclusive", _undecided(statistics, significance)


def _moved(statistics: PairedStatistics) -> str:
    return (
        f"mean difference {statistics.mean_difference:+.4f}, {_shown(statistics.interval)}; "
        f"{statistics.tasks_better} of {statistics.tasks} tasks better, {statistics.tasks_worse} worse; "
        f"adjusted p = {statistics.adjusted_p:.4g}"
    )


def _undecided(statistics: PairedStatistics, significance: float) -> str:
    differing = statistics.tasks_better + statistics.tasks_worse
    if statistics.p_floor > significance:
        reason = (
            f"cannot decide at this size: {differing} of {statistics.tasks} tasks differ, so p cannot fall below "
            f"{statistics.p_floor:.4g}, and the interval {_shown(statistics.equivalence_interval)} is wider than "
            f"±{statistics.equivalence_margin:g}"
        )
    else:
        reason = f"cannot decide: {_moved(statistics)}"
    if statistics.smallest_effect is None:
        return f"{reason}; the smallest effect this sample could show is unknown"
    if statistics.smallest_effect > 1:
        return f"{reason}; this sample is too small to show any difference"
    return f"{reason}; the smallest effect this sample could show is {statistics.smallest_effect:.4f}"


def _shown(interval: DifferenceInterval) -> str:
    return f"{100 * interval.level:g} % [{interval.lower:+.4f}, {interval.upper:+.4f}]"


FailOn = Literal["worse"]


def gate_failures(diff: ReportDiff, fail_on: FailOn) -> list[str]:
    """Why the comparison does not pass, one sentence each; empty where it does.

    It fails on every skill with the verdict `fail_on`, and where nothing could be compared at all, no skill being on both sides
    with a task in common. A gate that evaluated nothing has not passed.
    """
    failures = [
        f"{skill.skill_id}@{skill.skill_version} is {fail_on}: {skill.explanation}" for skill in diff.with_verdict(fail_on)
    ]
    if not any(skill.statistics for skill in diff.skills):
        failures.append("nothing could be compared: no skill has a task that was recorded on both sides")
    return failures
