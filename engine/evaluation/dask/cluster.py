"""Execution of items on a Dask cluster: in worker processes, here or on other machines."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from itertools import takewhile
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from dask.system import CPU_COUNT
from distributed import Client, Future, KilledWorker, LocalCluster
from distributed.client import FutureCancelledError
from distributed.comm.core import CommClosedError

from eval_skills.core.config.limits import dask_address
from eval_skills.core.errors import RunError, SkillUnavailable
from eval_skills.core.models import Attempt
from eval_skills.core.telemetry.spans import trace_headers
from eval_skills.engine.evaluation.dask.worker import EARLY, RunOnWorker, Share, execute_on_worker, worker_plugin
from eval_skills.engine.evaluation.execution import Outcome, no_answer
from eval_skills.engine.evaluation.plan import Item, RunPlan

CONNECT_TIMEOUT_S = 60.0
NO_WORKER_S = 300.0
"""How long a cluster may be without any worker, at the start (one that grows on demand) or later, before the run gives up."""

WATCH_PERIOD_S = 2.0
LOOPBACK = "127.0.0.1"


class DaskExecutor:
    """Gives attempts at items to workers, as Dask tasks: of a batch as many as a worker makes in a moment, else one; their
    outcomes are returned to this process.

    When a worker dies, the scheduler gives its items to others. An item at which worker after worker dies (four by Dask's
    default) is a transient `infra` error; those of a batch are given out one by one then. Items of a cluster that is gone have no
    result and are left for a resume.
    """

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._open = AsyncExitStack()
        self._client: Any = None
        self._lost = ""
        self._waiting: set[Future[Any]] = set()
        self._alone: set[Item] = set()
        self._early: dict[str, asyncio.Queue[list[Outcome]]] = {}

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opening:
            self._client = await opening.enter_async_context(_connected(self._plan))
            await opening.enter_async_context(self._on_every_worker())
            await opening.enter_async_context(self._watched())
            self._open = opening.pop_all()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._open.aclose()

    async def execute(self, item: Item, earlier: Sequence[Attempt]) -> Outcome:
        """Make one attempt at `item` on the worker that the scheduler chooses. Raises RunError: the cluster is gone."""
        started_at, began = datetime.now(UTC), perf_counter()
        try:
            [[outcome]] = [found async for found in self._on_a_worker(Share(_key(item), (item,), tuple(earlier)))]
            return outcome
        except KilledWorker as error:
            died = SkillUnavailable(f"{error.allowed_failures + 1} worker processes died while they worked on this item")
            return no_answer(item, self._plan, died, started_at, (perf_counter() - began) * 1000, earlier)

    async def execute_some(self, items: Sequence[Item], for_s: float, *, retried: bool) -> AsyncIterator[list[Outcome]]:
        """Attempt what one worker makes of `items` in `for_s` seconds, as one Dask task. Raises RunError: the cluster is gone."""
        together = tuple(takewhile(lambda item: item not in self._alone, items)) if for_s else ()
        known = 0
        if len(together) > 1:
            try:
                async for outcomes in self._on_a_worker(Share(_key(items[0]), together, for_s=for_s, retried=retried)):
                    known += len(outcomes)
                    yield outcomes
                return
            except KilledWorker:  # at one of them, nobody knows which
                self._alone.update(together[known:])
        yield [await self.execute(items[known], ())]

    async def _on_a_worker(self, share: Share) -> AsyncIterator[list[Outcome]]:
        """The outcomes of a share, in one piece or, where it takes longer than it was to, in two.

        A worker that takes over from one that died begins anew: what is known already is not given out again.
        """
        if self._lost:
            raise RunError(self._lost)
        future = self._client.submit(
            execute_on_worker, worker_plugin(self._plan.run_id), share, trace_headers(), key=share.key, pure=False
        )
        self._waiting.add(future)
        self._early[share.key] = early = asyncio.Queue[list[Outcome]]()
        whole = asyncio.ensure_future(future.result())
        whole.add_done_callback(lambda _: early.put_nowait([]))
        known = 0
        try:
            while not whole.done():
                if new := (await early.get())[known:]:
                    known += len(new)
                    yield new
            yield whole.result().outcomes[known:]
        except (FutureCancelledError, CommClosedError):
            self._lost = self._lost or "the connection to the Dask cluster was lost"
            raise RunError(self._lost) from None
        finally:
            whole.cancel()
            self._waiting.discard(future)
            del self._early[share.key]
            future.release()

    def _hear_early(self, event: tuple[float, dict[str, Any]]) -> None:
        told = event[1]
        if (early := self._early.get(told["key"])) is not None:
            early.put_nowait(pickle.loads(told["outcomes"]))  # noqa: S301 - as Dask reads all that its workers send

    @asynccontextmanager
    async def _on_every_worker(self) -> AsyncIterator[None]:
        plugin = RunOnWorker(self._plan, private=dask_address(self._plan.request.task_runner) is None)
        try:
            await self._introduce(plugin)
            self._client.subscribe_topic(EARLY, self._hear_early)
            yield
        finally:
            if self._client.status == "running":  # a cluster that is gone has nothing to stop
                with suppress(CommClosedError, OSError, KeyError):  # nor has a worker that never had the plugin
                    await self._client.unregister_worker_plugin(plugin.name)

    async def _introduce(self, plugin: RunOnWorker) -> None:
        try:
            await self._client.register_plugin(plugin, name=plugin.name)
        except RunError:
            raise
        except Exception as error:  # a failure in a worker is raised here as any kind of exception
            text = f"a worker of the Dask cluster cannot be used ({error}); it needs the same packages as this process"
            raise RunError(text) from error

    @asynccontextmanager
    async def _watched(self) -> AsyncIterator[None]:
        watch = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.wait([watch])

    async def _watch(self) -> None:
        """Give up when there has been no worker for too long: the scheduler itself would wait for ever."""
        seen_at = monotonic()
        while not self._lost:
            await asyncio.sleep(WATCH_PERIOD_S)
            try:
                seen_at = monotonic() if await self._client.scheduler.ncores() else seen_at
            except (CommClosedError, OSError):  # raised where an outcome is waited for, too
                continue
            if monotonic() - seen_at > NO_WORKER_S:
                self._lost = f"the Dask cluster has had no worker for {NO_WORKER_S:g} s"
                await self._client.cancel(list(self._waiting))


def _key(item: Item) -> str:
    return f"{item}-{uuid4().hex}"


@asynccontextmanager
async def _connected(plan: RunPlan) -> AsyncIterator[Any]:
    """A client of the cluster that the run's request names; one of its own for the length of the run, if it names none."""
    address = dask_address(plan.request.task_runner)
    async with AsyncExitStack() as stack:
        cluster = address or await stack.enter_async_context(_local_cluster(plan.request.concurrency))
        try:
            client: Any = Client(  # type: ignore[no-untyped-call]
                cluster, asynchronous=True, set_as_default=False, timeout=CONNECT_TIMEOUT_S
            )
            await stack.enter_async_context(client)
            await client.wait_for_workers(1, timeout=NO_WORKER_S)
        except OSError as error:  # also its TimeoutError
            raise RunError(f"the Dask cluster {plan.request.task_runner} cannot be used: {error}") from None
        yield client


def _local_cluster(concurrency: int) -> Any:
    """Worker processes on this machine, one per core but no more than items at a time, with a place for each of those."""
    workers = min(CPU_COUNT, concurrency)
    return LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=workers,
        threads_per_worker=-(-concurrency // workers),
        processes=True,
        host=LOOPBACK,
        dashboard_address=f"{LOOPBACK}:0",
        worker_dashboard_address=f"{LOOPBACK}:0",
        silence_logs=logging.CRITICAL,
        asynchronous=True,
    )
