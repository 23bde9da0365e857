"""Pausing, resuming and cancelling a flow run from outside: in Prefect's UI, by an automation, through its API.

Prefect itself notices in a running flow only that a run of a deployment is *suspended*, which is what the UI's Pause asks for:
the process ends, and resuming starts another one. A run that is *paused* keeps its process, and nothing there notices. So the API
is asked. A subscription to its events would know sooner, but one that breaks has to be replaced by asking anyway.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import FlowRun, State
from prefect.context import FlowRunContext
from prefect.exceptions import Abort, Pause, PrefectException
from prefect.logging.loggers import flow_run_logger
from prefect.states import Cancelled, Failed

from eval_skills.core.errors import RunError
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.tasks.prefect_settings import with_settings

PERIOD_S = 2.0
"""How often the API is asked."""

TIMEOUT_S = 10.0
"""How long one answer of the API may take."""

LOOK_S = 0.5
"""How often what waits here looks whether it may go on; no request is made for that."""

GRACE_S = 30.0
"""How long after its deadline a pause is taken to be over by our clock alone: the server, where it answers, ends it itself."""

TERMINATED_S = 60.0
"""How long after the flow run of a deployment is cancelled its worker, or what serves it, has to terminate this process."""

CANCELLED = "it was cancelled in Prefect"
NOT_RESUMED = "it was paused in Prefect and not resumed in time"
SUSPENDED = "the run that it is a part of was suspended in Prefect, and goes on with it when it is resumed"


CLOCKS_DIFFER = timedelta(minutes=5)
"""By how much the server's clock may be ahead of ours."""


def flow_run_here() -> FlowRun | None:
    """The flow run that this is called in; None outside of one."""
    context = FlowRunContext.get()
    return None if context is None else context.flow_run


def began_after(flow_run: FlowRun) -> datetime:
    """A moment, by our clock, before anything that the flow run did, in this process or in an earlier one."""
    return (flow_run.created or datetime.now(UTC)) - CLOCKS_DIFFER


def run_ended_parts_again() -> None:
    """For a flow that calls others: let what ended in an earlier process be called again, and find itself what is left to do.

    Prefect does so where a flow run is retried. One that was suspended and resumed it counts as the first time still: it would
    take the recorded state of a part that has ended for its result, which is not kept.
    """
    if (flow_run := flow_run_here()) is not None:
        flow_run.run_count = max(flow_run.run_count, 2)


def log_suspension(in_flight: int) -> None:
    """Say in the log of the flow run, which the UI shows, what it still waits for."""
    if (flow_run := flow_run_here()) is not None:
        flow_run_logger(flow_run).info("Suspended; %s items in flight finish, then this process ends.", in_flight)


class StoppedInPrefect(RunError):
    """The flow run was cancelled, or its pause not ended in time; flow runs that it is a part of may go on."""


class EndedInPrefect(Abort):
    """The outermost flow run has ended in Prefect. Like an abort of Prefect's own it passes every flow and changes no state."""


@dataclass(slots=True)
class Gate:
    """Whether another item may begin: not while the flow run is paused, and never again where `ending` says how it ends.

    The flow's thread raises the ending; what waits on the event loop waits until it is cancelled.
    """

    ending: BaseException | None = None
    _open: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._open.set()

    def open(self) -> None:
        """Let items begin, unless the run has to end."""
        if self.ending is None:
            self._open.set()

    def close(self, ending: BaseException | None = None) -> None:
        """Let none begin; with `ending`, never again."""
        self._open.clear()
        self.ending = self.ending or ending

    async def passed(self) -> None:
        """Return as soon as an item may begin; on an event loop."""
        while not self._open.is_set():  # noqa: ASYNC110 - another thread opens it
            await asyncio.sleep(LOOK_S)

    def wait(self, timeout_s: float) -> bool:
        """Whether an item may begin, now or within `timeout_s`; in the flow's thread, where the ending is raised."""
        is_open = self._open.wait(timeout_s)
        if self.ending is not None:
            raise self.ending
        return is_open

    def wait_until_open(self) -> None:
        """Return as soon as an item may begin; otherwise as `wait`."""
        while not self.wait(LOOK_S):
            pass

    def rest(self, seconds: float) -> None:
        """Sleep so long, and then return as soon as an item may begin; otherwise as `wait`, also from the sleep."""
        over = monotonic() + seconds
        while (left := over - monotonic()) > 0:
            self.wait(0)
            sleep(min(left, LOOK_S))
        self.wait_until_open()


@dataclass(frozen=True, slots=True)
class Lineage:
    """The current flow run and those that it is a part of, from it up to the outermost one.

    `deployed` says of each whether it is one of a deployment: then it has a process of its own, and somebody who terminates that.
    """

    flow_runs: tuple[UUID, ...]
    deployed: tuple[bool, ...]

    @classmethod
    def of(cls, flow_run: FlowRun, client: SyncPrefectClient) -> Lineage:
        """Ask the API for the flow runs above this one."""
        found = [flow_run]
        while (tracked_by := found[-1].parent_task_run_id) is not None:
            above = client.read_task_run(tracked_by).flow_run_id
            if above is None:
                break
            found.append(client.read_flow_run(above))
        return cls(tuple(each.id for each in found), tuple(each.deployment_id is not None for each in found))

    def states(self, client: SyncPrefectClient) -> list[State | None]:
        """Their states now, in their order; None for one that was deleted."""
        found = client.read_flow_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=list(self.flow_runs))))
        states = {each.id: each.state for each in found}
        return [states.get(each) for each in self.flow_runs]


