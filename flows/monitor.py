"""Monitor: sample production interactions, judge them, and report when the skill's health changes."""

from dataclasses import replace
from pathlib import Path

from prefect import flow
from prefect.runtime import flow_run

from eval_skills.engine.monitor.batches import Batch
from eval_skills.engine.monitor.request import MonitorRequest
from eval_skills.engine.monitor.session import MonitorSession
from eval_skills.engine.monitor.summary import MonitorSummary, observed_monitors
from eval_skills.flows.lost_api import Recording, flow_result
from eval_skills.tasks.flow_runs import describe_flow_run, not_planned
from eval_skills.tasks.monitor import judge_batch
from eval_skills.tasks.pauses import Gate, PauseWatch
from eval_skills.tasks.rate_limits import apply_rate_limits
from eval_skills.tasks.runner import EventLoopTaskRunner, returned, unwalked, unwrap


@flow(task_runner=EventLoopTaskRunner(), persist_result=False, on_completion=[unwrap])
def monitor(request: MonitorRequest) -> MonitorSummary:
    """Judge a sample of everything new in the log; with `follow`, also of what arrives later. No answer of the skill can fail it.

    Every change of the announced status is a Prefect event, ``eval-skills.monitor-status``. Where Prefect's API is lost, the rest
    is judged without it, and raises no event.

    Raises:
        UserError: the log, the task or the store cannot be used, or no record of the log can.
    """
    recording = Recording()
    with not_planned(Path(request.log).name):
        made = MonitorSession(request)
    with made as session:

        def judge(batch: Batch) -> None:
            recording.step(
                lambda: judge_batch(unwalked(batch), unwalked(session), str(batch)),
                lambda: session.judge(batch, observed_monitors.observer.changed),
            )

        describe_flow_run(
            f"{Path(request.log).name} · {session.run_id}", skills=[request.skill.partition("@")[0]] if request.skill else []
        )
        apply_rate_limits(session.task.scorings)
        gate = Gate()
        with PauseWatch(gate):
            for batch in session.batches(wait=gate.rest):
                gate.wait_until_open()
                judge(batch)
        summary = replace(session.summary(), flow_runs=(str(flow_run.id),), unrecorded=recording.lost)
    return returned(summary.line, flow_result.observer.keep(summary))
