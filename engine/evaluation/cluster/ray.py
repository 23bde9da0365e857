"""Execution of items on a Ray cluster: in worker processes, here or on other machines."""

from __future__ import annotations

import asyncio
import os
import pickle
import secrets
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from eval_skills.core.config.values import ray_address
from eval_skills.core.errors import RunError
from eval_skills.core.telemetry.spans import trace_headers
from eval_skills.engine.evaluation.cluster import executor
from eval_skills.engine.evaluation.cluster.executor import ClusterExecutor, Tell, WorkersDied
from eval_skills.engine.evaluation.cluster.messages import (
    Cancel,
    Close,
    Closed,
    Died,
    Done,
    Lost,
    Opening,
    Order,
    Ready,
    Report,
    Work,
    receive,
    send,
)
from eval_skills.engine.evaluation.cluster.worker import Share, WorkerRun
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.plan import RunPlan

DRIVER = "eval_skills.engine.evaluation.cluster.ray_driver"
PROCESSES_PER_SHARE = 4
"""So many worker processes may die at a share, as with Dask."""

CONNECT_TIMEOUT_S = 60.0
END_S = 60.0
"""How long the driver may take to end the run on its workers, and itself."""

LOG = "driver.log"
LONGEST_FOLDER = 40
"""Ray's sockets lie in the folder of its files, and their paths may have 107 characters."""

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # else macOS and Windows listen beyond loopback
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # workers need what is installed, not what `uv run` would make
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else it prints a warning about its own future
    "RAY_LOG_TO_STDERR": "0",
}
"""Variables of the driver: no reports to Ray's makers, no listening beyond this machine, no lines on the terminal."""


def _own_token() -> dict[str, str]:
    """What keeps other users of this machine out of a cluster of the run's own; Ray would keep a token of its own in the user's
    home, and ask for it in all later clusters.
    """
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


class RayExecutor(ClusterExecutor):
    """Gives shares to the driver of the Ray cluster, a process of its own, which gives them to workers."""

    _ready: asyncio.Future[None]

    def __init__(self, plan: RunPlan) -> None:
        super().__init__(plan)
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: dict[str, tuple[asyncio.Future[list[Outcome]], Tell]] = {}

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        with _folder() as folder:
            async with _driver(folder / LOG, ray_address(self._plan.request.task_runner)) as (reader, self._writer):
                self._ready = asyncio.get_running_loop().create_future()
                hearing = asyncio.create_task(self._hear(reader))
                try:
                    await self._begin(folder)
                    yield
                finally:
                    self._send(Close())
                    await asyncio.wait([hearing], timeout=END_S)
                    hearing.cancel()

    async def _begin(self, folder: Path) -> None:
        task_runner = self._plan.request.task_runner
        address = ray_address(task_runner)
        opening = Opening(
            address=address,
            folder=str(folder),
            concurrency=self._plan.request.concurrency,
            run=pickle.dumps(WorkerRun(self._plan)),
            paths=() if address else tuple(sys.path),
            processes_per_share=PROCESSES_PER_SHARE,
            no_worker_s=executor.NO_WORKER_S,
        )
        self._send(opening)
        try:
            await asyncio.wait_for(asyncio.shield(self._ready), CONNECT_TIMEOUT_S + executor.NO_WORKER_S)
        except TimeoutError:
            raise RunError(f"the Ray cluster {task_runner} cannot be used: it does not answer") from None

    async def _deliver(self, share: Share, tell: Tell) -> list[Outcome]:
        answer: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        self._waiting[share.key] = (answer, tell)
        try:
            self._send(Work(share.key, pickle.dumps((share, trace_headers()))))
            return await answer
        except asyncio.CancelledError:
            self._send(Cancel(share.key))
            raise
        finally:
            del self._waiting[share.key]

    def _send(self, order: Order) -> None:
        if self._writer is not None:
            send(self._writer, order)

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        """Take what the driver reports, until it ends; whoever waits must not wait for ever, whatever the end was."""
        try:
            while (report := await receive(reader)) is not None:
                self._take(report)
        finally:
            self._lose("the process that kept the connection to the Ray cluster has ended")

    def _take(self, report: Report | Order) -> None:
        if isinstance(report, Ready):
            self._ready.set_result(None)
        elif isinstance(report, Lost):
            self._lose(report.why)
        elif isinstance(report, Closed):
            self._plan.remarks.extend(report.remarks)
        elif isinstance(report, Done | Died) and report.key in self._waiting:
            _settle(report, *self._waiting[report.key])

    def _lose(self, why: str) -> None:
        self._lost = self._lost or why
        unsettled: list[asyncio.Future[Any]] = [self._ready, *(answer for answer, _ in self._waiting.values())]
        for each in unsettled:
            if not each.done():
                each.set_exception(RunError(self._lost))


def _settle(report: Done | Died, answer: asyncio.Future[list[Outcome]], tell: Tell) -> None:
    if answer.done():
        return
    if isinstance(report, Died):
        answer.set_exception(WorkersDied(report.processes))
        return
    outcomes = pickle.loads(report.outcomes)  # noqa: S301 - of our own workers, which run what this process sends them
    if report.early:
        tell(outcomes)
    elif isinstance(outcomes, BaseException):
        answer.set_exception(outcomes)
    else:
        answer.set_result(outcomes)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for Ray's files, which it would leave in one that all its clusters share."""
    usual = tempfile.gettempdir()
    place = usual if len(usual) <= LONGEST_FOLDER else "/tmp"  # noqa: S108 - the folder inside is private
    with tempfile.TemporaryDirectory(prefix="es-ray-", dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@asynccontextmanager
async def _driver(log: Path, address: str | None) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """The driver's process, and the way to it. It has a session of its own, so that Ctrl-C reaches the flow's process alone."""
    ours, its = socket.socketpair()
    with its, log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", DRIVER, str(its.fileno())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[its.fileno()],
            env=os.environ | QUIET | ({} if address else _own_token()),
            start_new_session=True,
        )
    reader, writer = await asyncio.open_connection(sock=ours)
    try:
        yield reader, writer
    finally:
        writer.close()
        try:
            await asyncio.wait_for(process.wait(), END_S)
        except TimeoutError:
            process.kill()  # what it started ends with it
            await process.wait()