class PauseWatch:
    """Closes and opens `gate` as the current flow run, or one that it is a part of, is paused, resumed or cancelled in Prefect.

    `in_flight` counts the items that have begun and not ended; `observer` is notified of a pause and of its end. An API that does
    not answer changes nothing: the run goes on, and a paused one stays paused until the deadline of its pause.
    """

    def __init__(self, gate: Gate, *, in_flight: Callable[[], int] = lambda: 0, observer: NullObserver | None = None) -> None:
        self._gate, self._in_flight, self._observer = gate, in_flight, observer or NullObserver()
        self._over, self._lock = threading.Event(), threading.Lock()
        self._paused = False
        self._until: datetime | None = None
        self._cancelled_at: float | None = None

    def __enter__(self) -> Self:
        if (flow_run := flow_run_here()) is not None:  # outside of one nobody can pause anything
            self._flow_run, self._logger = flow_run, flow_run_logger(flow_run)
            watch = threading.Thread(target=copy_context().run, args=(self._watch,), name="eval-skills-pauses", daemon=True)
            watch.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:  # it may be waiting for an answer, which then changes nothing any more
            self._over.set()
            self._gate.open()

    def _watch(self) -> None:
        lineage: Lineage | None = None
        # a part of a run may begin while the whole is paused already
        pause_s = PERIOD_S if self._flow_run.parent_task_run_id is None else 0.0
        own = {"timeout": TIMEOUT_S}  # with settings of its own a client is not the flow's, which closes that at its end
        with with_settings(client={"max_retries": 0}), get_client(httpx_settings=own, sync_client=True) as client:
            while not self._over.wait(pause_s) and self._gate.ending is None:
                pause_s = PERIOD_S
                try:
                    lineage = lineage or Lineage.of(self._flow_run, client)
                    states = lineage.states(client)
                except (httpx.HTTPError, PrefectException, ValueError):  # silent, restarting, or a proxy's page in its place
                    states = []
                with self._lock:
                    if not self._over.is_set():
                        self._follow(lineage, states, client)

    def _follow(self, lineage: Lineage | None, states: list[State | None], client: SyncPrefectClient) -> None:
        known = {place: state for place, state in enumerate(states) if state is not None}
        paused = [state for state in known.values() if state.is_paused()]
        if self._is_too_late():
            late = (place for place, state in known.items() if not state.is_running())
            self._end(lineage, max(late, default=0), NOT_RESUMED, client)
        elif lineage is None or not known:
            return
        elif cancelled := [place for place, state in known.items() if state.is_cancelling() or state.is_cancelled()]:
            self._cancel(lineage, max(cancelled), known, client)
        elif lineage.deployed[-1] and (left := [state for state in paused if state.state_details.pause_reschedule]):
            self._suspend(lineage, left[0], client)
        elif paused:
            self._pause(min((each for state in paused if (each := state.state_details.pause_timeout)), default=None))
        elif self._paused and (failed := [place for place, state in known.items() if state.is_final()]):
            self._end(lineage, max(failed), NOT_RESUMED, client)
        elif self._paused:
            self._paused, self._until = False, None
            self._gate.open()
            self._logger.info("Resumed; items are handed out again.")
            self._observer.resumed()

    def _is_too_late(self) -> bool:
        return self._paused and self._until is not None and datetime.now(UTC) > self._until + timedelta(seconds=GRACE_S)

    def _pause(self, until: datetime | None) -> None:
        self._gate.close()
        self._until = until
        if not self._paused:
            self._paused = True
            self._logger.info("Paused; %s items in flight finish, and no others are handed out.", self._in_flight())
            self._observer.paused(self._in_flight(), until)

    def _suspend(self, lineage: Lineage, state: State, client: SyncPrefectClient) -> None:
        """Let this process end as suspended. Prefect suspends no part of a run: one with a process of its own ends as failed."""
        if lineage.deployed[0] and len(lineage.flow_runs) > 1:
            self._end(lineage, 0, SUSPENDED, client)
        else:
            self._gate.close(Pause(state=state))

    def _cancel(self, lineage: Lineage, place: int, states: Mapping[int, State], client: SyncPrefectClient) -> None:
        """End what was cancelled, but for the flow run of a deployment: its worker, or what serves it, terminates its process.

        Neither does that for a part of it, nor where it is gone itself, or the state was set without asking it (``Cancelled``).
        """
        self._cancelled_at = self._cancelled_at or monotonic()
        is_left_to_others = lineage.deployed[place] and states[place].is_cancelling()
        if is_left_to_others and monotonic() - self._cancelled_at < TERMINATED_S:
            self._gate.close()
        else:
            self._end(lineage, place, CANCELLED, client)

    def _end(self, lineage: Lineage | None, place: int, reason: str, client: SyncPrefectClient) -> None:
        """End what runs here: the flow run at this place of the lineage, which ended in Prefect, and all below it."""
        is_outermost = lineage is not None and place == len(lineage.flow_runs) - 1
        for each in lineage.flow_runs[: place + 1] if lineage is not None else ():
            state: State[Any] = Cancelled(message=reason) if reason == CANCELLED else Failed(message=reason)
            with suppress(httpx.HTTPError, PrefectException, ValueError):
                client.set_flow_run_state(each, state, force=True)
        self._gate.close(EndedInPrefect(reason) if is_outermost and (place or reason == CANCELLED) else StoppedInPrefect(reason))
