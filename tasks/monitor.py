"""The Prefect task that judges a batch of samples, and the event of a changed status."""

from __future__ import annotations

import logging
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.events import emit_event

from eval_skills.core.monitoring import StatusChange
from eval_skills.core.text import plural
from eval_skills.engine.monitor.batches import Batch
from eval_skills.engine.monitor.session import MonitorSession
from eval_skills.engine.monitor.summary import observed_monitors
from eval_skills.reporting import numbers
from eval_skills.tasks.run_log import FlowRunLog

EVENT = "eval-skills.monitor-status"


@task(task_run_name="{name}", persist_result=False, cache_policy=NO_CACHE)
def judge_batch(batch: Batch, session: MonitorSession, name: str) -> None:
    """Judge a batch and land its samples; see `MonitorSession.judge`.

    It returns nothing: Prefect keeps what the tasks of a flow return for as long as the flow runs.
    """

    log = FlowRunLog()

    def announce(change: StatusChange) -> None:
        emit_status(session, change)
        log.say(_words(change), logging.WARNING if change.after in ("warning", "critical") else logging.INFO)
        observed_monitors.observer.changed(change)

    session.judge(batch, announce)


def _words(change: StatusChange) -> str:
    rate = "" if change.figures.pass_rate is None else f"; {numbers.rate(change.figures.pass_rate)} pass"
    return f"Status: {change.before} to {change.after}{rate}, of {plural(change.figures.size, 'sample')}"


def emit_status(session: MonitorSession, change: StatusChange) -> None:
    """Emit the event of a change, for automations. Emitted twice for one change, it has the same id."""
    figures = change.figures
    what = f"{change.interaction_id}/{change.content}/{change.before}/{change.after}"
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
        id=uuid5(NAMESPACE_URL, f"{EVENT}/{session.monitor_id}/{what}"),
    )
