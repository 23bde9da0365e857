"""From paired statistics to a verdict on one skill, with its reason in one sentence."""

from __future__ import annotations

from eval_skills.core.diff.model import DifferenceInterval, Judgement, PairedStatistics

_ROUNDING = 1e-12


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
