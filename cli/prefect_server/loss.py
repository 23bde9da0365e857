"""A Prefect API that goes away in the middle of a call: how that is noticed, and what is no longer asked of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from eval_skills.cli.prefect_server.api_server import PATIENCE_S, ApiServer, open_client, why_silent
from eval_skills.core.errors import RunError

if TYPE_CHECKING:
    from prefect.settings import Settings

PERIOD_S = 2.0

ONCE_GONE_S = 5.0
"""How long a request takes at most to an API that was silent for `PATIENCE_S`; it may only hang, and refuse nothing."""


class Unrecorded(RunError):
    """Prefect's API was lost in the middle of the evaluation `run_id`; what is done is in its journal.

    `began` is when it began, by the monotonic clock; `report_files` are written already.
    """

    def __init__(self, run_id: str, reason: str, began: float, report_files: Sequence[Path] = ()) -> None:
        super().__init__(f"the Prefect API was lost ({reason}); run {run_id} is not recorded to its end")
        self.run_id, self.reason, self.began, self.report_files = run_id, reason, began, list(report_files)


class Watch:
    """Asks the API while a flow runs whether it is well; says once when it stays silent, and once when it is back.

    The flow goes on: its items need no API. Prefect's client tries each request again, with waits that add up to a minute, and a
    flow makes many at its end; when the API has been silent for `PATIENCE_S`, or its process has ended, it no longer does, and it
    waits `ONCE_GONE_S` for an answer.
    """

    def __init__(self, server: ApiServer, tell: Callable[[str], object]) -> None:
        self._server, self._tell = server, tell
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        from prefect.settings import get_current_settings

        settings = get_current_settings()
        self._thread = threading.Thread(target=self._watch, args=(settings,), name="prefect-watch", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        if self._thread is not None and kind is None:
            self._thread.join()

    def _watch(self, settings: Settings) -> None:
        silent_since: float | None = None
        printed: list[str] = []
        with open_client(self._server.url, timeout_s=10.0) as client:
            while not self._over.wait(PERIOD_S):
                asked = monotonic()
                if (problem := self._problem(client)) is None:
                    if silent_since is not None and printed:
                        self._once(printed, f"{self._server.name} answers again")
                    silent_since = None
                elif silent_since is None:
                    silent_since = asked
                if problem is not None and (self._server.has_ended or monotonic() - asked > PERIOD_S or asked != silent_since):
                    self._once(printed, f"{self._server.name} is silent ({problem}); the work goes on")
                if silent_since is not None and (self._server.has_ended or monotonic() - silent_since >= PATIENCE_S):
                    settings.api.request_timeout = min(settings.api.request_timeout, ONCE_GONE_S)
                    settings.client.max_retries = 0
                    return

    def _once(self, printed: list[str], line: str) -> None:
        """Print a line, unless one that begins the same was printed: an API that fails now and then would fill the terminal."""
        head = line.partition(" (")[0]
        if head not in printed and not self._over.is_set():
            printed.append(head)
            self._tell(line)

    def _problem(self, client: Any) -> str | None:
        return "its process has ended" if self._server.has_ended else why_silent(client, self._server.url)


def send_what_is_queued(timeout_s: float) -> None:
    """Send Prefect's queued events and logs now, and drop what could not be sent by then.

    Prefect's own farewell, at the exit of the interpreter, would try for ten seconds with each of them where the API is gone.
    """
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    workers: tuple[Any, ...] = (EventsWorker, APILogWorker)
    for worker in workers:
        services = [(each, each._task, each._loop) for each in list(worker._instances.values())]
        worker.drain_all(timeout=timeout_s, at_exit=False)
        for service, task, loop in services:
            if service._done_event is None or not service._done_event.is_set():
                _empty(service._queue)
                if task is not None and loop is not None and not loop.is_closed():
                    loop.call_soon_threadsafe(task.cancel)
        _let_go([service for service, _, _ in services])


def _let_go(ended: Sequence[Any]) -> None:
    """Let Prefect forget these services, which it keeps for their farewell at the exit of the interpreter, with all that the flow
    knew in which they began: the tasks of its plan, too. A program that evaluates in a loop begins new ones each time.
    """
    from prefect._internal.concurrency.threads import get_global_loop

    farewells: tuple[list[Any], ...] = (get_global_loop()._on_shutdown, getattr(threading, "_threading_atexits", []))
    for calls in farewells:
        for call in calls[:]:
            what = call.func if isinstance(call, partial) else getattr(call, "fn", None)
            if getattr(what, "__self__", None) in ended:
                calls.remove(call)


def _empty(queue: Any) -> None:
    with suppress(Empty):
        while True:
            queue.get_nowait()
            queue.task_done()
