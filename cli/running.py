"""Running a flow from the command line: a server behind it, a display before it, a table and an exit code after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eval_skills.cli.context import current
from eval_skills.cli.options import JudgeFlags

if TYPE_CHECKING:
    from eval_skills.core.selection import SelectStrategy
    from eval_skills.engine.definition.request import EvaluateRequest, PipelineRequest
    from eval_skills.engine.evaluation.plan import RunPlan
    from eval_skills.engine.evaluation.summary import RunSummary

GATE_FAILED, UNFINISHED = 1, 3


def run_flow(
    request: EvaluateRequest | PipelineRequest, *, dry_run: bool, exit_on_fail: bool, judging: JudgeFlags = JudgeFlags()
) -> int:
    """Check the request, run its flow, print what came of it; the exit code of the command.

    `judging` are the options of judging as they were given: it is said where they have nothing to do.
    """
    from eval_skills.cli.judging_options import idle_judging
    from eval_skills.cli.output.ranking import add_job_summary
    from eval_skills.cli.output.run import show_plan, show_summary
    from eval_skills.cli.prefect_server.private import prefect_api

    if dry_run:
        plan = checked_plan(request)
        plan.remarks.extend(idle_judging(judging, plan.scorings))
        show_plan(plan, request, gate=exit_on_fail, strategy=_strategy(request))
        return GATE_FAILED if exit_on_fail else 0
    with prefect_api(verbose=current().verbose) as server:
        plan = checked_plan(request)  # the same checks as the flow's, while the server starts
        for remark in [*plan.remarks, *idle_judging(judging, plan.scorings)]:
            current().remark(remark)
        flow = _flow(request)
        server.wait_until_ready()
        summary = _observed(flow, request)
        if not server.wait_until_recorded(summary.flow_runs, summary.task_runs):
            current().remark("Prefect had not recorded every task run before its server stopped; results are safe")
    show_summary(summary, gate=exit_on_fail)
    add_job_summary(summary, gate=exit_on_fail)
    if summary.out_of_budget or summary.unjudged:
        return UNFINISHED
    return GATE_FAILED if summary.is_partial or (exit_on_fail and not summary.gate_passed) else 0


def checked_plan(request: EvaluateRequest | PipelineRequest) -> RunPlan:
    """The plan of the request's run; raises what is wrong with it."""
    from eval_skills.engine.definition.request import PipelineRequest
    from eval_skills.engine.discovery import FoundSkills, matching_skills
    from eval_skills.engine.evaluation.plan import make_plan
    from eval_skills.engine.evaluation.resume import resumed_plan
    from eval_skills.reporting import check_formats

    check_formats(request.format)
    if isinstance(request, PipelineRequest):
        _strategy(request)
        found = FoundSkills([], []) if request.resume or request.traces else matching_skills(request)
        plan = checked_plan(request.evaluation([str(skill.folder) for skill in found.skills]))
        return replace(plan, remarks=[*found.remarks(), *plan.remarks])
    return resumed_plan(request) if request.resume else make_plan(request)


def _strategy(request: EvaluateRequest | PipelineRequest) -> SelectStrategy | None:
    from eval_skills.engine.definition.request import PipelineRequest
    from eval_skills.engine.stored_runs.candidates import chosen_strategy

    if not isinstance(request, PipelineRequest):
        return None
    return chosen_strategy(request.strategy, min_completion=request.min_completion, top_k=request.top_k)


def _flow(request: EvaluateRequest | PipelineRequest) -> Callable[[Any], RunSummary]:
    from eval_skills import flows
    from eval_skills.engine.definition.request import PipelineRequest

    return flows.pipeline if isinstance(request, PipelineRequest) else flows.evaluate


def _observed(flow: Callable[[Any], RunSummary], request: EvaluateRequest | PipelineRequest) -> RunSummary:
    from eval_skills.cli.output.progress import LiveDisplay
    from eval_skills.engine.definition.request import PipelineRequest
    from eval_skills.engine.evaluation.observer import observed_runs
    from eval_skills.flows import run_here

    command = "run" if isinstance(request, PipelineRequest) else "eval"
    with LiveDisplay(current().err()) as display, observed_runs.by(display):
        try:
            return run_here(flow, request)
        except KeyboardInterrupt as interrupt:
            raise type(interrupt)(display.interrupted(command)) from None
