"""A Prefect task runner that keeps one event loop and one API client for a flow's mapped async tasks.

Prefect's thread-pool runner gives every mapped async task a loop and a client of its own, and the client's TLS context alone
costs some 40 ms of CPU. Here all task runs of a flow share one loop on one thread, so that adapters can keep connections,
sessions and warm workers there, and a timeout can cancel what runs.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import groupby
from typing import Any, Self, TypeVar, cast
from uuid import uuid4

import httpx
from prefect.client.schemas.objects import FlowRun, RunInput, State
from prefect.context import AsyncClientContext, FlowRunContext, SyncClientContext, tags
from prefect.exceptions import Pause, TerminationSignal
from prefect.flows import Flow
from prefect.futures import PrefectConcurrentFuture, PrefectFuture
from prefect.settings import PREFECT_API_REQUEST_TIMEOUT, PREFECT_CLIENT_MAX_RETRIES, get_current_settings
from prefect.states import Completed, exception_to_crashed_state
from prefect.task_engine import run_task_async, run_task_sync
from prefect.task_runners import TaskRunner
from prefect.tasks import Task
from prefect.utilities.annotations import quote

from eval_skills.core.errors import RunError
from eval_skills.engine.evaluation.asyncio_support import CLEANING_UP_S, DaemonThreads, ResourceOwner, cancel_pending_tasks
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.engine.evaluation.retries import ConcurrencySlot, current_slot
from eval_skills.tasks.pauses import Gate, PauseWatch, log_suspension

T = TypeVar("T")
AHEAD = 16
"""How many task runs stand in line where there are more than places."""

PART = 8
"""How many are submitted at a time; fewer than stand in line, so that the line does not become empty."""

WAIT_S = 0.5
"""How often it is asked, while nobody leaves the line, whether more may be submitted."""

LONGEST_WAIT_S = 60
"""How long a request to Prefect's API waits at most before it is made again."""

INTERRUPTED_TIMEOUT_S = 10.0
"""How long each of two requests takes at most that tell Prefect of an interrupted flow."""

PROGRESS_PERIOD_S = 1.0
"""How often something else is done while a task run is waited for."""

StateFuture = concurrent.futures.Future[State[Any]]


class LoopFuture(PrefectConcurrentFuture[Any]):
    """The future of one task run on the loop."""

    @property
    def is_done(self) -> bool:
        """Whether the task run has ended, known without asking the API."""
        return self._wrapped_future.done()


