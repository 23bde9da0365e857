"""The attempts of one item up to its final result, where Prefect does not make them. Plain: no Prefect."""

from __future__ import annotations

import asyncio

from eval_skills.core.models import ItemResult
from eval_skills.tasks.plan import Item
from eval_skills.tasks.retry import delay_s
from eval_skills.tasks.session import RunSession
from eval_skills.tasks.slot import give_back_slot, take_slot


async def final_result(session: RunSession, item: Item, retries: int, task_run_id: str | None = None) -> ItemResult:
    """Attempt `item` until it has a result that no other attempt can mend, at most `retries` times again.

    The slot of the caller, where it has one, is held while the skill works, and free while the item waits.
    """
    attempt = 0
    while True:
        attempt += 1
        await session.not_before(item)
        await take_slot()
        outcome = await session.attempt(item, last=attempt > retries, task_run_id=task_run_id)
        if not outcome.transient or attempt > retries:
            return outcome.result
        give_back_slot()
        await asyncio.sleep(delay_s(attempt))
