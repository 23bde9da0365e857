"""Serving deployments from this process, with the schedules, forms and limits of a ``prefect.yaml``, without a work pool."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import copy_context
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import Any, Literal

from httpx import HTTPError
from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy, DeploymentStatus
from prefect.client.schemas.responses import DeploymentResponse
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectNotFound
from prefect.runner import Runner
from prefect.schedules import Cron, Schedule
from prefect.server.schemas.schedules import CronSchedule as ServerCron
from prefect.types.entrypoint import EntrypointType
from prefect.utilities.schema_tools import ValidationError as WrongParameters
from prefect.utilities.schema_tools import validate
from pydantic import ValidationError

from eval_skills.core.errors import InputError, UsageError
from eval_skills.deployments.deployment_file import CronSchedule, DeploymentEntry

LOOK_S = 15.0
"""How often it is looked whether what is served would still be started."""

State = Literal["starts", "paused", "deleted"]


def serve_deployments(deployments: Sequence[RunnerDeployment], *, limit: int, tell: Callable[[str], None]) -> None:
    """Register these deployments and run what is due, at most `limit` runs at a time, until SIGINT or SIGTERM.

    Each run is a process of its own in the current folder. `tell` gets a line for each deployment that is paused, resumed or
    deleted meanwhile. At the end the runs that go on are cancelled, and the schedules paused: nothing would run them.
    """
    runner = Runner(pause_on_shutdown=False, limit=limit)
    for each in deployments:
        runner.add_deployment(each)
    try:
        with watched(deployments, tell), cancelled_by_interrupt(runner), suppress(KeyboardInterrupt):
            asyncio.run(runner.start())
    finally:
        pause(deployments)


@contextmanager
def cancelled_by_interrupt(runner: Runner) -> Iterator[None]:
    """Inside, Ctrl-C ends the runner as SIGTERM does, and a second one at once.

    Prefect's own way kills the processes of the runs and says so to nobody: they stay *Running* and hold their places.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        if not runner.started or runner.stopping:
            signal.default_int_handler(number, frame)
        runner.stopping = True
        runner.execute_in_background(runner.astop)

    before = signal.getsignal(signal.SIGINT)
    if before != signal.SIG_IGN:  # as of a job in the background
        signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def watched(deployments: Sequence[RunnerDeployment], tell: Callable[[str], None], *, every_s: float = LOOK_S) -> Iterator[None]:
    """Inside, `tell` gets a line when one of these is paused, resumed or deleted in Prefect, where its runs merely stay away.

    It is called in a thread of its own. While the server does not answer, nothing is known, and nothing told.
    """
    over = Event()
    watch = Thread(target=copy_context().run, args=(_watch, deployments, tell, over, every_s), name="watch of what is served")
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()


def _watch(deployments: Sequence[RunnerDeployment], tell: Callable[[str], None], over: Event, every_s: float) -> None:
    registered = {each.full_name: _registered_as(each) for each in deployments}
    states: dict[str, State] = {}
    while not over.wait(every_s):
        try:
            found = dict(_known(list(registered)))
        except HTTPError:
            continue
        for name in registered:
            state = _state(found.get(name))
            if name not in states and state != registered[name]:
                continue  # it is as it was left before, and still being registered
            before, states[name] = states.get(name, state), state
            if state != before and not over.is_set():
                tell(_words(name, state))


def _registered_as(deployment: RunnerDeployment) -> State:
    schedules = deployment.schedules or []
    return "paused" if schedules and not any(each.active for each in schedules) else "starts"


def _state(there: DeploymentResponse | None) -> State:
    if there is None:
        return "deleted"
    is_off = there.schedules and not any(each.active for each in there.schedules)
    return "paused" if there.paused or is_off else "starts"


def _words(name: str, state: State) -> str:
    if state == "deleted":
        return f"{name} was deleted in Prefect: nothing starts it any more; start this command again to register it anew"
    if state == "paused":
        return f"{name} was paused in Prefect: its schedule starts nothing until it is resumed there"
    return f"{name} was resumed in Prefect: its schedule starts runs again"


def pause(deployments: Sequence[RunnerDeployment]) -> None:
    """Pause those that the server has. Prefect's own way ends at the first one that somebody deleted, and leaves the rest."""
    with get_client(sync_client=True) as client:
        for each in deployments:
            with suppress(ObjectNotFound):
                client.pause_deployment(client.read_deployment_by_name(each.full_name).id)


