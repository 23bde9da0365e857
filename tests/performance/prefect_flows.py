"""The flows that are compared: this project's own ways, and Prefect's bare cost beside them. Imports Prefect."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture
from prefect.runtime import flow_run
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from eval_skills.core.store import Journal
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.session import RunRef, RunSession
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.flows import evaluate, run_here
from eval_skills.flows.evaluate import run_items
from eval_skills.tasks.evaluation import evaluate_item, retry_delays
from eval_skills.tasks.runner import EventLoopTaskRunner


@dataclass(frozen=True, slots=True)
class Timed:
    """What a flow run took, in s, and which one it was."""

    seconds: float
    flow_run: str


def mapped(plan: RunPlan) -> Timed:
    """The plan's items through `.map` and the project's own task runner, as `evaluate` does it."""

    @flow(task_runner=EventLoopTaskRunner(), persist_result=False)
    def through_map() -> Timed:
        began = perf_counter()
        finished = run_items(plan).finished
        return Timed(_checked(perf_counter() - began, finished, len(plan.items)), str(flow_run.id))

    return through_map()


def awaited(plan: RunPlan) -> Timed:
    """The same Prefect task awaited for every item under `asyncio.gather`, as many at a time, on the flow's own loop."""

    @flow(persist_result=False)
    async def through_gather() -> Timed:
        began = perf_counter()
        with Journal(plan.store.journal_path(plan.run_id)) as journal:
            async with RunSession(plan, journal, NullObserver()) as session:
                await _gather(plan)
                finished = session.counts["pass"]
        return Timed(_checked(perf_counter() - began, finished, len(plan.items)), str(flow_run.id))

    return asyncio.run(through_gather())


def idle(task_runs: int, concurrency: int = 4) -> Timed:
    """Prefect's own cost: a flow run with so many task runs that do nothing, from call to return."""

    @flow(persist_result=False)
    async def nothing_flow() -> str:
        limit = asyncio.Semaphore(concurrency)

        async def one(number: int) -> None:
            async with limit:
                await nothing(number)

        await asyncio.gather(*(one(number) for number in range(task_runs)))
        return str(flow_run.id)

    began = perf_counter()
    identifier = asyncio.run(nothing_flow())
    return Timed(perf_counter() - began, identifier)


def bare_map(task_runs: int, concurrency: int = 4) -> Timed:
    """Prefect's own map: a flow run with so many mapped task runs that do nothing, in its pool of threads, call to return."""
    pool = cast("TaskRunner[PrefectFuture[Any]]", ThreadPoolTaskRunner(max_workers=concurrency))

    @flow(task_runner=pool, persist_result=False)
    def nothing_mapped() -> str:
        nothing_in_thread.map(range(task_runs)).wait()
        return str(flow_run.id)

    began = perf_counter()
    identifier = nothing_mapped()
    return Timed(perf_counter() - began, identifier)


def evaluated(request: EvaluateRequest) -> tuple[RunSummary, float]:
    """The whole `evaluate` flow with its duration in s, from call to return.

    Raises:
        RuntimeError: an item did not pass; the figure would speak of something else.
    """
    began = perf_counter()
    summary: RunSummary = run_here(evaluate, request)
    duration = perf_counter() - began
    passed = sum(report.summary.counts.passed for report in summary.reports if report.summary.counts is not None)
    return summary, _checked(duration, passed, summary.planned)


@task(persist_result=False, cache_policy=NO_CACHE)
async def nothing(number: int) -> None:
    """A Prefect task that does nothing."""


@task(persist_result=False, cache_policy=NO_CACHE)
def nothing_in_thread(number: int) -> None:
    """The same as a function that Prefect calls in a thread: its pool is much slower with coroutines."""


async def _gather(plan: RunPlan) -> None:
    limit, run = asyncio.Semaphore(plan.request.concurrency), RunRef(plan.run_id)
    single = evaluate_item.with_options(**retry_delays(0))

    async def one(item: Item) -> None:
        async with limit:
            await single(item, run)

    await asyncio.gather(*(one(item) for item in plan.items))


def _checked(duration: float, done: int, planned: int) -> float:
    if done != planned:
        raise RuntimeError(f"{done} of {planned} items passed; the figure would speak of something else")
    return duration
