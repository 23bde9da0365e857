"""``eval-skills nightly``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import current
from eval_skills.cli.options import COMPARED, EVALUATED, RESULTS, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from eval_skills.engine.nightly.request import NightlyRequest
    from eval_skills.engine.nightly.summary import NightSummary, SuiteOutcome

GATE_FAILED, UNFINISHED = 1, 3
OF_THE_SUITE = frozenset({"format", "output_dir", "benchmark", "store", "fail_fast"})
"""Keys of the configuration that suites do not take over: a night says them itself, or writes no report files unless asked."""


def nightly_command(
    *,
    suites: Annotated[Path, Parameter(group=EVALUATED, help="YAML or JSON file of suites: name, skills, benchmark, options")],
    baseline: Annotated[
        str | None,
        Mark.ID_OR_PATH,
        Parameter(group=COMPARED, help="Run id or JSON report to compare with, for suites that name no baseline"),
    ] = None,
    confirm_runs: Annotated[
        int | None,
        Parameter(group=COMPARED, converter=whole, help="Fresh runs of each task that moved, before an alarm [default: 6]"),
    ] = None,
    keep_days: Annotated[
        int | None,
        Parameter(group=RESULTS, converter=whole, help="Delete items older than N days; reports stay [default: keep all]"),
    ] = None,
    store: Annotated[
        str | None, Mark.SHARED, Parameter(group=RESULTS, help="Folder (or .db file) of all results [default: ./eval-store]")
    ] = None,
    exit_on_fail: Annotated[
        bool | None,
        Mark.SHARED,
        Parameter(
            group=RESULTS,
            help="Exit 1 when a skill regressed or called a forbidden tool, or a suite could not run",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Evaluate suites as every night, and tell what changed.

    Each suite is compared with its last good night and with its baseline, and what moved is run again before it is an alarm.

    Example: eval-skills nightly --suites suites.yaml --keep-days 90

    Example: eval-skills nightly --suites suites.yaml --baseline main.json
    """
    from eval_skills.cli.prefect_server.private import prefect_api
    from eval_skills.engine.nightly.plan import plan_night

    own = {"suites": str(suites), "baseline": baseline, "confirm_runs": confirm_runs, "keep_days": keep_days}
    request = _request({name: value for name, value in own.items() if value is not None}, store)
    gate = current().config({"exit_on_fail": exit_on_fail}).exit_on_fail
    with prefect_api(verbose=current().verbose) as server:
        plan_night(request)  # the same checks as the flow's, while the server starts
        from eval_skills import flows

        flow = flows.nightly
        server.wait_until_ready()
        summary = _run(flow, request)
        if not server.wait_until_recorded(summary.flow_runs, summary.task_runs):
            current().remark("Prefect had not recorded every task run before its server stopped; results are safe")
    _show(summary, gate=gate)
    if gate and not summary.gate_passed:
        return GATE_FAILED
    return UNFINISHED if summary.nothing_ran else 0


def _request(own: dict[str, object], store: str | None) -> NightlyRequest:
    from eval_skills.cli.options import option_of
    from eval_skills.core.config import Config
    from eval_skills.core.config.options import FlowOptions
    from eval_skills.core.documents.loading import validate
    from eval_skills.core.errors import InputError, UsageError
    from eval_skills.engine.nightly.request import NightlyRequest

    config = current().config({"store": store})
    shared = (Config.model_fields.keys() & FlowOptions.model_fields.keys()) - OF_THE_SUITE
    options = {name: getattr(config, name) for name in sorted(shared)}
    options = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    try:
        return validate(NightlyRequest, {**own, "store": config.store, "options": options})
    except InputError as error:
        raise UsageError(": ".join(filter(None, (option_of(error.path), error.message)))) from None


def _run(flow: Callable[[NightlyRequest], NightSummary], request: NightlyRequest) -> NightSummary:
    from eval_skills.cli.output.progress import LiveDisplay
    from eval_skills.engine.evaluation.observer import observed_runs
    from eval_skills.engine.nightly.summary import NoSuiteRan
    from eval_skills.flows import run_here

    with LiveDisplay(current().err()) as display, observed_runs.by(display):
        try:
            return run_here(flow, request)
        except NoSuiteRan as failed:
            return failed.summary
        except KeyboardInterrupt as interrupt:
            said = "interrupted; this night is not recorded, and no later one compares itself with it"
            raise type(interrupt)(said) from None


def _show(summary: NightSummary, *, gate: bool) -> None:
    from eval_skills.cli.output.run import print_json

    if current().json:
        print_json({**summary.to_json(), "gate": {"passed": summary.gate_passed} if gate else None})
        return
    for suite in summary.suites:
        _show_suite(suite)
    current().say(summary.line, style="bold")
    if summary.pruned is not None:
        runs = summary.pruned.run_ids
        said = f"of {len(runs)} runs, {runs[0]} to {runs[-1]} ({summary.pruned.size:,} bytes)" if runs else "of no run"
        current().say(f"deleted the items {said}; reports and manifests stay")
    current().say(f"store   {summary.store}   night {summary.night_id}")
    if gate:
        passed = summary.gate_passed
        fine = "gate passed: no skill regressed or called a forbidden tool, and every suite ran"
        words = fine if passed else "gate failed: see above"
        current().say(words, style="green" if passed else "red")


def _show_suite(suite: SuiteOutcome) -> None:
    from eval_skills.reporting import numbers
    from eval_skills.reporting.judging.figures import judging_line
    from eval_skills.reporting.sections import forbidden_tool_alerts

    head = f"{suite.name}: {suite.benchmark_id or 'did not run'}"
    current().say(f"{head}, run {suite.run_id}" if suite.run_id else head, style="bold")
    for failure in suite.failures:
        current().say(f"  run failed: {failure}", style="red")
    for skill in suite.skills:
        rate = numbers.rate(skill.report.summary.completion_rate)
        style = {"regressed": "red", "suspect": "yellow", "flaky": "yellow", "failed": "red", "recovered": "green"}
        line = f"  {skill.report.skill_key}  {rate}  {skill.classification.verdict}: {skill.classification.explanation}"
        current().say(line, style=style.get(skill.classification.verdict, ""))
        if (judging := judging_line(skill.report)) is not None:
            current().say(f"  {judging}")
    for alert in forbidden_tool_alerts([skill.report for skill in suite.skills]):
        current().say(f"  FORBIDDEN TOOL: {alert.line}", style="bold red")
