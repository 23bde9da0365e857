"""``eval-skills nightly``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eval_skills.cli.configuration import Mark
from eval_skills.cli.context import GATE_FAILED, UNFINISHED, current, print_json
from eval_skills.cli.options import COMPARED, EVALUATED, HOW, RESULTS, Results, decimal, option, whole
from eval_skills.cli.prefect_server.loss import Unrecorded
from eval_skills.cli.requests import configured_options, flags_of, is_configured, request_of
from eval_skills.cli.running import call_recorded, make_store, observed
from eval_skills.core.config.options import FlowOptions
from eval_skills.core.config.values import NightFailOn
from eval_skills.core.errors import UsageError, UserError
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from eval_skills.engine.nightly.request import NightGate, NightlyRequest
    from eval_skills.engine.nightly.summary import NightEffect, NightSummary, SuiteOutcome

OF_THE_SUITE = frozenset({"format", "output_dir", "benchmark", "store", "fail_fast"})
"""Keys of the configuration that suites do not take over: the request has them, or no report files are written unless asked."""


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
    fail_on: Annotated[
        NightFailOn | None,
        Parameter(
            group=RESULTS,
            help="What exits 1: a skill that regressed, as with --exit-on-fail; or also one that is not proven to have lost less "
            "than --margin",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        Parameter(
            group=RESULTS,
            converter=decimal,
            help="Loss of completion, from 0 to 1, that --fail-on not-proven tolerates [default: 0.03]",
        ),
    ] = None,
    resume: Annotated[
        str | None,
        Parameter(
            group=HOW,
            help="Continue an interrupted night: its id, that of one of its runs, the beginning of one of them, or latest; "
            "finished items do not run again",
        ),
    ] = None,
    store: Results = None,
    exit_on_fail: Annotated[
        bool | None,
        option(
            "exit_on_fail",
            RESULTS,
            help="Exit 1 when a skill regressed, called a forbidden tool, is gone or not judged, a suite did not run, or "
            "the gate of an Agent Skill's effect fails",
        ),
    ] = None,
) -> int:
    """Evaluate suites every night, and report what changed.

    Each skill is compared with its good nights, with those before it last changed and with its baseline, and watched for slow
    drops. What changed is run again before an alarm is raised.

    Example: eval-skills nightly --suites suites.yaml --keep-days 90

    Example: eval-skills nightly --suites suites.yaml --baseline main.json

    Example: eval-skills nightly --suites suites.yaml --fail-on not-proven

    Example: eval-skills nightly --suites suites.yaml --resume latest
    """
    from eval_skills.core.store import Store
    from eval_skills.engine.nightly.interruption import GATE, gate_of_night
    from eval_skills.engine.nightly.request import NightGate, NightlyRequest

    _check_margin(fail_on, margin)
    own = flags_of(suites=suites, baseline=baseline, confirm_runs=confirm_runs, keep_days=keep_days, resume=resume)
    options = configured_options(FlowOptions, {}, without=OF_THE_SUITE)
    config = current().config(flags_of(store=store, exit_on_fail=exit_on_fail))
    gate = NightGate(exit_on_fail=config.exit_on_fail, fail_on=fail_on, margin=margin)
    is_said = exit_on_fail is not None or fail_on is not None or is_configured("exitOnFail")
    provenance = {GATE: gate.to_json()} if is_said else {}
    request = request_of(NightlyRequest, {**own, "store": config.store, "options": options, "provenance": provenance})
    summary, lost = _night(request, f"nightly --suites {quote(str(suites))}")
    if resume and not is_said:
        gate = gate_of_night(Store(summary.store), summary.night_id)
    unproven = [] if (tolerated := _tolerated(gate)) is None else summary.unproven(tolerated)
    passed = summary.gate_passed and not unproven
    _show(summary, passed=passed if gate.is_asked else None, unproven=unproven)
    if (missing := _missing_in_prefect(summary, lost)) is not None:
        current().remark(missing, style="red")
        return UNFINISHED
    if gate.is_asked and not passed:
        return GATE_FAILED
    return UNFINISHED if summary.nothing_ran else 0


def _check_margin(fail_on: NightFailOn | None, margin: float | None) -> None:
    if margin is not None and fail_on != "not-proven":
        raise UsageError("--margin is what --fail-on not-proven tolerates; give both, or neither")
    if margin is not None and not 0 <= margin <= 1:
        raise UsageError(f"--margin: give a share from 0 to 1, as 0.02 for 2 percentage points; got {margin:g}")


def _tolerated(gate: NightGate) -> float | None:
    """The loss that `--fail-on not-proven` tolerates; None without it."""
    from eval_skills.core.diff.gate import NON_INFERIORITY_MARGIN

    if gate.fail_on != "not-proven":
        return None
    return NON_INFERIORITY_MARGIN if gate.margin is None else gate.margin


def _night(request: NightlyRequest, again: str) -> tuple[NightSummary, Unrecorded | None]:
    """The night, and the loss of Prefect on the way, if there was one; `again` is the command that continues the night."""
    try:
        summary: NightSummary = call_recorded(
            "nightly",
            request,
            meanwhile=lambda: _check(request),
            around=lambda call: observed(lambda: _ended(call), again, of_a_night=True),
        )
    except Unrecorded as error:
        lost = error  # what goes wrong from here on is not caused by it
    else:
        return summary, None
    return _finished_here(request, lost, again), lost


def _missing_in_prefect(summary: NightSummary, lost: Unrecorded | None) -> str | None:
    """What Prefect does not have of a night that is complete; None where it has all."""
    if lost is not None:
        missing = "Prefect's records of it are not, and it has no artifacts and events there"
        return f"night {lost.run_id} is complete; {missing} ({lost.reason})"
    if summary.unrecorded is not None:
        missing = "Prefect's records of it are not, and its last events may be missing there"
        return f"night {summary.night_id} is complete; {missing} ({summary.unrecorded})"
    return None


def _check(request: NightlyRequest) -> None:
    """Nothing is evaluated for a night whose plan cannot be made, or whose baseline cannot be read or has no tasks.

    A baseline that is lost on the way costs its comparison alone: what the night found is kept.
    """
    from eval_skills.engine.nightly.evidence import without_tasks
    from eval_skills.engine.nightly.plan import plan_night
    from eval_skills.engine.stored_runs.reports import read_source

    plan = plan_night(request)
    if plan.baseline is not None:
        try:
            why_not = without_tasks(read_source(plan.baseline, plan.store.path).reports)
        except UserError as error:
            raise UsageError(f"--baseline: {str(error).removesuffix(', or latest')}") from error
        if why_not is not None:
            raise UsageError(f"--baseline: nothing can be compared with {plan.baseline}: {why_not}; name another, or none")
    make_store(plan.store)


def _finished_here(request: NightlyRequest, lost: Unrecorded, again: str) -> NightSummary:
    """The summary of a night that ends without Prefect."""
    from eval_skills.engine.nightly.execution import finish_night_without_prefect

    current().remark(f"the Prefect server is gone ({lost.reason}); night {lost.run_id} goes on without it")
    summary: NightSummary = observed(
        lambda: finish_night_without_prefect(request, lost.run_id, lost.reason), again, of_a_night=True
    )
    return summary


def _ended(call: Callable[[], NightSummary]) -> NightSummary:
    from eval_skills.engine.nightly.summary import NoSuiteRan

    try:
        return call()
    except NoSuiteRan as failed:
        return failed.summary


def _show(summary: NightSummary, *, passed: bool | None, unproven: list[str]) -> None:
    if current().json:
        failures = [*summary.gate_failures, *unproven]
        gate = None if passed is None else {"passed": passed, "failures": failures, "notProven": unproven}
        print_json({**summary.to_json(), "gate": gate, "flowRunPage": current().flow_run_page})
        return
    from eval_skills.reporting.escape import visible_line

    for suite in summary.suites:
        _show_suite(suite)
    current().say(summary.line, style="bold")
    if summary.pruned is not None:
        runs = summary.pruned.run_ids
        said = f"of {len(runs)} runs, {runs[0]} to {runs[-1]} ({summary.pruned.size:,} bytes)" if runs else "of no run"
        current().say(f"deleted the items {said}; reports and manifests stay")
    current().say_stored(summary.store, f"night {summary.night_id}")
    for reason in [] if passed is None else [*summary.gate_failures, *unproven]:
        current().say(f"gate failed: {visible_line(reason)}", style="red")
    if passed:
        judged = f"ran; {plural(open_, 'item')} without a verdict" if (open_ := summary.without_verdict) else "ran and was judged"
        current().say(f"gate passed: no skill regressed or called a forbidden tool, and every suite {judged}", style="green")


def _show_effect(found: NightEffect) -> None:
    from eval_skills.reporting.escape import visible_line
    from eval_skills.reporting.skill_effect.figures import title
    from eval_skills.reporting.skill_effect.nights import effect_lines

    current().say(f"  effect of {visible_line(title(found.effect))}")
    for line in effect_lines(found.effect, found.past):
        current().say(f"    {visible_line(line)}")
    for reason in found.failures:
        current().say(f"    gate: {reason}", style="red")


def _show_suite(suite: SuiteOutcome) -> None:
    from eval_skills.engine.nightly.summary import gone_explanation
    from eval_skills.reporting import numbers
    from eval_skills.reporting.escape import visible_line
    from eval_skills.reporting.judging import judging_line
    from eval_skills.reporting.sections import forbidden_tool_alerts

    head = f"{suite.name}: {suite.benchmark_id or 'did not run'}"
    current().say(f"{head}, run {suite.run_id}" if suite.run_id else head, style="bold")
    for failure in suite.failures:
        current().say(f"  run failed: {failure}", style="red")
    for remark in suite.remarks:
        current().say(f"  note: {visible_line(remark)}", style="yellow")
    for skill in suite.skills:
        rate = numbers.rate(skill.report.summary.known_completion)
        style = {"regressed": "red", "suspect": "yellow", "flaky": "yellow", "failed": "red", "recovered": "green"}
        line = f"  {skill.report.skill_key}  {rate}  {skill.classification.verdict}: {skill.classification.explanation}"
        current().say(line, style=style.get(skill.classification.verdict, ""))
        if (judging := judging_line(skill.report)) is not None:
            current().say(f"  {judging}")
    for last in suite.gone:
        current().say(f"  {last.skill_key}  gone: {gone_explanation(last)}", style="red")
    if suite.effect is not None:
        _show_effect(suite.effect)
    for alert in forbidden_tool_alerts([skill.report for skill in suite.skills]):
        current().say(f"  FORBIDDEN TOOL: {alert.line}", style="bold red")
    for skill in suite.skills:
        if unknown := skill.report.summary.forbidden_unknown_items:
            items = plural(unknown, "item")
            current().say(f"  whether {skill.report.skill_key} called a forbidden tool is unknown in {items}", style="red")
