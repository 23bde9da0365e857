"""Beside row 5: the same sweep in the worker processes of a Dask cluster on this machine, in pairs with one in this process.

Two workers share the cores of this machine with the process that records, with Prefect's server and with whatever else runs, so
the bars are of processor time; the rates by the clock are shown beside them.
"""

from __future__ import annotations

import logging
from time import process_time
from typing import TYPE_CHECKING, Any

from tests.performance.bar import Bar
from tests.performance.cpu import cpu_s
from tests.performance.isolation import folder_of_row
from tests.performance.rounds import Rounds, alternate
from tests.performance.server import settle, warm_server
from tests.performance.subjects import evaluation, noop_skill, register_noop

if TYPE_CHECKING:
    from distributed import LocalCluster

WORKERS, PLACES = 2, 8


def measure(*, quick: bool) -> list[Bar]:
    """What a worker makes in a second of its CPU, and what an item costs the process that records it, both over a local sweep."""
    tasks, runs, rounds, batch = (100, 20, 2, 20) if quick else (1000, 20, 3, "auto")
    folder, items = folder_of_row(), tasks * runs
    with warm_server() as server, _cluster() as cluster:
        from tests.performance.prefect_flows import evaluated

        register_noop()
        skill, there = noop_skill(folder), cluster.scheduler_address.replace("tcp", "dask")
        workers = [worker.pid for worker in cluster.workers.values()]
        taken = Rounds({name: [] for name in ("local items/s", "Dask items/s", "local ms", "Dask ms", "worker ms")})

        def sweep(task_runner: str, rate: str, cost: str) -> float:
            options = {"runs": runs, "concurrency": WORKERS * PLACES, "items_per_task": batch, "task_runner": task_runner}
            here, away = process_time(), _of_all(workers)
            summary, duration = evaluated(evaluation(folder, skill, tasks, **options))
            taken.figures[cost].append(1000 * (process_time() - here) / items)
            if task_runner == there:
                taken.figures["worker ms"].append(1000 * (_of_all(workers) - away) / items)
            settle(server, summary.flow_runs[0], summary.task_runs)
            taken.figures[rate].append(items / duration)
            return duration

        for where in ("local", there):
            evaluated(evaluation(folder, skill, 20, task_runner=where))
        alternate(
            {
                "local": lambda: sweep("local", "local items/s", "local ms"),
                "Dask": lambda: sweep(there, "Dask items/s", "Dask ms"),
            },
            rounds,
        )
    return _bars(taken, items)


def _bars(taken: Rounds, items: int) -> list[Bar]:
    detail = ", ".join(taken.spread(name) for name in taken.figures)
    return [
        Bar(
            row="cluster",
            what=f"items of a Dask worker over those of one process, in a second of CPU, {items} items",
            measured=taken.ratio("local ms", "worker ms"),
            limit=0.8,
            at_least=True,
            detail=f"{detail}; ms of CPU per item; {WORKERS} workers, {WORKERS * PLACES} batches at a time",
        ),
        Bar(
            row="cluster",
            what="CPU per item of the process that records, with its scheduler, over a local sweep's",
            measured=taken.ratio("Dask ms", "local ms"),
            limit=1.25,
        ),
    ]


def _of_all(processes: list[int]) -> float:
    return sum(cpu_s(pid) or 0.0 for pid in processes)


def _cluster() -> LocalCluster:
    """Two worker processes that know the no-op adapter."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    options |= {"n_workers": WORKERS, "threads_per_worker": PLACES, "silence_logs": logging.CRITICAL}
    cluster = LocalCluster(**options)  # type: ignore[no-untyped-call]
    with Client(cluster) as client:  # type: ignore[no-untyped-call]
        client.run(register_noop)
    return cluster
