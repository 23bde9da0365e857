"""The driver of a Ray cluster, in a process of its own: ``python -m … FD`` with a socket to the flow's process.

`ray.init` sets signal handlers, logging and much else for a whole process, ends that process when its cluster is lost, and can
hardly be undone; so it is not called where results are recorded. When that process dies, the socket ends, and so does this.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

from eval_skills.engine.evaluation.cluster.messages import (
    Cancel,
    Close,
    Closed,
    Died,
    Done,
    Lost,
    Opening,
    Ready,
    Report,
    Work,
    receive,
    send,
)
from eval_skills.engine.evaluation.cluster.ray_worker import RayWorker

LOOPBACK = "127.0.0.1"
WATCH_PERIOD_S = 2.0
CLOSE_S = 30.0
"""How long workers may take to close their adapters, and this process to end after the flow's."""

CALLS = 100_000
"""Calls that an actor takes at a time; how many shares it gets is decided here."""

CONNECT_ATTEMPTS = 3
"""Of Ray's client: its server forks beside threads of gRPC, and now and then what it starts for a client does not come up."""

OBJECT_STORE_BYTES = 100 * 2**20
"""Ray takes a third of the memory otherwise. Results of less than 100 KB do not pass through it."""


LOST = (RayError, ConnectionError, RuntimeError)
"""What Ray raises, the last two in its client, when there is no cluster any more."""

CONNECTION_LOST = "the connection to the Ray cluster was lost"


@dataclass(slots=True, eq=False)
class _Worker:
    actor: Any
    shares: int = 0


