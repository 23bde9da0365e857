"""Evaluate: every skill × task × run, landed, aggregated and reported. The core of all other flows."""

# Annotations are objects here, not texts: a served flow reaches its process by value, without the names of this module.

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import cast
from uuid import UUID

import httpx
from prefect import flow, unmapped
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.client.orchestration import get_client
from prefect.runtime import flow_run
from prefect.states import Completed

from eval_skills.core.config.limits import LOCAL
from eval_skills.core.errors import RunError
from eval_skills.core.store import Journal
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.execution import ItemExecutor, LocalExecutor
from eval_skills.engine.evaluation.observer import observed_runs
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.evaluation.resume import rest_of
from eval_skills.engine.evaluation.rounds import Rounds
from eval_skills.engine.evaluation.session import RunRef, RunSession
from eval_skills.engine.evaluation.summary import RunSummary, context_of, partial_reports, summary_of
from eval_skills.reporting import write_rendered
from eval_skills.tasks.evaluation import (
    ItemBatch,
    aggregate,
    evaluate_batch,
    evaluate_item,
    land_results,
    plan_items,
    retry_delays,
)
from eval_skills.tasks.rate_limits import apply_rate_limits
from eval_skills.tasks.report import publish_artifacts, render_report
from eval_skills.tasks.runner import EventLoopTaskRunner, LoopFuture, unwalked

STAGES = 3
"""Prefect task runs besides the mapped ones: plan_items, land_results, aggregate."""


@flow(task_runner=EventLoopTaskRunner(), persist_result=False)
def evaluate(request: EvaluateRequest) -> RunSummary:
    """Evaluate every item of the request and land the results; no single item can fail it.

    Raises:
        UserError: the request cannot be run.
        RunError: items are missing at the end; `resume` continues the run.
    """
    began = monotonic()
    plan = plan_items(request)
    name_flow_run(f"{plan.benchmark.id} · {len(plan.skills)} skills · {plan.run_id}")
    plan, finished = run_items(plan)
    if finished == plan.planned:
        land_results(unwalked(plan))
        reports = aggregate(unwalked(plan))
    else:
        reports = partial_reports(plan)
    summary = replace(
        summary_of(plan, reports, finished, monotonic() - began),
        flow_runs=(str(flow_run.id),),
        task_runs=task_run_count(plan) + STAGES,
    )
    if plan.request.format:
        summary = write_reports(summary, plan.request.format, Path(plan.request.output_dir))
    # Prefect returns the data of this state to the caller, and shows its message in the UI.
    return cast("RunSummary", Completed(message=summary.line, data=summary))


def name_flow_run(name: str) -> None:
    """Give the current flow run a readable name; it is known only after planning."""
    with get_client(sync_client=True) as client:
        client.set_flow_run_name(UUID(flow_run.id), name)


def write_reports(summary: RunSummary, formats: list[str], folder: Path) -> RunSummary:
    """Render each format in a mapped Prefect task run, write the files, publish artifacts; returns the summary with the files."""
    context = context_of(summary)
    distinct = list(dict.fromkeys(formats))
    rendered = render_report.map(distinct, reports=unmapped(summary.reports), context=unmapped(context)).result()
    files = write_rendered(dict(zip(distinct, rendered, strict=True)), folder, context)
    publish_artifacts(unwalked(summary.reports), unwalked(context), summary.benchmark.id)
    return replace(summary, report_files=files, task_runs=summary.task_runs + len(distinct) + 1)


PROGRESS_PERIOD_S = 1.0
PROGRESS_AFTER_S = 5.0


