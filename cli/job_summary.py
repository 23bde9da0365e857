"""The page of a CI job, where there is one: see `eval_skills.reporting.job_summary`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.tasks.summary import RunSummary


def add_job_summary(summary: RunSummary, *, gate: bool) -> None:
    """Append the run to the job's summary; a remark says why where that did not work."""
    from eval_skills.reporting.job_summary import append_job_summary
    from eval_skills.tasks.context import context_of

    verdict = summary.gate_passed if gate else None
    remark = append_job_summary(summary.reports, context_of(summary), line=summary.line, gate_passed=verdict, environ=os.environ)
    if remark:
        current().remark(remark)
