"""One event loop in a thread of its own, on which models are asked for callers that cannot await, or whose loops come and go."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which runs on one event loop in a thread of its own while the caller waits.

    Callers may be on any thread, also on that of a running loop, and any number at a time; context variables are theirs. The
    loop is the same for all, since connections are bound to the loop that opened them.
    """
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


async def on_the_common_loop(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which runs on the loop of `wait_for` and is cancelled with the caller.

    A connection lives as long as the loop that opened it: where each call has a loop of its own, as in ``asyncio.run`` and in
    tests, each would leave one open.
    """
    if somebody_waits():
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _loop()))


def somebody_waits() -> bool:
    """Whether what runs here is what `wait_for` was given."""
    return bool(_loop.cache_info().currsize) and asyncio.get_running_loop() is _loop()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(_report)
    threading.Thread(target=loop.run_forever, name="eval-skills judged evaluators", daemon=True).start()
    return loop


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Only exceptions: libraries drop background tasks of their own, and our own work is waited for."""
    if "exception" in context:
        loop.default_exception_handler(context)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_loop.cache_clear)  # no thread outlives a fork
