"""A run without Prefect: the plan, journal, attempts, verdicts and store of every other run, on an event loop of its own.

It is what an assertion in somebody's own tests wants: no server, no flow run, the same result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any

from eval_skills.core.store import Journal, land, write_manifest
from eval_skills.engine.evaluation.asyncio_support import cancel_pending_tasks
from eval_skills.engine.evaluation.manifest import manifest_of
from eval_skills.engine.evaluation.observer import observed_runs
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.reports import landed_reports
from eval_skills.engine.evaluation.retries import ConcurrencySlot, current_slot, final_result
from eval_skills.engine.evaluation.session import RunSession
from eval_skills.engine.evaluation.summary import RunSummary, summary_of
from eval_skills.engine.judging.outcome import check_judges_ready


def evaluate_in_process(plan: RunPlan) -> RunSummary:
    """Evaluate every item of a new plan and land the results; no single item can fail it. Works below a running event loop, too.

    Items are executed in this process, `concurrency` at a time, and all of them: `failFast`, `taskRunner` and `itemsPerTask` are
    about Prefect's task runs and change nothing here. Interrupted, it stops what runs and keeps the journal, for a resume.

    Raises:
        UsageError: a judging model cannot be asked; nothing has been called.
        RunError: the results cannot be written, or a judging model cannot be reached.
    """
    began = monotonic()
    plan.remarks.extend(check_judges_ready(plan.scorings))
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan), secrets=plan.secrets())
    with Journal(plan.store.journal_path(plan.run_id), secrets=plan.secrets()) as journal:
        _on_own_loop(_evaluate(plan, journal))
    land(plan.store, plan.run_id)
    return summary_of(plan, landed_reports(plan), plan.planned, monotonic() - began)


async def _evaluate(plan: RunPlan, journal: Journal) -> None:
    places = asyncio.Semaphore(plan.request.concurrency)
    async with RunSession(plan, journal, observed_runs.observer) as session:
        items = [asyncio.ensure_future(_evaluate_item(session, item, places)) for item in plan.items]
        try:
            await asyncio.gather(*items)
        finally:
            for item in items:
                item.cancel()
            await asyncio.gather(*items, return_exceptions=True)


async def _evaluate_item(session: RunSession, item: Item, places: asyncio.Semaphore) -> None:
    slot = ConcurrencySlot(places)
    current_slot.set(slot)
    try:
        await final_result(session, item, session.plan.request.retries)
    finally:
        slot.give_back()


def _on_own_loop(work: Coroutine[Any, Any, None]) -> None:
    """Do `work` on a loop of its own thread; whatever interrupts the wait cancels it, and waits until it has cleaned up."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    with ThreadPoolExecutor(1, thread_name_prefix="eval-skills-loop") as thread:
        done = thread.submit(_complete, loop, task)
        try:
            done.result()
        except BaseException:
            if not done.done():
                loop.call_soon_threadsafe(task.cancel)
            raise


def _complete(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    try:
        loop.run_until_complete(task)
    finally:
        loop.run_until_complete(cancel_pending_tasks())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
