"""Backfill: a past time rebuilt period by period, each in its own flow run, and compared with the one before."""

import logging
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import Any

from prefect import flow
from prefect.artifacts import create_table_artifact

from eval_skills.core.redaction import Redaction, values_of_variables
from eval_skills.core.text import plural, skill_key_of
from eval_skills.engine.backfill.backfill import BackfillSession
from eval_skills.engine.backfill.comparison import PeriodOutcome
from eval_skills.engine.backfill.periods import PeriodWork
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.backfill.summary import BackfillSummary, backfill_summary
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import plan_for
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.flows.evaluate import evaluate
from eval_skills.flows.lost_api import Recording, flow_result
from eval_skills.reporting import numbers
from eval_skills.tasks.flow_runs import Caller, called_by, describe_flow_run, not_planned
from eval_skills.tasks.pauses import Gate, PauseWatch, run_ended_parts_again
from eval_skills.tasks.run_log import FlowRunLog
from eval_skills.tasks.runner import returned, unwrap

MAX_ARTIFACT_ROWS = 1_000


@flow(persist_result=False, on_completion=[unwrap])
def backfill(request: BackfillRequest) -> BackfillSummary:
    """Rebuild every period of the request that is not up to date.

    A period lands whole or not at all; the same call again continues where the last one ended. Where Prefect's API is lost, the
    rest is done without it.

    Raises:
        UserError: the request cannot be carried out.
        RunError: the evaluation of a revision could not finish.
    """
    run_ended_parts_again()
    recording = Recording()

    def evaluated(asked: EvaluateRequest) -> RunSummary:
        if recording.lost is None:
            with called_by.by(Caller("backfill")):
                return evaluate(asked)
        return evaluate_in_process(plan_for(asked))

    def carried_out(work: PeriodWork) -> PeriodOutcome:
        outcome: PeriodOutcome = recording.step(lambda: _in_a_flow_run_of_its_own(session, work), lambda: session.carry_out(work))
        return outcome

    with ExitStack() as begun:
        with not_planned(f"backfill {request.mode}"):
            session = begun.enter_context(BackfillSession.begin(request, evaluated))
        plan = session.plan
        describe_flow_run(f"backfill {request.mode} · {plural(len(plan.works), 'period')}")
        gate, outcomes, log = Gate(), dict[str, PeriodOutcome](), _log(request)
        # the evaluations of a replay look for themselves whether they are paused, between two items
        with nullcontext() if request.mode == "replay" else PauseWatch(gate):
            for work in session.pending():
                gate.wait_until_open()
                outcomes[work.digest] = carried_out(work)
                log.say(f"{work.period.name}: {_message(outcomes[work.digest])}")
    summary = backfill_summary(plan, outcomes)
    recording.step(lambda: _publish(summary), lambda: None)
    summary = flow_result.observer.keep(replace(summary, unrecorded=recording.lost))
    return returned(summary.line, summary)


def _log(request: BackfillRequest) -> FlowRunLog:
    return FlowRunLog(Redaction(values_of_variables(request.secrets)))


def _in_a_flow_run_of_its_own(session: BackfillSession, work: PeriodWork) -> PeriodOutcome:
    @flow(name="backfill-period", flow_run_name="{period}", persist_result=False, on_completion=[unwrap])
    def carry_out(period: str, mode: str, sources: list[str]) -> PeriodOutcome:
        with called_by.by(Caller("backfill")):
            describe_flow_run(period)
        outcome = session.carry_out(work)
        _log(session.plan.request).say_all(outcome.remarks, "remark", logging.WARNING)
        return returned(_message(outcome), outcome)

    return carry_out(work.period.name, session.plan.request.mode, [source.name for source in work.sources])


def _message(outcome: PeriodOutcome) -> str:
    known = [row for row in outcome.rows if row.get("skill_id")]
    if not known:
        return str(outcome.rows[0]["explanation"])
    return ", ".join(
        f"{row['skill_id']} {numbers.rate(row['completion_rate'])} {row.get('verdict') or ''}".strip() for row in known
    )


def _publish(summary: BackfillSummary) -> None:
    """The comparisons as an artifact whose key stays the same from backfill to backfill of a mode."""
    create_table_artifact(
        key=f"eval-skills-backfill-{summary.request.mode}",
        table=[_cells(row) for row in summary.rows[-MAX_ARTIFACT_ROWS:]],
        description=summary.line,
    )


def _cells(row: dict[str, Any]) -> dict[str, str]:
    known = bool(row.get("skill_id"))
    return {
        "period": row["period"],
        "skill": skill_key_of(row) if known else numbers.UNKNOWN,
        "benchmark": row["benchmark_id"] if known else numbers.UNKNOWN,
        "completion": numbers.rate(row.get("completion_rate")),
        "p": numbers.p_value(row.get("adjusted_p")),
        "verdict": row.get("verdict") or numbers.UNKNOWN,
        "why": row.get("explanation") or "",
    }
