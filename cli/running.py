"""Running a flow from the command line: a server behind it, a display before it, a table and an exit code after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Timer
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import UUID

from eval_skills.cli.context import GATE_FAILED, UNFINISHED, begin, current
from eval_skills.cli.options import JudgeFlags
from eval_skills.cli.requests import overridden_timeout, unused_judge_options, viewer_known
from eval_skills.core.errors import RunError
from eval_skills.core.text import exact
from eval_skills.flows.lost_api import loss_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_skills.cli.prefect_server.api_server import ApiServer
    from eval_skills.cli.prefect_server.loss import Unrecorded
    from eval_skills.core.store import Store
    from eval_skills.engine.definition.request import EvaluateRequest, PipelineRequest
    from eval_skills.engine.evaluation.plan import RunPlan
    from eval_skills.engine.evaluation.summary import RunSummary

SLOW_S = 5.0
"""After so long without a line, one says what is being done, where no terminal shows it."""


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

    Raises:
        RunError: the API cannot be had, or was lost before anything had begun that could go on without it.
    """
    from eval_skills.cli.prefect_server.api_server import WITHOUT_TLS, apply, never_collected, prefect_api
    from eval_skills.cli.prefect_server.loss import Watch

    with viewer_known(), prefect_api(verbose=current().verbose) as server:
        if server.url.startswith("http:"):
            apply(WITHOUT_TLS)
        meanwhile()
        with shown_while("starting Prefect …"):
            with never_collected():
                from eval_skills import flows
                from eval_skills.tasks.flow_runs import Caller
                from eval_skills.tasks.prefect_settings import served_by

                called = getattr(flows, flow)
                if server.process is not None:
                    import_what_a_flow_needs()
            server.wait_until_ready(current().remark)
        caller = Caller("cli")

        def watched() -> Watch:
            return Watch(server, current().remark)

        with served_by(server.url):
            begin(replace(current(), recorded=server.place, flow_run_pages=flow_run_pages(server)))
            with _lost_early():
                summary = around(lambda: flows.run_here(called, request, caller=caller, watched=watched))
        begin(replace(current(), flow_run=caller.flow_run))
        with shown_while("waiting until Prefect has recorded every task run …"):
            is_recorded = not summary.flow_runs or server.wait_until_recorded(summary.flow_runs, summary.task_runs)
        if not is_recorded:
            current().remark(f"Prefect had not recorded every task run before its server stopped; {what} are safe")
    return summary


@contextmanager
def _lost_early() -> Iterator[None]:
    """Say so where Prefect's API is lost before there is anything that could go on without it."""
    from eval_skills.cli.prefect_server.loss import Unrecorded

    try:
        yield
    except Unrecorded:
        raise
    except Exception as error:
        if (reason := loss_of(error)) is None:
            raise
        raise RunError(f"the Prefect API was lost ({reason}); what is done is kept") from error


NEEDED_BY_A_FLOW = (
    "prefect.flow_engine",
    "prefect.utilities.visualization",
    "fastapi.encoders",
    "pyarrow.dataset",
    "eval_skills.cli.output.progress",
    "eval_skills.cli.output.run",
    "eval_skills.core.metrics.reports",
)
"""What is imported when a flow is called, its items are called, and its results land: a quarter of a second."""


def import_what_a_flow_needs() -> None:
    """Import what is imported otherwise when the server is there; until then this process has nothing else to do."""
    for name in NEEDED_BY_A_FLOW:
        with suppress(ImportError):  # Prefect's own: another version may do without
            import_module(name)


def flow_run_pages(server: ApiServer) -> str:
    """The address of a flow run's page in the UI of a server that stays, with ``{}`` for its id; "" for a private one."""
    if server.process is not None:
        return ""
    from prefect.utilities.urls import url_for

    nowhere = UUID(int=0)
    return (url_for("flow-run", nowhere) or "").replace(str(nowhere), "{}")


@contextmanager
def shown_while(line: str) -> Iterator[None]:
    """A terminal shows the line for as long as what is inside takes; if stderr is not a terminal, nothing is printed."""
    console = current().err()
    with console.status(line) if console.is_terminal else nullcontext():
        yield


@contextmanager
def announced_while(line: str) -> Iterator[None]:
    """The same; where there is no terminal, the line is printed once if it takes longer than `SLOW_S`."""
    if current().err().is_terminal:
        with shown_while(line):
            yield
        return
    announcement = Timer(SLOW_S, current().remark, (line,), {"style": ""})
    announcement.daemon = True
    announcement.start()
    try:
        yield
    finally:
        announcement.cancel()


