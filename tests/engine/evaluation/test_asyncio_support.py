"""A resource is entered and left in one and the same task, whoever asks; a loop has threads that keep nobody waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Any

import anyio
import pytest

from eval_skills.engine.evaluation.asyncio_support import DaemonThreads, ResourceOwner, run_on_own_loop


class Diary:
    """A resource that notes in which task it is entered and left."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[Any] | None] = []

    async def __aenter__(self) -> str:
        self.tasks.append(asyncio.current_task())
        return "open"

    async def __aexit__(self, *_: object) -> None:
        self.tasks.append(asyncio.current_task())


async def in_a_task(work: Any) -> Any:
    return await asyncio.create_task(work)


async def test_p19_entered_and_left_in_one_task_though_two_others_ask() -> None:
    diary, owner = Diary(), ResourceOwner()
    assert await in_a_task(owner.hold(diary)) == "open"
    await in_a_task(owner.release())
    entered, left = diary.tasks
    assert entered is left
    assert entered is not asyncio.current_task()


async def test_p19_a_cancel_scope_survives_being_held_and_released_by_different_tasks() -> None:
    @asynccontextmanager
    async def scoped() -> AsyncIterator[str]:
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep_forever)
            yield "inside"
            group.cancel_scope.cancel()

    owner = ResourceOwner()
    assert await in_a_task(owner.hold(scoped())) == "inside"
    await in_a_task(owner.release())


async def test_what_entering_raises_is_raised_to_who_holds() -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[None]:
        raise OSError("no such thing")
        yield

    with pytest.raises(OSError, match="no such thing"):
        await ResourceOwner().hold(broken())


async def test_what_leaving_raises_is_raised_to_who_releases() -> None:
    @asynccontextmanager
    async def sticky() -> AsyncIterator[None]:
        yield
        raise OSError("it does not close")

    owner = ResourceOwner()
    await owner.hold(sticky())
    with pytest.raises(OSError, match="it does not close"):
        await owner.release()


async def test_releasing_what_was_never_held_does_nothing() -> None:
    await ResourceOwner().release()


async def test_a_resource_that_is_still_being_entered_is_interrupted_and_cleans_up() -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def slow() -> AsyncIterator[None]:
        try:
            seen.append("entering")
            await asyncio.sleep(3600)
            yield
        finally:
            seen.append("cleaned up")

    owner = ResourceOwner()
    holding = asyncio.create_task(owner.hold(slow()))
    while not seen:
        await asyncio.sleep(0)
    await asyncio.wait_for(owner.release(), timeout=60)
    assert seen == ["entering", "cleaned up"]
    with pytest.raises(RuntimeError, match="closed before it was open"):
        await holding


async def test_who_is_cancelled_while_holding_leaves_the_resource_to_be_released() -> None:
    diary, owner, gate = Diary(), ResourceOwner(), asyncio.Event()

    @asynccontextmanager
    async def gated() -> AsyncIterator[None]:
        async with diary:
            await gate.wait()
            yield

    holding = asyncio.create_task(owner.hold(gated()))
    while not diary.tasks:
        await asyncio.sleep(0)
    holding.cancel()
    await asyncio.wait([holding])
    gate.set()
    await asyncio.wait_for(owner.release(), timeout=60)
    assert len(diary.tasks) == 2


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


class TestOnALoopOfItsOwn:
    async def test_a_cancellation_that_waits_for_the_next_await_of_its_caller_ends_it(self) -> None:
        done = []

        async def caller() -> None:
            self._cancel_me()  # as the Ctrl-C of asyncio.run does, also before the work has begun
            done.append(run_on_own_loop(asyncio.sleep(3, 1)))

        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(caller())
        assert done == []

    async def test_one_that_its_caller_has_got_over_does_not(self) -> None:
        async def caller() -> int:
            self._cancel_me()
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(600)
            return run_on_own_loop(asyncio.sleep(0.15, 1))

        assert await asyncio.create_task(caller()) == 1

    @staticmethod
    def _cancel_me() -> None:
        caller = asyncio.current_task()
        assert caller is not None
        caller.cancel()