def prepared(entries: Sequence[DeploymentEntry], source: Path) -> list[RunnerDeployment]:
    """The deployments of `source` for Prefect; nothing is registered yet.

    Raises:
        InputError: a flow does not exist, a schedule is not valid, or a parameter is not one of the flow.
        UsageError: one is registered for the workers of a pool, which would run it, too.
    """
    deployments = [_deployment(entry, source) for entry in entries]
    _refuse_pooled(entries)
    return deployments


def _deployment(entry: DeploymentEntry, source: Path) -> RunnerDeployment:
    where = f"deployment {entry.name!r}"
    flow = _flow(entry, source, where)
    try:
        validate(entry.parameters, flow.parameters.model_dump(), raise_on_error=True, preprocess=False, ignore_required=True)
        return RunnerDeployment.from_flow(
            flow,
            name=entry.name,
            description=entry.description,
            tags=entry.tags,
            parameters=entry.parameters,
            schedules=[_schedule(each) for each in entry.schedules],
            concurrency_limit=_limit(entry),
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
    except WrongParameters as error:
        raise InputError(_reason(error), source=source, path=f"{where}: parameters") from None
    except ValueError as error:
        raise InputError(_reason(error), source=source, path=f"{where}: schedules") from None


def _schedule(given: CronSchedule) -> Schedule:
    """The schedule for Prefect, whose scheduler takes lines that never come, and reads a sixth field, at the end, as seconds.

    Raises:
        ValueError: it does not begin anything, or not what its writer may think.
    """
    schedule = Cron(given.cron, timezone=given.timezone, active=given.active, slug=given.slug)
    fields = len(given.cron.split())
    if fields > 5:
        raise ValueError(
            f"cron {given.cron!r} has {fields} fields; give five: minute, hour, day of the month, month, day of the week"
        )
    on_the_server = ServerCron(cron=given.cron, timezone=given.timezone)
    try:
        asyncio.run(on_the_server.get_dates(1))
    except ValueError:
        raise ValueError(
            f"cron {given.cron!r} never comes: no date of the coming 50 years fits it; change day or month"
        ) from None
    return schedule


def _flow(entry: DeploymentEntry, source: Path, where: str) -> Flow[..., Any]:
    module, _, name = entry.entrypoint.rpartition(".")
    try:
        found = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        raise InputError(str(error), source=source, path=f"{where}: entrypoint") from None
    if not isinstance(found, Flow):
        raise InputError(f"{entry.entrypoint} is not a flow", source=source, path=f"{where}: entrypoint")
    return found


def _limit(entry: DeploymentEntry) -> ConcurrencyLimitConfig | None:
    if entry.concurrency_limit is None:
        return None
    strategy = ConcurrencyLimitStrategy(entry.concurrency_limit.collision_strategy)
    return ConcurrencyLimitConfig(limit=entry.concurrency_limit.limit, collision_strategy=strategy)


def _reason(error: Exception) -> str:
    text = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
    return text.removeprefix("Value error, ").splitlines()[0]


def served_elsewhere(entries: Sequence[DeploymentEntry]) -> list[str]:
    """The names of those that another process seems to serve: Prefect has heard of one within the last minute.

    Whichever ends first pauses them for both.
    """
    known = _known([entry.full_name for entry in entries])
    return [name for name, there in known if there.status == DeploymentStatus.READY and not there.paused]


def _refuse_pooled(entries: Sequence[DeploymentEntry]) -> None:
    """Refuse a deployment of a work pool: serving it would leave it in the pool, without the step that sets its folder."""
    for name, there in _known([entry.full_name for entry in entries]):
        if pool := there.work_pool_name:
            raise UsageError(
                f"{name} is deployed to the work pool {pool!r}, whose workers run it; to serve it from here, "
                f"first `prefect deployment delete {name}`, or leave it out with --only"
            )


def _known(names: Sequence[str]) -> Iterator[tuple[str, DeploymentResponse]]:
    """By name: what the server has of those deployments that it knows."""
    with get_client(sync_client=True) as client:
        for name in names:
            with suppress(ObjectNotFound):
                yield name, client.read_deployment_by_name(name)
