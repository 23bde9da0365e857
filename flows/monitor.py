"""Monitor: sample production interactions, judge them, and say when the skill's health changes."""

from dataclasses import replace
from pathlib import Path
from typing import cast
from uuid import NAMESPACE_URL, uuid5

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.events import emit_event
from prefect.runtime import flow_run
from prefect.states import Completed

from eval_skills.core.monitoring import StatusChange
from eval_skills.engine.monitor.batches import Batch
from eval_skills.engine.monitor.request import MonitorRequest
from eval_skills.engine.monitor.session import MonitorSession
from eval_skills.engine.monitor.summary import MonitorSummary, monitor_watcher
from eval_skills.flows.evaluate import name_flow_run
from eval_skills.tasks.rate_limits import keep_rate_limits
from eval_skills.tasks.runner import EventLoopTaskRunner, unwalked

EVENT = "eval-skills.monitor-status"


@flow(task_runner=EventLoopTaskRunner(), persist_result=False)
def monitor(request: MonitorRequest) -> MonitorSummary:
    """Judge a sample of all that is new in the log; with `follow`, of all that comes. What the skill did cannot fail it.

    Every change of the announced status is a Prefect event, ``eval-skills.monitor-status``.

    Raises:
        UserError: the log, the task or the store cannot be used, or no record of the log can.
    """
    with MonitorSession(request) as session:
        name_flow_run(f"{Path(request.log).name} · {session.run_id}")
        keep_rate_limits(session.task.scorings)
        for batch in session.batches():
            judge_batch(unwalked(batch), unwalked(session), str(batch))
        summary = replace(session.summary(), flow_runs=(str(flow_run.id),))
    return cast("MonitorSummary", Completed(message=summary.line, data=summary))


@task(task_run_name="{name}", persist_result=False, cache_policy=NO_CACHE)
def judge_batch(batch: Batch, session: MonitorSession, name: str) -> None:
    """Judge a batch and land its samples; see `MonitorSession.judge`.

    It returns nothing: Prefect remembers what the tasks of a flow return for as long as the flow runs.
    """

    def announce(change: StatusChange) -> None:
        emit_status(session, change)
        monitor_watcher().changed(change)

    session.judge(batch, announce)


def emit_status(session: MonitorSession, change: StatusChange) -> None:
    """Tell Prefect, and so its automations, of a change. Told twice of one change, Prefect knows it by its id."""
    figures = change.figures
    emit_event(
        event=EVENT,
        resource={
            "prefect.resource.id": f"eval-skills.monitor.{session.monitor_id}",
            "prefect.resource.name": Path(session.request.log).name,
            "eval-skills.status": change.after,
        },
        payload={
            "before": change.before,
            "after": change.after,
            "log": session.request.log,
            "skill": session.request.skill,
            "passRate": figures.pass_rate,
            "interval": figures.interval.to_json(),
            "meanScore": figures.mean_score,
            "samples": figures.size,
            "errors": figures.errors,
            "monitorId": session.monitor_id,
            "monitorRunId": session.run_id,
        },
        id=uuid5(NAMESPACE_URL, f"{EVENT}/{session.monitor_id}/{change.interaction_id}/{change.before}/{change.after}"),
    )
