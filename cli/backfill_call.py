"""The call of the flow `backfill`, and what it tells while it works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eval_skills.cli.session import current

if TYPE_CHECKING:
    from eval_skills.cli.options import JudgeFlags
    from eval_skills.core.models import ItemResult
    from eval_skills.tasks.backfill_plan import BackfillPlan
    from eval_skills.tasks.backfill_request import BackfillRequest
    from eval_skills.tasks.backfill_summary import BackfillSummary
    from eval_skills.tasks.plan import RunPlan


def backfilled(request: BackfillRequest, judging: JudgeFlags) -> BackfillSummary:
    """What the backfill came to; where everything is up to date, no Prefect is started for that.

    `judging` are the options of judging as they were given: it is said where they have nothing to do.
    """
    from eval_skills.cli.api_server import prefect_api
    from eval_skills.tasks.backfill_plan import plan_backfill
    from eval_skills.tasks.backfill_summary import backfill_summary

    plan = plan_backfill(request)
    for remark in _idle(judging, plan):
        current().remark(remark)
    if not plan.pending:
        return backfill_summary(plan, {})
    current().remark(_announced(len(plan.works), len(plan.pending)), style="")
    with prefect_api(verbose=current().verbose) as server:
        from eval_skills import flows

        server.wait_until_ready()
        summary = _called(flows.backfill, request)
        if not server.wait_until_recorded(summary.flow_runs, summary.task_runs):
            current().remark("Prefect had not recorded every task run before its server stopped; results are safe")
    return summary


def _idle(judging: JudgeFlags, plan: BackfillPlan) -> list[str]:
    from eval_skills.cli.idle_judging import idle_judging, listed, typed_options

    if plan.request.mode != "recompute":
        return idle_judging(judging, plan.scorings)
    typed = typed_options(judging)
    return [f"{listed(typed)}: not needed with --mode recompute, which judges nothing"] if typed else []


def _announced(periods: int, pending: int) -> str:
    from eval_skills.reporting.figures import plural

    return f"{plural(periods, 'period')}: {pending} to do, {periods - pending} up to date"


def _called(flow: Any, request: BackfillRequest) -> BackfillSummary:
    from eval_skills.flows.calling import call_flow
    from eval_skills.tasks.progress import observed_by

    try:
        with observed_by(_RunsAnnounced()):
            summary: BackfillSummary = call_flow(flow, request)
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)("interrupted; what is done is kept: make the same call again to go on") from None
    return summary


class _RunsAnnounced:
    """Tells of every evaluation of a replay when it begins."""

    def planned(self, plan: RunPlan) -> None:
        """A revision is evaluated, or goes on."""
        commit = str(plan.request.provenance.get("commit", ""))[:12]
        current().remark(f"run {plan.run_id}: {plan.planned} items of commit {commit}, {plan.finished} of them done", style="")

    def retrying(self, item: str, reason: str) -> None:
        """Nothing to show."""

    def waiting(self, skill: str, waited_s: float, asked_s: float) -> None:
        """A skill's service asked us to wait."""
        from eval_skills.cli.progress import waiting_text

        current().remark(waiting_text(skill, waited_s, asked_s), style="")

    def finished(self, result: ItemResult) -> None:
        """Nothing to show."""
