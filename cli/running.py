"""Running a flow from the command line: a server behind it, a display before it, a table and an exit code after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from eval_skills.cli.context import begin, current
from eval_skills.cli.options import JudgeFlags
from eval_skills.cli.prefect_server.loss import Unrecorded, Watch, interruption_of, loss_of
from eval_skills.cli.requests import unused_judge_options
from eval_skills.core.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_skills.core.selection import SelectStrategy
    from eval_skills.engine.definition.request import EvaluateRequest, PipelineRequest
    from eval_skills.engine.evaluation.plan import RunPlan
    from eval_skills.engine.evaluation.summary import RunSummary

GATE_FAILED, UNFINISHED = 1, 3


class Recorded(Protocol):
    """A summary that names the Prefect runs behind it."""

    @property
    def flow_runs(self) -> Sequence[str]: ...
    @property
    def task_runs(self) -> int: ...


Summary = TypeVar("Summary", bound=Recorded)


def call_recorded(
    flow: str,
    request: Any,
    *,
    meanwhile: Callable[[], object] = lambda: None,
    around: Callable[[Callable[[], Summary]], Summary] = lambda call: call(),
    what: str = "results",
) -> Summary:
    """The summary of the flow of this name (of `eval_skills.flows`), with a Prefect API behind it that has recorded its runs.

    `meanwhile` is done while a private server starts: checks that need none. `around` makes the call; `what` is kept in any case.
    """
    from eval_skills.cli.prefect_server.private import prefect_api

    with prefect_api(verbose=current().verbose) as server:
        meanwhile()
        from eval_skills import flows

        called = getattr(flows, flow)
        server.wait_until_ready(current().remark)
        begin(replace(current(), recorded=server.place))

        def watched() -> Watch:
            return Watch(server, current().remark)

        summary = around(lambda: flows.run_here(called, request, api_url=server.url, watched=watched))
        if not server.wait_until_recorded(summary.flow_runs, summary.task_runs):
            current().remark(f"Prefect had not recorded every task run before its server stopped; {what} are safe")
    return summary


@contextmanager
def interrupted(message: Callable[[], str]) -> Iterator[None]:
    """An interruption inside is reported with this message: what is kept, and how to continue."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)(message()) from None


def run_flow(
    request: EvaluateRequest | PipelineRequest, *, dry_run: bool, exit_on_fail: bool, judging: JudgeFlags = JudgeFlags()
) -> int:
    """Check the request, run its flow, print the result; the exit code of the command.

    `judging` are the options of judging as they were given: where they change nothing, a warning says so.
    """
    from eval_skills.cli.output.ranking import add_job_summary
    from eval_skills.cli.output.run import show_plan, show_summary
    from eval_skills.engine.definition.request import PipelineRequest

    if dry_run:
        plan = checked_plan(request)
        plan.remarks.extend(unused_judge_options(judging, plan.scorings))
        show_plan(plan, request, gate=exit_on_fail, strategy=_strategy(request))
        return GATE_FAILED if exit_on_fail else 0

    def check() -> None:
        plan = checked_plan(request)  # the same checks as the flow's
        for remark in [*plan.remarks, *unused_judge_options(judging, plan.scorings)]:
            current().remark(remark)

    is_pipeline, lost = isinstance(request, PipelineRequest), None
    try:
        summary = call_recorded(
            "pipeline" if is_pipeline else "evaluate",
            request,
            meanwhile=check,
            around=lambda call: observed(call, "run" if is_pipeline else "eval"),
        )
    except Unrecorded as error:
        lost, summary = error, _finished_here(request, error)
    show_summary(summary, gate=exit_on_fail)
    add_job_summary(summary, gate=exit_on_fail)
    if lost is not None:
        current().remark(f"the results are complete; Prefect's records of run {lost.run_id} are not ({lost.reason})", style="red")
    if lost is not None or summary.out_of_budget or summary.unjudged:
        return UNFINISHED
    return GATE_FAILED if summary.is_partial or (exit_on_fail and not summary.gate_passed) else 0


def _finished_here(request: EvaluateRequest | PipelineRequest, lost: Unrecorded) -> RunSummary:
    """The rest of a run without Prefect: the items that are not in its journal, the landing, the selection and the reports."""
    from eval_skills.core.selection import left_out_ties, select
    from eval_skills.engine.definition.request import EvaluateRequest
    from eval_skills.engine.evaluation.in_process import evaluate_in_process
    from eval_skills.engine.evaluation.resume import resumed_plan
    from eval_skills.engine.evaluation.summary import context_of
    from eval_skills.reporting import render, write_rendered

    current().remark(f"the Prefect server is gone ({lost.reason}); run {lost.run_id} goes on without it")
    resumed = EvaluateRequest(resume=lost.run_id, store=request.store, concurrency=request.concurrency, retries=request.retries)
    summary: RunSummary = observed(lambda: evaluate_in_process(resumed_plan(resumed)), "eval")
    if (strategy := _strategy(request)) is not None:
        summary = replace(
            summary,
            selected=select(summary.skills, summary.reports, strategy),
            tied=[skill.key for skill in left_out_ties(summary.skills, summary.reports, strategy)],
            min_completion=strategy.filters.min_completion_rate or 0.0,
        )
    if request.format:
        context = context_of(summary)
        rendered = {name: render(name, summary.reports, context) for name in dict.fromkeys(request.format)}
        summary = replace(summary, report_files=write_rendered(rendered, request.output_dir, context))
    return summary


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
        return replace(plan, remarks=[*(bad.remark for bad in found.invalid), *plan.remarks])
    return resumed_plan(request) if request.resume else make_plan(request)


def _strategy(request: EvaluateRequest | PipelineRequest) -> SelectStrategy | None:
    from eval_skills.engine.definition.request import PipelineRequest
    from eval_skills.engine.stored_runs.candidates import chosen_strategy

    if not isinstance(request, PipelineRequest):
        return None
    return chosen_strategy(
        request.strategy, min_completion=request.min_completion, top_k=request.top_k, keep_ties=request.keep_ties
    )


def observed(call: Callable[[], Any], command: str = "") -> Any:
    """Call with the live display; `command` is the one that continues after an interruption, "" where none does."""
    from eval_skills.cli.output.progress import LiveDisplay
    from eval_skills.engine.evaluation.observer import observed_runs

    not_continued = "interrupted; this night is not recorded, and later ones are not compared with it"
    with (
        LiveDisplay(current().err()) as display,
        observed_runs.by(display),
        interrupted(lambda: display.interrupted(command) if command else not_continued),
    ):
        try:
            return call()
        except Exception as error:
            if (interrupt := interruption_of(error)) is not None:
                raise interrupt from None
            if (reason := loss_of(error)) is None:
                raise
            if not command or display.run_id is None:
                raise RunError(f"the Prefect API was lost ({reason}); what is done is kept") from error
            raise Unrecorded(display.run_id, reason) from error
