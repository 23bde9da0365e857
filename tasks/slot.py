"""A place in the run's concurrency that is not held while nothing happens."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar


class Slot:
    """One Prefect task run's claim on the runner's semaphore; taking twice or giving back twice does nothing."""

    def __init__(self, semaphore: asyncio.Semaphore) -> None:
        self._semaphore, self._held = semaphore, False

    async def take(self) -> None:
        """Wait for a free place, unless one is held."""
        if not self._held:
            await self._semaphore.acquire()
            self._held = True

    def give_back(self) -> None:
        """Free the place for others, for instance before a wait."""
        if self._held:
            self._held = False
            self._semaphore.release()


current_slot: ContextVar[Slot | None] = ContextVar("eval_skills_slot", default=None)
"""The slot of the running Prefect task run; None outside `EventLoopTaskRunner`."""


async def take_slot() -> None:
    """Take the current task run's slot again, where there is one."""
    if (slot := current_slot.get()) is not None:
        await slot.take()


def give_back_slot() -> None:
    """Give the current task run's slot back, where there is one."""
    if (slot := current_slot.get()) is not None:
        slot.give_back()