class Driver:
    """The workers of one run, and the shares that they work on."""

    def __init__(self, opening: Opening, writer: asyncio.StreamWriter) -> None:
        self._opening, self._writer = opening, writer
        self._class = ray.remote(RayWorker).options(num_cpus=1, max_concurrency=CALLS, scheduling_strategy="SPREAD")
        self._run = ray.put(opening.run)
        self._ready: list[_Worker] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._shares: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._wanted, self._is_ready = 1, False
        self._seen_at = monotonic()

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Give shares to workers until the run, or the flow's process, has ended."""
        watch = asyncio.create_task(self._watch())
        try:
            while (order := await receive(reader)) is not None and not isinstance(order, Close):
                if isinstance(order, Work):
                    task = asyncio.create_task(self._work(order))
                    self._shares[order.key] = task
                    task.add_done_callback(partial(self._forget, order.key))
                elif isinstance(order, Cancel) and (share := self._shares.get(order.key)) is not None:
                    share.cancel()
        finally:
            watch.cancel()
        await self._close()

    def _forget(self, key: str, _: asyncio.Task[None]) -> None:
        self._shares.pop(key, None)

    def _report(self, report: Report) -> None:
        send(self._writer, report)

    async def _work(self, work: Work) -> None:
        died = 0
        while True:
            worker = await self._free()
            worker.shares += 1
            try:
                outcomes, is_whole = await worker.actor.begin.remote(work.key, work.share)
                if not is_whole:
                    self._report(Done(work.key, outcomes, early=True))
                    outcomes = await worker.actor.rest.remote(work.key)
                self._report(Done(work.key, outcomes))
                return
            except RayActorError:
                self._give_up(worker)
                died += 1
                if died >= self._opening.processes_per_share:
                    self._report(Died(work.key, died))
                    return
            except asyncio.CancelledError:
                worker.actor.cancel.remote(work.key)
                raise
            except RayTaskError as error:
                self._report(Lost(f"a worker of the Ray cluster failed: {_last_line(error)}"))
                return
            except LOST as error:
                self._report(Lost(f"{CONNECTION_LOST} ({_first_line(error)})"))
                return
            finally:
                worker.shares -= 1
                self._changed.set()

    async def _free(self) -> _Worker:
        """The worker with the fewest shares, once one has a place."""
        while True:
            places = -(-self._opening.concurrency // max(self._wanted, 1))
            worker = min(self._ready, key=lambda each: each.shares, default=None)
            if worker is not None and worker.shares < places:
                return worker
            self._changed.clear()
            await self._changed.wait()

    def _give_up(self, worker: _Worker) -> None:
        if worker in self._ready:
            self._ready.remove(worker)
            self._seen_at = monotonic()
            ray.kill(worker.actor)  # it may be alive behind a network that failed: another takes its shares
            self._start_missing()

    def _start_missing(self) -> None:
        while len(self._ready) + len(self._starting) < self._wanted:
            task = asyncio.create_task(self._start())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _start(self) -> None:
        actor: Any = self._class.remote()
        try:
            refusal = await actor.take.remote(self._run, self._opening.paths)
        except RayActorError as error:
            if "creation task" not in str(error):  # it died; `_watch` starts another
                return
            refusal = _unusable(error)
        except LOST as error:
            refusal = _unusable(error)
        if refusal is not None:
            self._report(Lost(refusal))
            return
        if not self._is_ready:
            self._is_ready = True
            self._report(Ready())
        self._ready.append(_Worker(actor))
        self._changed.set()

    async def _watch(self) -> None:
        """Have as many workers as there are cores for them, also when the cluster grows; give up when there is none for long."""
        while True:
            try:
                cores = int((await asyncio.to_thread(ray.cluster_resources)).get("CPU", 0))
            except LOST as error:
                self._report(Lost(f"{CONNECTION_LOST} ({_first_line(error)})"))
                return
            self._wanted = max(1, min(cores, self._opening.concurrency))
            self._start_missing()
            self._changed.set()
            if self._ready:
                self._seen_at = monotonic()
            elif monotonic() - self._seen_at > self._opening.no_worker_s:
                self._report(Lost(f"the Ray cluster has had no worker for {self._opening.no_worker_s:g} s"))
                return
            await asyncio.sleep(WATCH_PERIOD_S)

    async def _close(self) -> None:
        for task in (*self._starting, *self._shares.values()):
            task.cancel()
        closing = [asyncio.ensure_future(_closed(worker)) for worker in self._ready]
        done = (await asyncio.wait(closing, timeout=CLOSE_S))[0] if closing else set()
        self._report(Closed([remark for task in done for remark in task.result()]))
        with suppress(ConnectionError):  # the flow's process is gone
            await self._writer.drain()


async def _closed(worker: _Worker) -> list[str]:
    try:
        remarks: list[str] = await worker.actor.close.remote()
    except LOST:  # it is gone, and with it what it would have closed
        return []
    return remarks


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _last_line(error: Exception) -> str:
    """Where Ray's errors name the exception that was raised on a worker."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()


def _unusable(error: Exception) -> str:
    return f"a worker of the Ray cluster cannot be used ({_last_line(error)}); it needs the same packages as this process"


def _unreachable(address: str | None, error: Exception) -> str:
    if address is None:
        return f"Ray cannot be started on this machine: {_first_line(error)}"
    if isinstance(error, ConnectionAbortedError):
        hint = f", {CONNECT_ATTEMPTS} times; if that happens often, start its head with GRPC_ENABLE_FORK_SUPPORT=0"
    else:
        hint = "; if it asks for a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH"
    return f"the Ray cluster at {address} cannot be used: {_last_line(error)}{hint if isinstance(error, ConnectionError) else ''}"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _connect(opening: Opening) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL, "configure_logging": True}
    if opening.address is None:
        workers = min(_cores(), opening.concurrency)
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False, "_temp_dir": opening.folder}
        options |= {"_node_ip_address": LOOPBACK, "object_store_memory": OBJECT_STORE_BYTES}
    else:
        options["address"] = opening.address
    for left in reversed(range(CONNECT_ATTEMPTS)):
        try:
            ray.init(**options)
            return
        except ConnectionAbortedError:
            if not left:
                raise
            ray.shutdown()


async def _main(sock: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=sock)
    opening = await receive(reader)
    if not isinstance(opening, Opening):
        return
    sys.path.extend(path for path in opening.paths if path not in sys.path)
    try:
        _connect(opening)  # on the main thread: what it starts ends with the thread that started it
        driver = Driver(opening, writer)
    except Exception as error:  # noqa: BLE001 - of whatever kind; it is raised in the flow's process
        send(writer, Lost(_unreachable(opening.address, error)))
        await writer.drain()
    else:
        await driver.serve(reader)
    finally:
        ray.shutdown()
        shutil.rmtree(opening.folder, ignore_errors=True)  # the flow's process may have been killed


def _end_with(parent: int) -> None:
    """End this process when the flow's has ended, also while Ray does not return."""
    while os.getppid() == parent:
        time.sleep(1)
    time.sleep(CLOSE_S)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    asyncio.run(_main(socket.socket(fileno=int(sys.argv[1]))))
