"""Warm workers, one for each call in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from eval_skills.adapters.call import Call, shield_cleanup
from eval_skills.adapters.process.jsonrpc import Reply
from eval_skills.adapters.process.launch import Launch
from eval_skills.adapters.process.worker import Worker
from eval_skills.core.errors import InfraError

EXIT_WAIT_S = 0.3
"""How long an idle worker may take to end by itself when its standard input closes."""


class WorkerPool:
    """Grows when every worker is busy; hands out the one used last, so that the others stay cold under a light load.

    A new worker is handed out once `prepare` is through with it.
    """

    def __init__(self, launch: Launch, max_line_bytes: int, prepare: Callable[[Worker], Awaitable[None]] | None = None) -> None:
        self._launch, self._max_line_bytes, self._prepare = launch, max_line_bytes, prepare
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._closed = False

    async def take(self) -> Worker:
        """A worker for one call: an idle one that is alive, else a new one.

        Raises:
            InfraError: a new one cannot be started or prepared, or the pool is closed.
        """
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            self._all.discard(worker)
        worker = Worker(self._launch, self._max_line_bytes)
        await worker.start()
        self._all.add(worker)
        if self._closed:  # while it started
            await self.discard(worker)
            raise InfraError("the adapter was closed during the call")
        if self._prepare is not None:
            try:
                await self._prepare(worker)
            except BaseException:
                await shield_cleanup(self.discard(worker))
                raise
        return worker

    async def ask(self, worker: Worker, request_id: int, params: Any, call: Call) -> Reply:
        """The reply of a worker that was taken, timed and with its logs by `call`; then the worker is given back, or ended
        where it gave none.

        Raises:
            ItemError: as `Worker.ask` does.
        """
        call.start()
        try:
            reply = await worker.ask(request_id, params)
        except BaseException:
            call.stop()
            call.seen, call.logs = worker.seen(), worker.take_logs()
            await shield_cleanup(self.discard(worker))
            raise
        call.start(not_before=worker.unread_until)
        call.stop(worker.answered_at)
        call.logs = worker.take_logs()
        self.give_back(worker)
        return reply

    def give_back(self, worker: Worker) -> None:
        """Return a worker that has answered."""
        self._idle.append(worker)

    async def discard(self, worker: Worker) -> None:
        """End a worker that cannot be trusted any more; the next `take` starts a new one if it needs one."""
        self._all.discard(worker)
        await worker.stop()

    async def close(self) -> None:
        """End all workers; the idle ones may end by themselves first."""
        self._closed = True
        await asyncio.gather(*(worker.finish(EXIT_WAIT_S) for worker in self._all))
        self._idle.clear()
        self._all.clear()
