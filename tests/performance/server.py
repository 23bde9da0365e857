"""A warm Prefect server of our own, on 127.0.0.1, for the length of a row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from eval_skills.cli.prefect_server.api_server import ApiServer, prefect_api


@contextmanager
def warm_server() -> Iterator[ApiServer]:
    """A private server that answers, with the settings that the command line starts it with.

    To be entered before Prefect is imported, in a process whose ``PREFECT_HOME`` is its own.

    Raises:
        RuntimeError: a server that somebody else runs would be used.
    """
    with prefect_api() as server:
        if server.process is None or "PREFECT_HOME" not in os.environ:
            raise RuntimeError(f"the benchmark wants a server of its own, and found {server.url}")
        server.wait_until_ready()
        yield server


def settle(server: ApiServer, flow_run: str, task_runs: int) -> None:
    """Wait until the server has recorded these task runs, so that the next measurement does not pay for this one.

    Raises:
        RuntimeError: it has not within its time.
    """
    if not server.wait_until_recorded([flow_run], task_runs):
        raise RuntimeError(f"the server did not record {task_runs} task runs of flow run {flow_run} in time")
