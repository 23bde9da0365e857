"""What reports tell of a run beside its figures. Plain: no Prefect."""

from __future__ import annotations

from datetime import UTC, datetime

from eval_skills.reporting import ReportContext
from eval_skills.tasks.summary import RunSummary


def context_of(summary: RunSummary) -> ReportContext:
    """What a report says of the run beside its figures."""
    return ReportContext(
        run_id=summary.run_id,
        created_at=datetime.now(UTC),
        benchmark=summary.benchmark,
        min_completion=summary.min_completion,
        partial=(summary.finished, summary.planned) if summary.is_partial else None,
        ranks=None if summary.selected is None else {choice.skill.key: choice.rank for choice in summary.selected},
    )