class EventLoopTaskRunner(TaskRunner[PrefectFuture[Any]]):
    """Runs a flow's tasks on one event loop; at most `concurrency` at a time, not counting those that wait.

    Async tasks run on the loop itself; sync tasks run in threads, as Prefect cannot interrupt those. `holding` keeps a
    resource open on the loop.
    """

    def __init__(self, concurrency: int = 4) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.concurrency = concurrency
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._threads: DaemonThreads | None = None
        self._client: AsyncClientContext | None = None
        self._semaphore: asyncio.Semaphore | None = None
        self._queue: threading.Semaphore | None = None
        self._pending: set[StateFuture] = set()
        self._runs: set[asyncio.Task[Any]] = set()
        self._slots: set[ConcurrencySlot] = set()
        self._gate = Gate()
        self._owner = ResourceOwner()

    @classmethod
    def current(cls) -> Self:
        """The runner of the current flow run. Raises RunError: there is no flow run here, or it has another task runner."""
        context = FlowRunContext.get()
        if context is None or not isinstance(context.task_runner, cls):
            raise RunError(f"this works inside a flow with the {cls.__name__} only")
        return context.task_runner

    def duplicate(self) -> Self:
        """A fresh runner with the same settings; Prefect takes one per flow run."""
        return type(self)(self.concurrency)

    def __reduce__(self) -> tuple[type[Self], tuple[int]]:
        return type(self), (self.concurrency,)

    def __enter__(self) -> Self:
        super().__enter__()
        self._loop, self._threads = asyncio.new_event_loop(), DaemonThreads()
        self._loop.set_default_executor(self._threads)
        self._thread = threading.Thread(target=_serve, args=(self._loop,), name="eval-skills-loop", daemon=True)
        self._thread.start()
        self._client = self._call(self._owner.hold(AsyncClientContext()))
        _bind(self._client.client._client, _bound_request_async, _bound_wait_async)
        if (context := SyncClientContext.get()) is not None:  # that of the flow run
            _bind(context.client._client, bound_request, bound_wait)
        return self

    def __exit__(self, *exc_info: Any) -> None:
        loop, thread = self._running_loop(), self._thread
        if exc_info[0] is not None and issubclass(exc_info[0], KeyboardInterrupt | TerminationSignal):
            _record_briefly()
        try:
            self._call(self._settle())
            self._call(self._owner.release())
        finally:
            self._call(cancel_pending_tasks())
            if self._threads is not None:
                self._threads.end(CLEANING_UP_S if exc_info[0] else 0)
            loop.call_soon_threadsafe(loop.stop)
            if thread is not None:
                thread.join()
            loop.close()
            self._loop = self._semaphore = self._client = None
            super().__exit__(*exc_info)

    def limit(self, concurrency: int) -> None:
        """Let `concurrency` task runs work at a time from now on; call it before anything is submitted."""
        self.concurrency, self._semaphore = concurrency, None

    def map_in_turn(
        self,
        task: Task[..., Any],
        values: Sequence[Any],
        *,
        may_go_on: Callable[[], bool],
        labels: Callable[[Any], Collection[str]] = lambda value: (),
        **fixed: Any,
    ) -> Iterator[LoopFuture]:
        """Map `task` over `values`, a part at a time, so that few more are submitted than can work; yields the futures.

        Mapped all at once, they would keep the interpreter from the first of them until the last is submitted. `fixed` are the
        other parameters, as `map` takes them. `labels` are tags of the task run of a value: each tag costs a request to the API,
        so only where they tell something. `may_go_on` is asked before each value, and now and then while all places are
        taken; it may wait, and False ends it.
        """
        self._queue = queue = threading.Semaphore(self.concurrency + AHEAD)
        try:
            for start in range(0, len(values), PART):
                part = values[start : start + PART]
                if not all(self._got_place(queue, may_go_on) for _ in part):
                    return
                for labelled, run in groupby(part, key=lambda value: frozenset(labels(value))):
                    with tags(*labelled):
                        futures = cast("Iterable[LoopFuture]", task.map(list(run), **fixed))
                    yield from futures
        finally:
            self._queue = None

    def _got_place(self, queue: threading.Semaphore, may_go_on: Callable[[], bool]) -> bool:
        """Wait until one more may be submitted; False: `may_go_on` ended the wait."""
        while may_go_on():
            if self._gate.wait(WAIT_S) and queue.acquire(timeout=WAIT_S):
                return True
        return False

    def wait_for(self, future: LoopFuture, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Return when the task run has ended, or raise what ends the flow run before; `meanwhile` is called now and then."""
        while not future.is_done:
            future.wait(timeout=PROGRESS_PERIOD_S)
            self._gate.wait(0)
            meanwhile()

    def wait_while_paused(self) -> None:
        """Return at once, or when the flow run is resumed. Raises what ends it instead."""
        self._gate.wait_until_open()

    @contextmanager
    def holding(self, resource: AbstractAsyncContextManager[T], observer: NullObserver | None = None) -> Iterator[T]:
        """Enter `resource` on the loop; at the end stop what still runs, then leave the resource where it was entered.

        Meanwhile the flow run can be paused in Prefect: task runs that have begun go on, and no other begins until it is resumed.
        `observer` is notified of both. One that is suspended leaves when what has begun has finished.
        """
        owner = ResourceOwner()
        value = self._call(owner.hold(resource))
        try:
            with PauseWatch(self._gate, in_flight=self._in_flight, observer=observer):
                yield value
        except Pause:
            self._gate.close()
            log_suspension(self._in_flight())
            self._call(self._finish())
            raise
        finally:
            try:
                self._call(self._settle())
            finally:  # also when a second Ctrl-C cuts the waiting short
                self._call(owner.release())

    def submit(
        self,
        task: Task[..., Any],
        parameters: dict[str, Any],
        wait_for: Iterable[PrefectFuture[Any]] | None = None,
        dependencies: dict[str, set[RunInput]] | None = None,
    ) -> LoopFuture:
        """Start one task run on the loop, in the caller's context; it takes a slot before it begins."""
        loop, run_id = self._running_loop(), uuid4()
        call = partial(
            run_task_async if task.isasync else run_task_sync,
            task=task,
            task_run_id=run_id,
            parameters=parameters,
            wait_for=wait_for,
            return_type="state",
            dependencies=dependencies,
        )
        future = asyncio.run_coroutine_threadsafe(self._run(call, self._queue, is_async=task.isasync), loop)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return LoopFuture(task_run_id=run_id, wrapped_future=future)

    def cancel_all(self) -> None:
        """Cancel every task run that has not ended; Prefect calls this when the flow run is cancelled."""
        for future in list(self._pending):
            future.cancel()

    async def _run(self, call: partial[Any], queue: threading.Semaphore | None, *, is_async: bool) -> State[Any]:
        if self._client is not None:
            AsyncClientContext.__var__.set(self._client)
        if self._semaphore is None:
            self._semaphore = asyncio.Semaphore(self.concurrency)
        slot = ConcurrencySlot(self._semaphore, self._gate.passed)
        current_slot.set(slot)
        self._slots.add(slot)
        run = cast("asyncio.Task[Any]", asyncio.current_task())
        self._runs.add(run)
        try:
            try:
                await slot.take()
            finally:
                if queue is not None:  # it has begun: another may stand in line, also while this one waits for a retry
                    queue.release()
            state: State[Any] = await (call() if is_async else asyncio.to_thread(call))
            return state
        except (SystemExit, KeyboardInterrupt) as error:  # it ends this task run, not the others
            return await exception_to_crashed_state(error)
        finally:
            slot.give_back()
            self._slots.discard(slot)
            self._runs.discard(run)

    def _in_flight(self) -> int:
        return sum(slot.is_working for slot in list(self._slots))

    async def _finish(self) -> None:
        """Wait until nothing works any more; the gate is closed, so that nothing else begins."""
        while self._in_flight():
            await asyncio.wait(self._runs, timeout=WAIT_S, return_when=asyncio.FIRST_COMPLETED)

    async def _settle(self) -> None:
        """Cancel what has not ended, and wait until it has cleaned up after itself.

        The runs themselves, not their futures: a Ctrl-C inside `submit` may have lost the future of a run that has begun.
        """
        for run in self._runs:
            run.cancel()
        await asyncio.gather(*self._runs, return_exceptions=True)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise RuntimeError("the task runner is not started; use it as a context manager")
        return self._loop

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._running_loop()).result()


