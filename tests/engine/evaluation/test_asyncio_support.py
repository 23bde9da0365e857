"""A resource is entered and left in one and the same task, whoever asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from eval_skills.engine.evaluation.asyncio_support import ResourceOwner


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
