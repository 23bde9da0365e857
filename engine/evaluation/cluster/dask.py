"""Execution of items on a Dask cluster: in worker processes, here or on other machines."""

from __future__ import annotations

import asyncio
import logging
import pickle
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

from dask.system import CPU_COUNT
from distributed import Client, Future, KilledWorker, LocalCluster, Reschedule, Worker, get_worker
from distributed.client import FutureCancelledError
from distributed.comm.core import CommClosedError
from distributed.diagnostics.plugin import WorkerPlugin

from eval_skills.core.config.values import dask_address
from eval_skills.core.errors import RunError
from eval_skills.core.telemetry.spans import continued, trace_headers
from eval_skills.engine.evaluation.cluster import executor
from eval_skills.engine.evaluation.cluster.executor import ClusterExecutor, Tell, WorkersDied
from eval_skills.engine.evaluation.cluster.worker import Share, WorkerRun
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.plan import RunPlan

CONNECT_TIMEOUT_S = 60.0
LOOPBACK = "127.0.0.1"
EARLY = "eval-skills-early"
"""The topic of outcomes that are sent before their Dask task has ended; one for all runs, as the scheduler keeps the last
thousand of each topic for good."""


class DaskExecutor(ClusterExecutor):
    """Gives each share to Dask's scheduler as one Dask task. When a worker dies, the scheduler gives its tasks to others."""

    def __init__(self, plan: RunPlan) -> None:
        super().__init__(plan)
        self._client: Any = None
        self._waiting: set[Future[Any]] = set()
        self._early: dict[str, Tell] = {}

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        async with _client(self._plan) as self._client, self._on_every_worker(), self._watched():
            yield

    async def _deliver(self, share: Share, tell: Tell) -> list[Outcome]:
        future = self._client.submit(
            execute_on_worker, worker_plugin(self._plan.run_id), share, trace_headers(), key=share.key, pure=False
        )
        self._waiting.add(future)
        self._early[share.key] = tell
        try:
            delivery: Delivery = await future.result()
        except KilledWorker as error:
            raise WorkersDied(error.allowed_failures + 1) from None
        except (FutureCancelledError, CommClosedError):
            self._lost = self._lost or "the connection to the Dask cluster was lost"
            raise RunError(self._lost) from None
        finally:
            self._waiting.discard(future)
            del self._early[share.key]
            future.release()
        return delivery.outcomes

    def _hear_early(self, event: tuple[float, dict[str, Any]]) -> None:
        told = event[1]
        if (tell := self._early.get(told["key"])) is not None:
            tell(pickle.loads(told["outcomes"]))  # noqa: S301 - as Dask reads all that its workers send

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
        """Give up when there has been no worker for too long: the scheduler itself would wait for ever.

        In a cluster of the run's own, put others in the place of workers that have not come back: what starts a worker anew when
        it dies does not where it dies while it starts, as at the hands of an item.
        """
        seen_at, own = monotonic(), self._client.cluster
        while not self._lost:
            await asyncio.sleep(executor.WATCH_PERIOD_S)
            if own is not None:
                own.scale(len(own.worker_spec))
            try:
                seen_at = monotonic() if await self._client.scheduler.ncores() else seen_at
            except (CommClosedError, OSError):  # raised where an outcome is waited for, too
                continue
            if monotonic() - seen_at > executor.NO_WORKER_S:
                self._lost = f"the Dask cluster has had no worker for {executor.NO_WORKER_S:g} s"
                await self._client.cancel(list(self._waiting))


@dataclass(frozen=True, slots=True)
class Delivery:
    """The outcomes of a share, in its order. Not a list, whose elements Dask would pack and send one by one."""

    outcomes: list[Outcome]


class RunOnWorker(WorkerPlugin):
    """One run on one worker. Dask installs it on every worker, also on one that joins or is restarted later."""

    def __init__(self, plan: RunPlan, *, private: bool) -> None:
        """`private`: the worker exists for this run alone and shares the terminal of the flow's process, which handles Ctrl-C."""
        self.name = worker_plugin(plan.run_id)
        self._run, self._private = WorkerRun(plan), private

    async def setup(self, worker: Worker) -> None:
        """Refuse a worker on which the skills cannot be called, or not as confined as they must be, before it gets an item."""
        if self._private:
            signal.signal(signal.SIGINT, _ignored)
            logging.getLogger("distributed").setLevel(logging.CRITICAL)  # the flow's process reports errors
        self._run.check(worker.address)

    async def teardown(self, worker: Worker) -> None:
        """Stop what still works here, and close the adapters."""
        await self._run.close()
        for remark in self._run.remarks:
            logging.getLogger(__name__).warning(remark)

    async def execute(self, share: Share) -> list[Outcome]:
        """Make an attempt at the first items of a share, one at least, with the adapters that are open on this worker."""
        return await self._run.execute(share, partial(_tell_early, share))


def _tell_early(share: Share, outcomes: list[Outcome]) -> None:
    get_worker().log_event(EARLY, {"key": share.key, "outcomes": pickle.dumps(outcomes)})


async def execute_on_worker(plugin: str, share: Share, trace: Mapping[str, str]) -> Delivery:
    """The Dask task: one attempt at each of the first items of a share, for the run behind `plugin`; a part of `trace`."""
    run = get_worker().plugins.get(plugin)
    if not isinstance(run, RunOnWorker):  # the run is over, and the scheduler does not know it yet
        raise Reschedule
    with continued(trace):
        return Delivery(await run.execute(share))


def worker_plugin(run_id: str) -> str:
    """The name under which workers know a run."""
    return f"eval-skills-{run_id}"


def _ignored(*_: Any) -> None:
    """A handler and not SIG_IGN, which the programs that a worker starts would inherit."""


@asynccontextmanager
async def _client(plan: RunPlan) -> AsyncIterator[Any]:
    """A client of the cluster that the run's request names; one of its own for the length of the run, if it names none."""
    address = dask_address(plan.request.task_runner)
    async with AsyncExitStack() as stack:
        cluster = address or await stack.enter_async_context(_local_cluster(plan.request.concurrency))
        try:
            client: Any = Client(  # type: ignore[no-untyped-call]
                cluster, asynchronous=True, set_as_default=False, timeout=CONNECT_TIMEOUT_S
            )
            await stack.enter_async_context(client)
            await client.wait_for_workers(1, timeout=executor.NO_WORKER_S)
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
