"""Nightly: evaluate the suites, compare them with earlier nights, and report what changed, once it is confirmed."""

# No postponed annotations: a worker gets the flow by value, where only real types lead to the models of its parameters.

from collections.abc import Sequence
from typing import cast

from prefect import flow
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from eval_skills.core.metrics.tasks import count_tallies
from eval_skills.core.nightly.evidence import FreshRuns
from eval_skills.engine.nightly.evidence import SuiteEvidence, SuiteRun, suite_run
from eval_skills.engine.nightly.plan import NightPlan
from eval_skills.engine.nightly.request import NightlyRequest
from eval_skills.engine.nightly.summary import NightSummary, NoSuiteRan
from eval_skills.flows.evaluate import name_flow_run
from eval_skills.flows.suites import Asked, Evaluated, evaluate_all
from eval_skills.tasks.nightly import announce, compare_suites, conclude, open_night, prune, publish_suite
from eval_skills.tasks.runner import EventLoopTaskRunner, unwalked

STAGES = 4
"""Prefect task runs of every night besides those per suite: open_night, compare_suites, conclude, announce."""


@flow(task_runner=EventLoopTaskRunner(), persist_result=False)
def nightly(request: NightlyRequest) -> NightSummary:
    """Evaluate every suite as a subflow, compare, confirm what changed, record, publish, announce, and delete old items.

    The flow run fails only if no suite could run at all; a regression, or a single suite that could not run, is in its result.

    Raises:
        UserError: the file of suites, or the store, cannot be used.
        NoSuiteRan: no suite could run.
    """
    night = open_night(request)
    name_flow_run(f"night · {len(night.suites)} suites · {night.night_id}")
    evaluated = _evaluated(night, [Asked(night.evaluation(suite), suite.via) for suite in night.suites])
    evidence = compare_suites(unwalked(night), unwalked(_runs(night, evaluated)))
    fresh, confirming = _confirmed(night, evidence)
    summary: NightSummary = conclude(
        unwalked(night), unwalked(evidence), unwalked(fresh), _recorded([*evaluated, *confirming], request, len(night.suites))
    )
    for suite, history in zip(summary.suites, night.histories, strict=True):
        publish_suite.with_options(task_run_name=f"publish {suite.name}")(unwalked(suite), unwalked(history), summary.night_id)
    announce(unwalked(summary))
    if request.keep_days is not None:
        summary = prune(unwalked(night), unwalked(summary), request.keep_days)
    if summary.nothing_ran:
        return cast("NightSummary", Failed(message=summary.line, data=NoSuiteRan(summary)))
    return cast("NightSummary", Completed(message=summary.line, data=summary))


def _evaluated(night: NightPlan, asked: Sequence[Asked]) -> list[Evaluated]:
    return evaluate_all(asked, timeout_s=60.0 * night.request.via_timeout_minutes)


def _runs(night: NightPlan, evaluated: Sequence[Evaluated]) -> list[SuiteRun]:
    return [
        SuiteRun(suite=suite, failures=done.problems)
        if done.run_id is None
        else suite_run(suite, done.run_id, done.reports, done.problems)
        for suite, done in zip(night.suites, evaluated, strict=True)
    ]


def _confirmed(night: NightPlan, evidence: Sequence[SuiteEvidence]) -> tuple[dict[int, FreshRuns], list[Evaluated]]:
    """Fresh runs of every skill with tasks that changed, by the skill's position in the night."""
    skills = [
        (each, report, tasks)
        for each in evidence
        for report, tasks in zip(each.run.reports, (skill.moved() for skill in each.skills), strict=True)
    ]
    moved = {index: each for index, each in enumerate(skills) if each[2]}
    asked = [
        Asked(night.confirmation(of.run.suite, of.run.run_id or "", report, tasks), of.run.suite.via)
        for of, report, tasks in moved.values()
    ]
    done = _evaluated(night, asked)
    return {
        index: _fresh(of, report.skill_key, each) for (index, (of, report, _)), each in zip(moved.items(), done, strict=True)
    }, done


def _fresh(of: SuiteEvidence, skill_key: str, done: Evaluated) -> FreshRuns:
    run = suite_run(of.run.suite, done.run_id or "", [report for report in done.reports if report.skill_key == skill_key])
    if run.reports:
        return FreshRuns(tallies=count_tallies(run.reports[0].task_results), run_id=done.run_id)
    return FreshRuns(
        tallies=None, run_id=done.run_id, problem="; ".join([*done.problems, *run.failures]) or f"{skill_key} did not run"
    )


def _recorded(evaluated: Sequence[Evaluated], request: NightlyRequest, suites: int) -> tuple[tuple[str, ...], int]:
    """What Prefect should have recorded of the whole night."""
    flow_runs = [str(flow_run.id), *(name for each in evaluated for name in each.flow_runs)]
    return tuple(flow_runs), STAGES + suites + (request.keep_days is not None) + sum(each.task_runs for each in evaluated)
