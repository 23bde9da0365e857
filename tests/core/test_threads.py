"""Threads that keep nobody waiting."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable
from time import monotonic
from typing import Any

import pytest

from eval_skills.core.threads import DaemonThreads, Steps


def test_what_is_done_is_returned_or_raised_and_no_more_threads_than_allowed_do_it() -> None:
    threads = DaemonThreads(3)
    seen: set[int] = set()
    together = threading.Barrier(3)

    def work(number: int) -> int:
        seen.add(threading.get_ident())
        if number < 3:
            together.wait(10)
        return 10 // (5 - number)

    futures = [threads.submit(work, number) for number in range(20)]
    assert [future.result(10) for future in futures[:5]] == [2, 2, 3, 5, 10]
    with pytest.raises(ZeroDivisionError):
        futures[5].result(10)
    assert futures[19].result(10) == -1
    assert len(seen) == 3
    threads.end(10)


def test_one_that_hangs_holds_up_neither_the_others_nor_the_end() -> None:
    threads = DaemonThreads(2)
    hanging = threads.submit(threading.Event().wait)
    assert [threads.submit(int, number).result(10) for number in range(50)] == list(range(50))
    began = monotonic()
    threads.end(0.01)
    assert monotonic() - began < 5
    assert not hanging.done()


def test_idle_threads_go_at_the_end() -> None:
    threads = DaemonThreads()
    where = threads.submit(threading.current_thread).result(10)
    assert where.daemon
    threads.end(10)
    where.join(10)
    assert not where.is_alive()


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
