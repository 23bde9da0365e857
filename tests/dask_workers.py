"""Workers of Dask clusters that tests start: forks of a process that has imported what they need, which saves each a second."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager

import dask
from distributed.utils import get_mp_context

IMPORTED = ["distributed", "eval_skills.engine.evaluation.cluster.dask", "eval_skills.adapters.process.adapter"]


@contextmanager
def forked_workers() -> Iterator[None]:
    """Inside, a cluster's workers are such forks, with the variables that this process had when the first one began.

    What eval-skills itself starts elsewhere is new processes, as users have them.
    """
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context()  # type: ignore[no-untyped-call]  # names what it would import itself, before we do
        multiprocessing.get_context("forkserver").set_forkserver_preload(IMPORTED)
        yield
