"""A worker of a Ray cluster: an actor that holds one run, with its adapters open."""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import sys
from collections.abc import Mapping

from eval_skills.core.errors import RunError
from eval_skills.core.telemetry.spans import continued
from eval_skills.engine.evaluation.cluster.worker import Share, WorkerRun
from eval_skills.engine.evaluation.execution import Outcome


class RayWorker:
    """Takes shares, several at a time, and answers with pickled outcomes, or with the exception that was raised instead.

    Answers come in one piece or in two calls and not as a stream, which Ray's client does not have.
    """

    def __init__(self) -> None:
        self._run: WorkerRun | None = None
        self._working: dict[str, asyncio.Task[list[Outcome]]] = {}

    async def take(self, run: bytes, paths: tuple[str, ...]) -> str | None:
        """Make ready for a run, whose own modules are found in `paths`; returns why it cannot be evaluated here, if it cannot."""
        sys.path.extend(path for path in paths if path not in sys.path)
        self._run = pickle.loads(run)  # noqa: S301 - from the process that gives this one its work
        try:
            self._held().check(f"{socket.gethostname()}, process {os.getpid()},")
        except RunError as refusal:
            return str(refusal)
        return None

    async def begin(self, key: str, share: bytes) -> tuple[bytes, bool]:
        """The outcomes of a share and True; or, where an item takes longer than the share was to, the known ones and False."""
        early: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        work = self._working[key] = asyncio.create_task(self._execute(share, early))
        await asyncio.wait((work, early), return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return await self._answer(key, work), True
        return pickle.dumps(early.result()), False

    async def rest(self, key: str) -> bytes:
        """All outcomes of a share that `begin` gave a part of."""
        return await self._answer(key, self._working[key])

    async def cancel(self, key: str) -> None:
        """Stop a share that nobody waits for any more."""
        if (work := self._working.get(key)) is not None:
            work.cancel()

    async def close(self) -> list[str]:
        """Stop what still works here, and close the adapters; returns what those have to say."""
        await self._held().close()
        return self._held().remarks

    def _held(self) -> WorkerRun:
        if self._run is None:
            raise RunError("this worker has no run yet")
        return self._run

    async def _execute(self, packed: bytes, early: asyncio.Future[list[Outcome]]) -> list[Outcome]:
        share: Share
        trace: Mapping[str, str]
        share, trace = pickle.loads(packed)  # noqa: S301 - of our own driver
        with continued(trace):
            return await self._held().execute(share, lambda outcomes: early.set_result(list(outcomes)))

    async def _answer(self, key: str, work: asyncio.Task[list[Outcome]]) -> bytes:
        try:
            return pickle.dumps(await work)
        except Exception as error:  # noqa: BLE001 - raised again where the outcomes are waited for
            return pickle.dumps(error)
        finally:
            self._working.pop(key, None)