def run_items(plan: RunPlan) -> tuple[RunPlan, int]:
    """Evaluate every item of `plan`; no single item can fail it.

    Returns the plan, without the items that a comparison that is decided did not need, and how many of its items are finished.

    Raises:
        RunError: an item has no result although nothing stopped the run; what is done is kept.
    """
    observed_runs.observer.planned(plan)
    if not plan.items and plan.baseline is None:
        return plan, plan.finished
    with open_session(plan) as session:
        rest = rest_of(plan) if plan.request.resume else plan
        rounds = Rounds(rest)
        while not session.stopped and (items := rounds.next()):
            futures = _map(replace(rest, items=items))
            _wait(futures, rest, session)
            missing = len(rounds.begun) - session.counts.total()
            if missing and not session.stopped:
                raise RunError(_missing(futures, missing, rest))
    return rest if session.stopped else rounds.settled(), rest.finished + session.counts.total()


@contextmanager
def open_session(plan: RunPlan) -> Iterator[RunSession]:
    """The session of the run, open on the flow's event loop."""
    runner = EventLoopTaskRunner.current()
    runner.limit(plan.request.concurrency)
    apply_rate_limits(plan.scorings)
    with Journal(plan.store.journal_path(plan.run_id), secrets=plan.secrets()) as journal:
        session = RunSession(plan, journal, observed_runs.observer, flow_run.id, _executor(plan))
        with runner.holding(session):
            yield session


def _executor(plan: RunPlan) -> ItemExecutor:
    if plan.request.task_runner == LOCAL:
        return LocalExecutor(plan)
    from eval_skills.engine.evaluation.dask.cluster import DaskExecutor  # an extra, and a second to import

    return DaskExecutor(plan)


def task_run_count(plan: RunPlan) -> int:
    """How many mapped Prefect task runs the plan's items make."""
    return -(-len(plan.items) // plan.request.items_per_task)


def _map(plan: RunPlan) -> Sequence[LoopFuture]:
    run, retries, size = unmapped(RunRef(plan.run_id)), plan.request.retries, plan.request.items_per_task
    if size == 1:
        single = evaluate_item.with_options(**retry_delays(retries))
        return cast("Sequence[LoopFuture]", single.map(plan.items, run=run, retries=unmapped(retries)))
    batches = [ItemBatch(tuple(plan.items[start : start + size])) for start in range(0, len(plan.items), size)]
    return cast("Sequence[LoopFuture]", evaluate_batch.map(batches, run=run, retries=unmapped(retries)))


def _wait(futures: Sequence[LoopFuture], plan: RunPlan, session: RunSession) -> None:
    progress = _Progress(plan, session)
    for future in futures:
        future.wait(timeout=PROGRESS_PERIOD_S)
        while not future.is_done:
            progress.show()
            future.wait(timeout=PROGRESS_PERIOD_S)
        future.wait()
        progress.show()


class _Progress:
    """The progress artifact of a run that takes longer than `PROGRESS_AFTER_S`, updated at most once a second."""

    def __init__(self, plan: RunPlan, session: RunSession) -> None:
        self._plan, self._session = plan, session
        self._artifact: UUID | None = None
        self._shown_at = monotonic() + PROGRESS_AFTER_S - PROGRESS_PERIOD_S

    def show(self) -> None:
        if monotonic() - self._shown_at < PROGRESS_PERIOD_S:
            return
        percent = 100 * (self._plan.finished + self._session.counts.total()) / self._plan.planned
        try:
            self._write(percent)
            self._shown_at = monotonic()
        except httpx.HTTPError:  # a server that is busy or gone must not end the run: no artifact, then
            self._shown_at = math.inf

    def _write(self, percent: float) -> None:
        if self._artifact is None:
            key = f"eval-skills-progress-{self._plan.benchmark.id}".replace("_", "-")
            self._artifact = cast("UUID", create_progress_artifact(percent, key=key, description=f"Run {self._plan.run_id}"))
        else:
            update_progress_artifact(self._artifact, percent)


def _missing(futures: Sequence[LoopFuture], count: int, plan: RunPlan) -> str:
    states = [future.state for future in futures if not future.state.is_completed()]
    cause = next((state.message for state in states if state.message), "their task runs did not end")
    return f"{count} of {plan.planned} items have no result ({cause}); continue with --resume {plan.run_id}"
