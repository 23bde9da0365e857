"""Running the mapped items of a plan to their end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import cast
from uuid import UUID

import httpx
from prefect import unmapped
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.runtime import flow_run

from eval_skills.core.config.limits import LOCAL
from eval_skills.core.errors import RunError
from eval_skills.core.store import Journal
from eval_skills.engine.evaluation.executor import ItemExecutor, LocalExecutor
from eval_skills.engine.evaluation.observer import observed_runs
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.evaluation.resume import rest_of
from eval_skills.engine.evaluation.session import RunRef, RunSession
from eval_skills.tasks.evaluation import ItemBatch, evaluate_batch, evaluate_item, retry_delays
from eval_skills.tasks.rate_limits import apply_rate_limits
from eval_skills.tasks.runner import EventLoopTaskRunner, LoopFuture

PROGRESS_PERIOD_S = 1.0
PROGRESS_AFTER_S = 5.0


def run_items(plan: RunPlan) -> int:
    """Evaluate every item of `plan`; no single item can fail it. Returns how many were finished now.

    Raises:
        RunError: an item has no result although nothing stopped the run; what is done is kept.
    """
    observed_runs.observer.planned(plan)
    if not plan.items:
        return 0
    with open_session(plan) as session:
        rest = rest_of(plan) if plan.request.resume else plan
        futures = _map(rest)
        _wait(futures, rest, session)
        finished = rest.finished - plan.finished + session.counts.total()
        if finished < len(plan.items) and not session.stopped:
            raise RunError(_missing(futures, len(plan.items) - finished, plan))
    return finished


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
