"""Async resources that any task may open and close, work on an event loop in a separate thread, its own threads, and how all of
them end.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractAsyncContextManager
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

CLEANING_UP_S = 10.0
"""How long cancelled tasks may take to end."""

LOOKED_EVERY_S = 0.2
"""How often who waits in a thread looks whether there was a signal, which any other thread may get and which wakes nobody, and
whether the task that waits there was cancelled; its loop cannot say it meanwhile."""


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


class DaemonThreads(ThreadPoolExecutor):
    """At most `most` threads for a loop's `run_in_executor` and `asyncio.to_thread`, which keep nobody waiting.

    For the threads of the base class a loop waits at its end, and so does Python: however long the code of others stays there,
    which a runnable or a coroutine hands to them.
    """

    def __init__(self, most: int = 32) -> None:
        super().__init__(most)
        self._most, self._started = most, 0
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._unfinished: set[Future[Any]] = set()
        self._starting = threading.Lock()

    def submit(self, work: Callable[..., T], /, *args: Any, **options: Any) -> Future[T]:
        """Have `work` done by one of the threads."""
        future: Future[T] = Future()
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        self._calls.put((future, functools.partial(work, *args, **options)))
        with self._starting:
            if self._started < min(self._most, len(self._unfinished)):
                self._started += 1
                threading.Thread(target=self._serve, daemon=True, name="eval-skills-call").start()
        return future

    def end(self, patience_s: float) -> None:
        """Let the threads go once they are idle, and wait so long for what they do now."""
        wait(set(self._unfinished), patience_s)
        for _ in range(self._started):
            self._calls.put(None)

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            future, work = call
            if future.set_running_or_notify_cancel():
                try:
                    result = work()
                except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
                    future.set_exception(error)
                else:
                    future.set_result(result)
            del future, work, call


def run_on_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Do `work` on an event loop in a thread of its own; an interrupt cancels it and waits until it has cleaned up.

    So does the cancellation of the task that calls it: on Ctrl-C `asyncio.run` raises nothing, it cancels its task.
    """
    loop, threads = asyncio.new_event_loop(), DaemonThreads()
    loop.set_default_executor(threads)
    task = loop.create_task(work)
    with ThreadPoolExecutor(1, thread_name_prefix="eval-skills-loop") as thread:
        done = thread.submit(_complete, loop, task, threads)
        try:
            _wait_unless_ended(done)
            return done.result()
        except BaseException:
            if not done.done():
                loop.call_soon_threadsafe(task.cancel)
            raise


def _wait_unless_ended(done: Future[Any]) -> None:
    """Wait in short steps: Python raises what a signal asks for only between two of them."""
    try:
        caller = asyncio.current_task()
    except RuntimeError:  # no loop runs here
        caller = None
    before = _cancelled_before(caller) if caller else 0
    while not wait([done], LOOKED_EVERY_S).done:
        if caller is not None and caller.cancelling() > before:
            raise asyncio.CancelledError


def _cancelled_before(caller: asyncio.Task[Any]) -> int:
    """How often the task was cancelled and went on all the same. A Ctrl-C that came just now, as while the package was imported,
    is not one of these: it waits for the task's next `await`. asyncio says so in a private attribute alone.
    """
    return caller.cancelling() - bool(getattr(caller, "_must_cancel", False))


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
