"""Functions of somebody else's, called in threads that keep nobody waiting."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar, cast

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