def _bind(client: httpx.Client | httpx.AsyncClient, request: Callable[..., Any], answer: Callable[..., Any]) -> None:
    client.event_hooks["request"].append(request)
    client.event_hooks["response"].append(answer)


def bound_request(request: httpx.Request) -> None:
    """Let a request of Prefect's client take as long as Prefect's setting says now, not as it did when the client was opened.

    An API that hangs answers nothing and refuses nothing: once it is taken for gone, a minute for each of the requests that a
    flow makes at its end would add up to several.
    """
    longest = PREFECT_API_REQUEST_TIMEOUT.value()
    known = request.extensions.get("timeout", {})
    request.extensions["timeout"] = {
        phase: longest if known.get(phase) is None else min(known[phase], longest)
        for phase in ("connect", "read", "write", "pool")
    }


async def _bound_request_async(request: httpx.Request) -> None:
    bound_request(request)


def _record_briefly() -> None:
    """Let Prefect be told that its flow was interrupted, but not for minutes: who presses Ctrl-C waits for it."""
    settings = get_current_settings()
    settings.api.request_timeout = min(settings.api.request_timeout, INTERRUPTED_TIMEOUT_S)
    settings.client.max_retries = min(settings.client.max_retries, 1)


def bound_wait(answer: httpx.Response) -> None:
    """Let Prefect's client wait for `LONGEST_WAIT_S` at most before it asks again, and not at all where it will not ask again.

    It waits for as long as the API, or what stands before it, says (``Retry-After``), be it an hour, and that of its last answer,
    too; and asks without an end while there is maintenance.
    """
    answer.headers.pop("Prefect-Maintenance", None)
    said = answer.headers.get("Retry-After", "")
    if not PREFECT_CLIENT_MAX_RETRIES.value():
        answer.headers["Retry-After"] = "0"
    elif said and not (said.isdecimal() and int(said) <= LONGEST_WAIT_S):
        answer.headers["Retry-After"] = str(LONGEST_WAIT_S)


async def _bound_wait_async(answer: httpx.Response) -> None:
    bound_wait(answer)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped. A SystemExit or KeyboardInterrupt stays with the task that raised it: a loop that ended
    with it would leave every other task run, and the flow that waits for them, hanging for ever.
    """
    while True:
        try:
            loop.run_forever()
            return
        except (SystemExit, KeyboardInterrupt):
            continue


def unwalked(value: T) -> T:
    """`value` as a parameter that Prefect passes on without searching it; for the call of a Prefect task only.

    Prefect looks for futures inside every parameter, three times per call: with a plan of a thousand tasks that is most of the
    time that a flow spends outside its items.
    """
    return cast("T", quote(value))


def returned(message: str, value: T) -> T:
    """The state in which a flow with the hook `unwrap` ends well, typed as what its caller gets, `value`; the message is for
    Prefect's UI.

    Prefect looks for futures in what a flow returns, too: of a run of 100,000 items that takes longer than to land them.
    """
    _flow_run_log.addFilter(_is_not_about_unwrapping)  # one that is there already is not added again
    _returned.set(value)
    return cast("T", Completed(message=message, data=quote(value)))


_returned: ContextVar[Any] = ContextVar("returned", default=None)
"""What the flow that ends in this thread `returned`."""

_flow_run_log = logging.getLogger("prefect.flow_runs")


def _is_not_about_unwrapping(record: logging.LogRecord) -> bool:
    """Leaves out the two lines of Prefect about its call of `unwrap`, which mean nothing to who reads the log of a run."""
    return f"ook {unwrap.__name__!r} " not in record.getMessage()


def unwrap(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """For `on_completion` of a flow: let its caller get what it `returned`.

    Where the API's answer to that state is lost, and it is asked again, it refuses a state that the flow run has already: Prefect
    goes on with the one that the API has, which is without data.
    """
    record: Any = state.data
    value = _returned.get()
    _returned.set(None)
    if record is None:
        state.data = value
    elif isinstance(getattr(record, "result", None), quote):
        record.result = value
