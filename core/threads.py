"""Functions and coroutines of somebody else's, called in threads and tasks of their own, which keep nobody waiting."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import copy_context
from typing import Any, TypeVar, cast

T = TypeVar("T")


class RaisedInThread(Exception):
    """What was raised in a thread, as `error`: some exceptions (StopIteration, SystemExit) cannot be passed through a future."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


async def in_thread(work: Callable[[], T]) -> T:
    """What `work` returns in a thread of its own, which keeps nobody waiting: neither the loop at its end, nor Python.

    Raises:
        RaisedInThread: `work` raised; whatever it was.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[T | None, BaseException | None]] = loop.create_future()

    def settle(outcome: tuple[T | None, BaseException | None]) -> None:
        if not done.done():
            done.set_result(outcome)

    def run() -> None:
        outcome: tuple[T | None, BaseException | None]
        try:
            outcome = (work(), None)
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
            outcome = (None, error)
        with contextlib.suppress(RuntimeError):  # the run is over, and its loop closed
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=copy_context().run, args=(run,), daemon=True, name="eval-skills-call").start()
    result, error = await done
    if error is not None:
        raise RaisedInThread(error)
    return cast(T, result)


GRACE_S = 1.0
"""How long a coroutine may tidy up when it is cancelled; one that goes on is left behind."""


class CancelledItself(Exception):
    """A coroutine cancelled the task that it runs in: ``asyncio.current_task().cancel()``."""


async def in_task(work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns in a task of its own: what it does to its task, it does not do to the caller's.

    Raises:
        CancelledItself: `work` cancelled its task.
        CancelledError: the caller was cancelled; so was `work`, which had a second to tidy up.
        BaseException: whatever else `work` raises.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task], timeout=GRACE_S)
        raise
    if task.cancelled():
        raise CancelledItself
    return task.result()


class Steps:
    """Awaited, it awaits `work`. The longest of its steps, from one wait to the next, kept the event loop for `longest_s`."""

    def __init__(self, work: Awaitable[Any]) -> None:
        self._work, self.longest_s = work, 0.0

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = _awaited(self._work)
        resume = functools.partial(steps.send, None)
        while True:
            began = time.perf_counter()
            try:
                waits_for = resume()
            except StopIteration as end:
                return end.value
            finally:
                self.longest_s = max(self.longest_s, time.perf_counter() - began)
            try:
                value = yield waits_for
            except BaseException as error:  # noqa: BLE001 - it is for the work
                resume = functools.partial(steps.throw, error)
            else:
                resume = functools.partial(steps.send, value)


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work
