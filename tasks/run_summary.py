"""What a run came to, from its plan and its figures. Plain: no Prefect."""

from __future__ import annotations

from collections.abc import Sequence

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import count_run, summary_line
from eval_skills.tasks.judging import judges_of, judging_lines, unjudged, unjudged_line
from eval_skills.tasks.plan import RunPlan
from eval_skills.tasks.summary import RunSummary


def summary_of(plan: RunPlan, reports: Sequence[SkillCompletionReport], finished: int, seconds: float) -> RunSummary:
    """The summary of a run of which `finished` items are known, after `seconds`; what judging came to is in it."""
    judges = judges_of(plan.scorings)
    results = [result for report in reports for result in report.task_results]
    failed = unjudged_line(results)
    return RunSummary(
        run_id=plan.run_id,
        line=summary_line(count_run(reports, seconds)),
        skills=list(plan.skills.values()),
        benchmark=plan.benchmark,
        reports=list(reports),
        planned=plan.planned,
        finished=finished,
        min_completion=plan.request.min_completion,
        store=plan.store.path,
        remarks=plan.remarks,
        skipped=plan.skipped,
        judging=[*([failed] if failed else []), *judging_lines(judges, plan.run_id, plan.request.store)],
        out_of_budget=judges is not None and judges.budget.exhausted,
        unjudged=len(unjudged(results)),
    )