@contextmanager
def interrupted(message: Callable[[], str]) -> Iterator[None]:
    """An interruption inside is reported with this message: what is kept, and how to continue."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)(message()) from None


def run_flow(
    request: EvaluateRequest | PipelineRequest, *, dry_run: bool, exit_on_fail: bool | None, judging: JudgeFlags = JudgeFlags()
) -> int:
    """Check the request, run its flow, print the result; the exit code of the command.

    `exit_on_fail` None: a run that is resumed keeps the gate that it had, or has none.

    `judging` are the options of judging as they were given: where they change nothing, a warning says so.
    """
    if dry_run:
        return show_dry_run(request, lambda begun: begun.exit_on_fail if exit_on_fail is None else exit_on_fail, judging=judging)
    command = "run" if _is_pipeline(request) else "eval"
    ran = run_request(request, command, judging)
    # not before: what these import, numpy for one, the run imports while its server starts
    from eval_skills.cli.output.ranking import add_job_summary, set_step_outputs
    from eval_skills.cli.output.run import show_summary

    gate = ran.summary.gated if exit_on_fail is None else exit_on_fail
    show_summary(ran.summary, gate=gate, command=command)
    add_job_summary(ran.summary, gate=gate)
    code = ran.exit_code(gate=gate)
    if exit_on_fail is None and not gate and "min_completion" in request.model_fields_set and command == "eval":
        current().remark(no_gate(ran.summary.min_completion))
    set_step_outputs(ran.summary, finished=code != UNFINISHED and not ran.summary.is_partial)
    return code


def no_gate(min_completion: float) -> str:
    """That a completion rate was asked for which nothing is held to."""
    return f"no gate: nothing fails at --min-completion {exact(min_completion)} without --exit-on-fail"


def run_experiment(
    request: EvaluateRequest,
    command: str,
    show: Callable[[RunSummary], int],
    *,
    dry_run: bool,
    is_gated: Callable[[EvaluateRequest], bool],
    judging: JudgeFlags = JudgeFlags(),
) -> int:
    """Run the evaluation behind a `command` that shows something else than its ranking; the exit code of the command.

    `show` gives the exit code that what it shows has, and `is_gated` says whether a run, by the request that began it, has a
    gate. Of a run that stopped only how to continue is shown.
    """
    if dry_run:
        return show_dry_run(request, is_gated, judging=judging)
    from eval_skills.cli.output.run import show_stop

    ran = run_request(request, command, judging)
    if ran.summary.is_partial:
        show_stop(ran.summary, command)
        return ran.exit_code(gate=False)
    shown = show(ran.summary)
    return ran.exit_code(gate=False) or shown


def show_dry_run(
    request: EvaluateRequest | PipelineRequest, is_gated: Callable[[EvaluateRequest], bool], *, judging: JudgeFlags
) -> int:
    """Check the request, and print what its run would do; the exit code of the command: a gate does not pass without a run.

    `is_gated` says whether there is one, by the request of the run, also of one that is resumed.
    """
    from eval_skills.cli.output.run import show_plan
    from eval_skills.engine.definition.request import PipelineRequest
    from eval_skills.engine.evaluation.pipeline import resumed_strategy, strategy_of

    _, plan, found = checked_plan(request)
    gate = is_gated(plan.request)
    plan.remarks[:0] = found
    plan.remarks.extend(_without_effect(request, plan, judging))
    strategy = None
    if isinstance(request, PipelineRequest):
        manifest = plan.store.manifest(plan.run_id) if request.resume else None
        strategy = resumed_strategy(request, manifest, plan.request.min_completion) if manifest else strategy_of(request)
    show_plan(plan, request, gate=gate, strategy=strategy)
    return GATE_FAILED if gate else 0


def _without_effect(request: EvaluateRequest | PipelineRequest, plan: RunPlan, judging: JudgeFlags) -> list[str]:
    """What was typed and changes nothing."""
    return [*overridden_timeout(request, plan.benchmark.tasks), *unused_judge_options(judging, plan.scorings)]


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that ended: its summary, and how Prefect's API was lost on the way, if it was."""

    summary: RunSummary
    lost: Unrecorded | None = None

    def exit_code(self, *, gate: bool) -> int:
        """The exit code of the command; the line about what Prefect did not record is said here."""
        if (lost := self.lost) is not None:
            current().remark(
                f"Prefect's records of run {lost.run_id} are not complete ({lost.reason}); its results are not affected",
                style="red",
            )
        without = self.summary.unjudged or self.summary.unsimulated
        if lost is not None or self.summary.out_of_budget or without or self.summary.stopped:
            return UNFINISHED
        return GATE_FAILED if self.summary.is_partial or (gate and not self.summary.gate_passed) else 0


