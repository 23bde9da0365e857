"""The attempts of one item where Prefect does not make them, and the place in the run's concurrency that they take."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar

from eval_skills.core.errors import ItemLeft
from eval_skills.core.models import ItemResult
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.plan import Item
from eval_skills.engine.evaluation.session import RunSession


async def final_result(
    session: RunSession, item: Item, retries: int, *, attempt: int = 0, task_run_id: str | None = None
) -> ItemResult | None:
    """Attempt `item` until it has a result that is final, with at most `retries` further attempts; None: it is left for a resume.

    The caller's slot, if it has one, is held while the skill works and free while the item waits. The first `attempt` attempts
    have failed already.
    """
    while True:
        attempt += 1
        outcome = await attempt_in_turn(session, item, last=attempt > retries, task_run_id=task_run_id)
        if outcome is None:
            return None
        if not outcome.transient or attempt > retries:
            return outcome.result
        give_back_slot()
        await asyncio.sleep(delay_s(attempt))


async def final_results(
    session: RunSession, items: Sequence[Item], retries: int, task_run_id: str | None = None
) -> list[ItemResult]:
    """The final results of the first of `items`, in their order: of as many as were attempted in one go, and of one at least,
    unless the run ended and leaves it for a resume.

    Each has at most `retries` further attempts. Slots as in `final_result`.
    """
    if not await _turn(session, items[0]):
        return []
    try:
        outcomes = await session.attempt_some(items, last=retries == 0, task_run_id=task_run_id)
    except ItemLeft:
        return []
    results, last = [outcome.result for outcome in outcomes], outcomes[-1]
    is_refused = last.throttled is not None
    if not is_refused and (not last.transient or not retries):
        return results
    if not is_refused:
        give_back_slot()
        await asyncio.sleep(delay_s(1))
    final = await final_result(session, items[len(results) - 1], retries, attempt=0 if is_refused else 1, task_run_id=task_run_id)
    return [*results[:-1], *([] if final is None else [final])]


async def attempt_in_turn(session: RunSession, item: Item, *, last: bool, task_run_id: str | None = None) -> Outcome | None:
    """One attempt at `item`, as soon as its service may be asked, and asked again as long as that only says to ask less often.

    None: the run ended before; the item is left for a resume.
    """
    while await _turn(session, item):
        try:
            outcome = await session.attempt(item, last=last, task_run_id=task_run_id)
        except ItemLeft:
            return None
        if outcome.throttled is None:
            return outcome
    return None


async def _turn(session: RunSession, item: Item) -> bool:
    """Wait until `item` may be attempted; whether it may, as the run goes on."""
    if session.lets_others_go_first(item):
        give_back_slot()
    await session.not_before(item)
    await take_slot()
    return session.may_attempt(item)


JITTER = 0.25
"""The share by which a delay is lengthened or shortened at random, so that items do not return at the same time."""
_own = random.Random()  # noqa: S311 - spreads load, guards nothing; the program's own generator is left to it and its skills


def delay_s(attempt: int) -> float:
    """Seconds before the attempt after `attempt` (from 1): 1, 2, 3 …, each with jitter."""
    return attempt * _own.uniform(1 - JITTER, 1 + JITTER)


async def _at_once() -> None:
    """For a run that nobody can pause."""


class ConcurrencySlot:
    """An item's claim on the run's semaphore; taking twice or giving back twice does nothing.

    `may_begin` returns as soon as an attempt may begin, which it may not while the run is paused. `is_working` says whether one
    may be under way.
    """

    def __init__(self, semaphore: asyncio.Semaphore, may_begin: Callable[[], Awaitable[object]] = _at_once) -> None:
        self._semaphore, self._may_begin, self._held = semaphore, may_begin, False
        self.is_working = False

    async def take(self) -> None:
        """Wait for a free place, unless one is held, and until an attempt may begin."""
        if not self._held:
            await self._semaphore.acquire()
            self._held = True
        self.is_working = False
        await self._may_begin()
        self.is_working = True

    def give_back(self) -> None:
        """Free the place for others, for instance before a wait."""
        self.is_working = False
        if self._held:
            self._held = False
            self._semaphore.release()


current_slot: ContextVar[ConcurrencySlot | None] = ContextVar("eval_skills_slot", default=None)
"""The slot of the running item; None where nothing limits the concurrency."""


async def take_slot() -> None:
    """Take the current item's slot again, where it has one."""
    if (slot := current_slot.get()) is not None:
        await slot.take()


def give_back_slot() -> None:
    """Give the current item's slot back, where it has one."""
    if (slot := current_slot.get()) is not None:
        slot.give_back()
