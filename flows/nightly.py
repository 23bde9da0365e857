"""Nightly: evaluate the suites, compare them with earlier nights, and report what changed, once it is confirmed."""

# No postponed annotations: a worker gets the flow by value, where only real types lead to the models of its parameters.

from collections.abc import Sequence
from functools import partial
from typing import cast

from prefect import flow
from prefect.runtime import flow_run
from prefect.states import Failed

from eval_skills.core.text import plural
from eval_skills.engine.nightly.execution import Evaluated, asked_of, confirmed, runs_of
from eval_skills.engine.nightly.interruption import held
from eval_skills.engine.nightly.plan import NightPlan
from eval_skills.engine.nightly.request import NightlyRequest
from eval_skills.engine.nightly.summary import NightSummary, NoSuiteRan
from eval_skills.flows.lost_api import flow_result
from eval_skills.flows.suites import evaluate_all
from eval_skills.tasks.flow_runs import describe_flow_run, not_planned
from eval_skills.tasks.nightly import (
    announce,
    compare_suites,
    conclude,
    log_night,
    open_night,
    prune,
    publish_suite,
    record_night,
)
from eval_skills.tasks.pauses import run_ended_parts_again
from eval_skills.tasks.runner import EventLoopTaskRunner, returned, unwalked, unwrap

STAGES = 5
"""Prefect task runs of every night besides those per suite: open_night, compare_suites, conclude, announce, record_night."""


@flow(task_runner=EventLoopTaskRunner(), persist_result=False, on_completion=[unwrap])
def nightly(request: NightlyRequest) -> NightSummary:
    """Evaluate every suite as a subflow, compare, confirm what changed, publish, announce, record, and delete old items.

    The flow run fails only if no suite could run at all; a regression, or a single suite that could not run, is in its result.

    Raises:
        UserError: the file of suites, or the store, cannot be used.
        NoSuiteRan: no suite could run.
    """
    run_ended_parts_again()
    with not_planned("night"):
        night = open_night(request)
    describe_flow_run(f"night · {plural(len(night.suites), 'suite')} · {night.night_id}")
    with held(night.store, night.night_id):
        summary = _night(request, night)
    if summary.nothing_ran:
        return cast("NightSummary", Failed(message=summary.line, data=NoSuiteRan(summary)))
    return returned(summary.line, summary)


def _night(request: NightlyRequest, night: NightPlan) -> NightSummary:
    """The night, from its evaluations until it is recorded."""
    evaluate = partial(evaluate_all, timeout_s=60.0 * request.via_timeout_minutes)
    evaluated = evaluate(asked_of(night))
    evidence = compare_suites(unwalked(night), unwalked(runs_of(night, evaluated)))
    fresh, confirming = confirmed(night, evidence, evaluate)
    summary: NightSummary = conclude(
        unwalked(night), unwalked(evidence), unwalked(fresh), _recorded([*evaluated, *confirming], request, len(night.suites))
    )
    for suite, history in zip(summary.suites, night.histories, strict=True):
        publish_suite.with_options(task_run_name=f"publish {suite.name}")(unwalked(suite), unwalked(history), summary.night_id)
    announce(unwalked(summary))
    record_night(unwalked(night), unwalked(summary))
    flow_result.observer.keep(summary)
    log_night(summary, request.options.secrets)
    if request.keep_days is not None:
        summary = flow_result.observer.keep(prune(unwalked(night), unwalked(summary), request.keep_days))
    return summary


def _recorded(evaluated: Sequence[Evaluated], request: NightlyRequest, suites: int) -> tuple[tuple[str, ...], int]:
    """What Prefect should have recorded of the whole night."""
    flow_runs = [str(flow_run.id), *(name for each in evaluated for name in each.flow_runs)]
    return tuple(flow_runs), STAGES + suites + (request.keep_days is not None) + sum(each.task_runs for each in evaluated)