def _is_pipeline(request: EvaluateRequest | PipelineRequest) -> bool:
    from eval_skills.engine.definition.request import PipelineRequest

    return isinstance(request, PipelineRequest)


def run_request(request: EvaluateRequest | PipelineRequest, command: str, judging: JudgeFlags = JudgeFlags()) -> Ran:
    """Check the request and run its flow; remarks are printed as they come up. `command` continues an interrupted run."""
    from eval_skills.cli.prefect_server.loss import Unrecorded
    from eval_skills.engine.evaluation.plan import planned_already
    from eval_skills.reporting.escape import visible_line

    lost = None
    planned, shown = ExitStack(), list[str]()

    def check() -> None:
        with announced_while("planning: reading and checking skills and tasks …"):
            asked, plan, found = checked_plan(request)  # the same checks as the flow's, but for asking the judges
        shown.extend([*found, *plan.remarks, *_without_effect(request, plan, judging)])
        for remark in shown:
            current().remark(remark)
        make_store(plan.store)
        planned.enter_context(planned_already(asked, plan))

    try:
        with planned:
            ended: RunSummary = call_recorded(
                "pipeline" if _is_pipeline(request) else "evaluate",
                request,
                meanwhile=check,
                around=lambda call: _timed(observed(call, command)),
            )
    except Unrecorded as error:
        lost = error  # what goes wrong from here on is not caused by it
    summary = ended if lost is None else _finished_here(request, lost)
    for remark in summary.remarks:
        if remark not in shown:  # of what came up during the run
            current().remark(visible_line(remark))
    return Ran(summary, lost)


def make_store(store: Store) -> None:
    """Make the folder of a store that something will be evaluated for: who calls `view` while Prefect starts sees it begin."""
    from eval_skills.core.store.files import explained, make_folder

    with explained(store.path):
        make_folder(store.layout.root, store.layout.mode)


def _finished_here(request: EvaluateRequest | PipelineRequest, lost: Unrecorded) -> RunSummary:
    """The summary of a run that ends without Prefect."""
    from eval_skills.engine.evaluation.pipeline import finish_without_prefect

    current().remark(f"the Prefect server is gone ({lost.reason}); run {lost.run_id} goes on without it")
    return _timed(observed(lambda: finish_without_prefect(request, lost.run_id, lost.began, lost.report_files), "eval"))


def _timed(summary: RunSummary) -> RunSummary:
    """The summary whose line says how long the whole call took, from its beginning until the reports were written."""
    from eval_skills.engine.evaluation.summary import with_duration

    return with_duration(summary, current().seconds)


def checked_plan(request: EvaluateRequest | PipelineRequest) -> tuple[EvaluateRequest, RunPlan, list[str]]:
    """The evaluation that the request asks for, its plan, and remarks on skills that were found and cannot be used.

    Raises:
        UserError: the request cannot be run.
    """
    from eval_skills.engine.definition.request import PipelineRequest
    from eval_skills.engine.evaluation.pipeline import evaluation_of, found_skills, strategy_of
    from eval_skills.engine.evaluation.plan import plan_for
    from eval_skills.reporting.writing import check_formats

    check_formats(request.format)
    invalid = []
    if isinstance(request, PipelineRequest):
        strategy_of(request)
        found = found_skills(request)
        request, invalid = evaluation_of(request, found), found.invalid
    plan = plan_for(request)
    return request, plan, [bad.remark for bad in invalid]


def observed(call: Callable[[], Any], command: str, *, of_a_night: bool = False) -> Any:
    """Call with the live display; `command` is the one that continues after an interruption, the run or the whole night.

    Raises:
        Unrecorded: Prefect's API is gone; what is done is kept, and the rest can go on without it.
    """
    from eval_skills.cli.output.progress import LiveDisplay
    from eval_skills.cli.prefect_server.loss import Unrecorded
    from eval_skills.engine.evaluation.observer import observed_runs

    with (
        LiveDisplay(current().err(), of_a_night=of_a_night) as display,
        observed_runs.by(display),
        interrupted(lambda: display.interrupted(command)),
    ):
        try:
            return call()
        except Exception as error:
            if (reason := loss_of(error)) is None or display.run_id is None:
                raise
            raise Unrecorded(display.run_id, reason, display.began, display.report_files) from error
