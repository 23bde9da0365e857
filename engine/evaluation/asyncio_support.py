"""Async resources that any task may open and close, work on an event loop in a separate thread, and the end of both."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from eval_skills.core.threads import DaemonThreads

T = TypeVar("T")

CLEANING_UP_S = 10.0
"""How long cancelled tasks may take to end."""


class ResourceOwner:
    """Enters a resource in a task of its own and leaves it there: cancel scopes must be left by the task that entered them."""

    def __init__(self) -> None:
        self._leave = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_open = False

    async def hold(self, resource: AbstractAsyncContextManager[T]) -> T:
        """Enter `resource` and return its value; what entering raises is raised here."""
        entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._stay(resource, entered))
        either: set[asyncio.Future[Any]] = {entered, self._task}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if entered.done():
            return entered.result()
        if not self._task.cancelled():
            self._task.result()
        raise RuntimeError("the resource closed before it was open")

    async def release(self) -> None:
        """Leave the resource and wait until it is closed; what leaving raises is raised here.

        A resource that is still being entered is interrupted: it will not be used.
        """
        self._leave.set()
        if self._task is None:
            return
        if not self._is_open:
            self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()

    async def _stay(self, resource: AbstractAsyncContextManager[T], entered: asyncio.Future[T]) -> None:
        async with resource as value:
            self._is_open = True
            entered.set_result(value)
            await self._leave.wait()


async def cancel_pending_tasks() -> None:
    """Cancel every other task of the running loop and wait until each has cleaned up: a loop that closes before drops them, and
    Python warns of that at a later garbage collection."""
    pending = asyncio.all_tasks() - {asyncio.current_task()}
    for task in pending:
        task.cancel()
    if pending:
        await asyncio.wait(pending, timeout=CLEANING_UP_S)


def run_on_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Do `work` on an event loop in a thread of its own; an interrupt cancels it and waits until it has cleaned up."""
    loop, threads = asyncio.new_event_loop(), DaemonThreads()
    loop.set_default_executor(threads)
    task = loop.create_task(work)
    with ThreadPoolExecutor(1, thread_name_prefix="eval-skills-loop") as thread:
        done = thread.submit(_complete, loop, task, threads)
        try:
            return done.result()
        except BaseException:
            if not done.done():
                loop.call_soon_threadsafe(task.cancel)
            raise


def _complete(loop: asyncio.AbstractEventLoop, task: asyncio.Task[T], threads: DaemonThreads) -> T:
    asyncio.set_event_loop(loop)
    try:
        return _through(loop, task)
    finally:
        _through(loop, loop.create_task(cancel_pending_tasks()))
        _through(loop, loop.create_task(loop.shutdown_asyncgens()))
        is_whole = task.done() and not task.cancelled() and task.exception() is None
        threads.end(0 if is_whole else CLEANING_UP_S)  # all that is left of a whole evaluation is calls that ran out of time
        asyncio.set_event_loop(None)
        loop.close()


def _through(loop: asyncio.AbstractEventLoop, task: asyncio.Task[T]) -> T:
    """Run the loop until `task` is done. A SystemExit or KeyboardInterrupt of another task, which ends the loop, stays with that
    task: no signal arrives in this thread, so code of a skill raised it in a task that it started itself. A loop that code of a
    skill stops goes on, too.
    """
    while not task.done():
        try:
            loop.run_until_complete(task)
        except (SystemExit, KeyboardInterrupt):
            continue
        except RuntimeError:  # "Event loop stopped before Future completed"
            if loop.is_closed():
                raise
    return task.result()
