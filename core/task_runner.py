"""Where a run's items are executed, as people name it: ``local``, ``dask`` or ``dask://HOST:PORT``."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from eval_skills.core.errors import nearest

LOCAL, DASK = "local", "dask"
"""This process; worker processes on this machine, for the length of the run."""

_SCHEDULER = re.compile(r"dask(?P<tls>\+tls)?://(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/:@\[\]?#]+):(?P<port>\d{1,5})")
_MAX_PORT = 65_535


def scheduler_of(task_runner: str) -> tuple[str, int] | None:
    """The host and port of the scheduler that `task_runner` names; None for one that names none."""
    found = _SCHEDULER.fullmatch(task_runner)
    return (found["host"].strip("[]"), int(found["port"])) if found else None


def dask_address(task_runner: str) -> str | None:
    """The scheduler's address in Dask's own words: ``tcp://HOST:PORT``, or ``tls://HOST:PORT`` for ``dask+tls://``."""
    found = _SCHEDULER.fullmatch(task_runner)
    return f"{'tls' if found['tls'] else 'tcp'}://{found['host']}:{found['port']}" if found else None


def _known(task_runner: str) -> str:
    scheduler = scheduler_of(task_runner)
    if task_runner in (LOCAL, DASK) or (scheduler and 0 < scheduler[1] <= _MAX_PORT):
        return task_runner
    raise ValueError(
        f"unknown task runner {task_runner!r}{nearest(task_runner, [LOCAL, DASK])}; give local (this process), dask (worker "
        "processes on this machine) or dask://HOST:PORT (the scheduler of a Dask cluster)"
    )


TaskRunnerName = Annotated[str, AfterValidator(_known)]
"""``local``, ``dask``, ``dask://HOST:PORT``, or ``dask+tls://HOST:PORT`` with the certificates of Dask's own configuration."""
