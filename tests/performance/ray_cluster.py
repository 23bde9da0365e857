"""Beside the row `cluster`: the same sweep in the worker processes of a Ray cluster, in pairs with one in this process."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time

import pytest

from tests.performance.bar import Bar
from tests.performance.cluster import PLACES, WORKERS
from tests.performance.isolation import folder_of_row
from tests.performance.rounds import Rounds, alternate
from tests.performance.server import settle, warm_server
from tests.performance.subjects import evaluation, noop_skill, register_noop
from tests.ray_head import ray_head

IN_A_WORKER = """
import sys
if any(word.endswith("default_worker.py") for word in sys.orig_argv):
    from tests.performance.subjects import register_noop
    register_noop()
"""
"""What Ray's workers import at their start, so that they know the no-op adapter."""


def measure(*, quick: bool) -> list[Bar]:
    """What two workers make by the clock over this process alone, and what an item costs the process that records it."""
    tasks, runs, rounds, batch = (100, 20, 2, 20) if quick else (1000, 20, 3, "auto")
    folder, items = folder_of_row(), tasks * runs
    with warm_server() as server, _cluster(folder):
        from tests.performance.prefect_flows import evaluated

        register_noop()
        skill = noop_skill(folder)
        taken = Rounds({name: [] for name in ("local items/s", "Ray items/s", "local ms", "Ray ms", "driver ms")})

        def sweep(task_runner: str, rate: str, cost: str) -> float:
            options = {"runs": runs, "concurrency": WORKERS * PLACES, "items_per_task": batch, "task_runner": task_runner}
            here, driver = process_time(), _of_ended_children()
            summary, duration = evaluated(evaluation(folder, skill, tasks, **options))
            taken.figures[cost].append(1000 * (process_time() - here) / items)
            if task_runner != "local":
                taken.figures["driver ms"].append(1000 * (_of_ended_children() - driver) / items)
            settle(server, summary.flow_runs[0], summary.task_runs)
            taken.figures[rate].append(items / duration)
            return duration

        for where in ("local", "ray://auto"):
            evaluated(evaluation(folder, skill, 20, task_runner=where))
        alternate(
            {
                "local": lambda: sweep("local", "local items/s", "local ms"),
                "Ray": lambda: sweep("ray://auto", "Ray items/s", "Ray ms"),
            },
            rounds,
        )
    return _bars(taken, items)


def _bars(taken: Rounds, items: int) -> list[Bar]:
    detail = ", ".join(taken.spread(name) for name in taken.figures)
    return [
        Bar(
            row="ray_cluster",
            what=f"items a second with two Ray workers on the same cores over one process, {items} items",
            measured=taken.ratio("Ray items/s", "local items/s"),
            limit=0.6,
            at_least=True,
            detail=f"{detail}; ms of CPU per item; {WORKERS} workers, {WORKERS * PLACES} batches at a time",
        ),
        Bar(
            row="ray_cluster",
            what="CPU per item of the process that records over a local sweep's",
            measured=taken.ratio("Ray ms", "local ms"),
            limit=1.25,
        ),
    ]


def _of_ended_children() -> float:
    """Seconds of CPU of this process's children that have ended: the driver of Ray is one, its cluster is not."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _cluster(folder: Path) -> Iterator[None]:
    """A cluster with two workers that know the no-op adapter; this process is part of it."""
    (folder / "sitecustomize.py").write_text(IN_A_WORKER, encoding="utf-8")
    root = Path(__file__).parents[2]
    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(root)]))
        with ray_head(WORKERS) as head:
            variables.setenv("RAY_ADDRESS", head.gcs)
            yield
