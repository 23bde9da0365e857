"""An evaluation in this process, without Prefect: same plan, journal, attempts, verdicts and store, no server, no flow run."""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic

from eval_skills.core.store import Journal, land
from eval_skills.engine.evaluation.asyncio_support import run_on_own_loop
from eval_skills.engine.evaluation.observer import observed_runs
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.resume import rest_of
from eval_skills.engine.evaluation.retries import ConcurrencySlot, current_slot, final_result
from eval_skills.engine.evaluation.rounds import Ran, Rounds, record_decisions
from eval_skills.engine.evaluation.session import RunSession, begin_run, journal_of
from eval_skills.engine.evaluation.spending import record_stop
from eval_skills.engine.evaluation.summary import RunSummary, landed_reports, partial_reports, share_run, summary_of


def evaluate_in_process(plan: RunPlan, began: float | None = None) -> RunSummary:
    """`evaluate_here` on an event loop in a thread of its own, so that it also works inside a running event loop."""
    return run_on_own_loop(evaluate_here(plan, began))


async def evaluate_here(plan: RunPlan, began: float | None = None) -> RunSummary:
    """Evaluate every item of a plan, new or resumed, and land the results; no single item can fail it.

    All items are executed on the running event loop, `concurrency` at a time: `taskRunner` and `itemsPerTask` are for Prefect
    task runs and change nothing here. Interrupted, it stops what runs and keeps the journal, for a resume. So does a limit of
    the run, with reports of what is done. The duration counts from when the run `began` (`time.monotonic`; None: now).

    Raises:
        UsageError: a judging model cannot be asked; no skill has been called.
        RunError: the results cannot be written, or a judging model cannot be reached.
    """
    since = monotonic() if began is None else began
    plan.remarks.extend(await asyncio.to_thread(begin_run, plan))
    with journal_of(plan) as journal:
        # Another process may have gone on with the run while this one was planned.
        rest = await asyncio.to_thread(rest_of, plan) if plan.request.resume else plan
        ran = await _evaluate(rest, journal, began)
    return await asyncio.to_thread(_landed if ran.is_whole else _left, ran, since)


def _landed(ran: Ran, began: float) -> RunSummary:
    plan = ran.plan
    record_decisions(plan)
    observed_runs.observer.landing(plan)
    land(plan.store, plan.run_id, going_on=plan.going_on)
    observed_runs.observer.computing(plan)
    reports = landed_reports(plan)
    if (problem := share_run(plan)) is not None:
        raise problem
    return summary_of(plan, reports, plan.planned, monotonic() - began)


def _left(ran: Ran, began: float) -> RunSummary:
    record_stop(ran.plan, ran.stopped)
    return summary_of(ran.plan, partial_reports(ran.plan), ran.finished, monotonic() - began, ran.stopped)


async def _evaluate(plan: RunPlan, journal: Journal, began: float | None) -> Ran:
    """Evaluate the plan's items, unless one of its limits leaves some of them for a resume."""
    places, rounds = asyncio.Semaphore(plan.request.concurrency), Rounds(plan)
    is_cut = False
    async with RunSession(plan, journal, observed_runs.observer, began=began) as session:
        while not is_cut and (items := await asyncio.to_thread(rounds.next)):
            await _evaluate_round(session, items, places)
            is_cut = session.counts.total() < len(rounds.begun)
    done = plan.finished + session.counts.total()
    return Ran(plan, done, session.stopped_at) if is_cut else Ran(rounds.settled(), done)


async def _evaluate_round(session: RunSession, items: list[Item], places: asyncio.Semaphore) -> None:
    """Begin each item when there is a place for it: as many are in memory as are called, or wait for their next attempt."""
    running, ended = set[asyncio.Task[None]](), deque[asyncio.Task[None]]()
    try:
        for item in items:
            slot = ConcurrencySlot(places)
            await slot.take()
            _raise_first(ended)
            if session.stopped:
                slot.give_back()
                break
            begun = asyncio.create_task(_evaluate_item(session, item, slot))
            running.add(begun)
            begun.add_done_callback(running.discard)
            begun.add_done_callback(ended.append)
        await asyncio.gather(*running)
        _raise_first(ended)
    finally:
        for begun in running:
            begun.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _raise_first(ended: deque[asyncio.Task[None]]) -> None:
    """Forget the items that have ended; what one of them raised ends the run."""
    while ended:
        ended.popleft().result()


async def _evaluate_item(session: RunSession, item: Item, slot: ConcurrencySlot) -> None:
    current_slot.set(slot)
    try:
        await final_result(session, item, session.plan.request.retries)
    finally:
        slot.give_back()
