"""Threads and tasks of their own, in which work of others is done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

import pytest

from eval_skills.core.threads import Steps


async def awaited(work: Awaitable[Any]) -> Any:
    return await work


async def test_steps_pass_on_what_is_returned_raised_sent_and_cancelled() -> None:
    async def adds() -> int:
        await asyncio.sleep(0)
        return 1 + await asyncio.sleep(0, 1)

    async def raises() -> None:
        await asyncio.sleep(0)
        raise ValueError("mine")

    async def tidies_up() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            return "tidy"
        return "late"

    assert await Steps(adds()) == 2
    assert await Steps(asyncio.gather(adds(), adds())) == [2, 2]
    with pytest.raises(ValueError, match="mine"):
        await Steps(raises())
    cancelled = asyncio.ensure_future(awaited(Steps(tidies_up())))
    await asyncio.sleep(0.01)
    cancelled.cancel()
    assert await cancelled == "tidy"


async def test_the_longest_step_counts_and_not_the_wait_between() -> None:
    async def blocks() -> None:
        await asyncio.sleep(0.3)
        time.sleep(0.05)
        await asyncio.sleep(0.3)

    steps = Steps(blocks())
    await steps
    assert 0.05 <= steps.longest_s < 0.25
