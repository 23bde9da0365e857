"""What executing items on a cluster has in common, whichever cluster it is: batches, early outcomes, and deaths of workers."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import UTC, datetime
from itertools import takewhile
from time import perf_counter
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from eval_skills.core.errors import RunError, SkillUnavailable
from eval_skills.core.models import Attempt
from eval_skills.engine.evaluation.cluster.worker import Share
from eval_skills.engine.evaluation.execution import Outcome, no_answer
from eval_skills.engine.evaluation.plan import Item, RunPlan

NO_WORKER_S = 300.0
"""How long a cluster may be without any worker, at the start (one that grows on demand) or later, before the run gives up."""

WATCH_PERIOD_S = 2.0
"""How often it is looked whether a cluster has workers."""

Tell = Callable[[list[Outcome]], None]
"""Takes the outcomes of a share that are known so far: all of them each time, as a worker that takes over begins anew."""


class WorkersDied(Exception):
    """As many worker processes died at one share as the cluster allows."""

    def __init__(self, processes: int) -> None:
        super().__init__(processes)
        self.processes = processes


class ClusterExecutor(ABC):
    """Gives attempts at items to workers: of a batch as many as a worker makes in a moment, else one; their outcomes are returned
    to this process.

    When a worker dies, its items are given to others. An item at which worker after worker dies (four by default) is a transient
    `infra` error; those of a batch are given out one by one then. Items of a cluster that is gone have no result and are left
    for a resume.
    """

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._lost = ""
        self._open = AsyncExitStack()
        self._alone: set[Item] = set()

    @abstractmethod
    def _connected(self) -> AbstractAsyncContextManager[Any]:
        """The cluster with this run on its workers, as long as it is open. Raises RunError: it cannot be used."""

    @abstractmethod
    async def _deliver(self, share: Share, tell: Tell) -> list[Outcome]:
        """All outcomes of a share from whichever worker takes it, those known earlier through `tell`.

        Raises:
            WorkersDied: worker after worker died at it.
            RunError: the cluster is gone.
        """

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opening:
            await opening.enter_async_context(self._connected())
            self._open = opening.pop_all()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._open.aclose()

    async def execute(self, item: Item, earlier: Sequence[Attempt]) -> Outcome:
        """Make one attempt at `item` on the worker that the cluster chooses. Raises RunError: the cluster is gone."""
        started_at, began = datetime.now(UTC), perf_counter()
        try:
            [[outcome]] = [found async for found in self._on_a_worker(Share(_key(item), (item,), tuple(earlier)))]
            return outcome
        except WorkersDied as error:
            died = SkillUnavailable(f"{error.processes} worker processes died while they worked on this item")
            return no_answer(item, self._plan, died, started_at, (perf_counter() - began) * 1000, earlier)

    async def execute_some(self, items: Sequence[Item], for_s: float, *, retried: bool) -> AsyncIterator[list[Outcome]]:
        """Attempt what one worker makes of `items` in `for_s` seconds, as one share. Raises RunError: the cluster is gone."""
        together = tuple(takewhile(lambda item: item not in self._alone, items)) if for_s else ()
        known = 0
        if len(together) > 1:
            try:
                async for outcomes in self._on_a_worker(Share(_key(items[0]), together, for_s=for_s, retried=retried)):
                    known += len(outcomes)
                    yield outcomes
                return
            except WorkersDied:  # at one of them, nobody knows which
                self._alone.update(together[known:])
        yield [await self.execute(items[known], ())]

    async def _on_a_worker(self, share: Share) -> AsyncIterator[list[Outcome]]:
        """The outcomes of a share, in one piece or, where it takes longer than it was to, in two.

        A worker that takes over from one that died begins anew: what is known already is not given out again.
        """
        if self._lost:
            raise RunError(self._lost)
        early = asyncio.Queue[list[Outcome]]()
        whole = asyncio.ensure_future(self._deliver(share, early.put_nowait))
        whole.add_done_callback(lambda _: early.put_nowait([]))
        known = 0
        try:
            while not whole.done():
                if new := (await early.get())[known:]:
                    known += len(new)
                    yield new
            yield whole.result()[known:]
        finally:
            if whole.cancel():
                await asyncio.wait([whole])


def _key(item: Item) -> str:
    return f"{item}-{uuid4().hex}"
