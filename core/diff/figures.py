"""The figures of two reports side by side; of the tasks that both hold, where they do not hold the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from eval_skills.core.diff.measures import ERRORS, latency_of
from eval_skills.core.diff.model import DiffRow, Metric
from eval_skills.core.diff.pairing import ReportPair
from eval_skills.core.diff.tasks import Runs, TaskPairs
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.report import is_missing
from eval_skills.core.statistics.rates import composite_score, nearest_rank

ROUNDING = 1e-12
_MORE_IS_GOOD: dict[Metric, bool] = {"completionRate": True, "errorRate": False, "p95Ms": False, "compositeScore": True}


def figure_rows(pair: ReportPair, tasks: TaskPairs | None) -> list[DiffRow]:
    """Completion and error rate, P95 and composite before and after; a side that is not there has none.

    Where the sides do not hold the same tasks, both sides' figures are of the shared ones alone: one that is asked less would
    seem to have changed. Where they share none, the figures are each report's own, and no change is told.
    """
    if tasks is None or not tasks.apart:
        return [_row(metric, _reported(pair.before, metric), _reported(pair.after, metric)) for metric in _MORE_IS_GOOD]
    if not tasks.tasks:
        return [
            DiffRow(metric=metric, before=_reported(pair.before, metric), after=_reported(pair.after, metric))
            for metric in _MORE_IS_GOOD
        ]
    before, after = _of_shared(pair.before, tasks.before), _of_shared(pair.after, tasks.after)
    return [_row(metric, before[metric], after[metric]) for metric in _MORE_IS_GOOD]


def _row(metric: Metric, before: float | None, after: float | None) -> DiffRow:
    if before is None or after is None:
        return DiffRow(metric=metric, before=before, after=after)
    delta = after - before
    if abs(delta) <= ROUNDING:
        return DiffRow(metric=metric, before=before, after=after, delta=0.0)
    return DiffRow(
        metric=metric,
        before=before,
        after=after,
        delta=delta,
        arrow="↑" if delta > 0 else "↓",
        good=(delta > 0) == _MORE_IS_GOOD[metric],
    )


def _reported(report: SkillCompletionReport | None, metric: Metric) -> float | None:
    if report is None:
        return None
    figures: dict[Metric, float | None] = {
        "completionRate": report.summary.known_completion,
        "errorRate": report.summary.error_rate,
        "p95Ms": report.latency.p95_ms,
        "compositeScore": report.summary.known_composite,
    }
    return figures[metric]


def _of_shared(report: SkillCompletionReport | None, tasks: Sequence[Runs]) -> dict[Metric, float | None]:
    """As the report has them of all its items; the composite is unknown where it does not say what scales the latency.

    Completion and composite are unknown where no item has a verdict on the skill.
    """
    runs = [run for task in tasks for run in task]
    completion, errors = fmean(run.passed for run in runs), fmean(ERRORS.value(run) or 0.0 for run in runs)
    p95_ms = nearest_rank(sorted(known for run in runs if (known := latency_of(run)) is not None), 95)
    slowest_ms = report.evaluator_metadata.get("maxLatencyMs") if report else None
    composite = composite_score(completion, errors, p95_ms, slowest_ms) if isinstance(slowest_ms, int | float) else None
    if all(map(is_missing, runs)):
        return {"completionRate": None, "errorRate": errors, "p95Ms": p95_ms, "compositeScore": None}
    return {"completionRate": completion, "errorRate": errors, "p95Ms": p95_ms, "compositeScore": composite}
