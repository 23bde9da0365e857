"""Whether a run can be executed where its request says: asked before anything is written. Plain: no Prefect, no Dask."""

from __future__ import annotations

import socket
from importlib.util import find_spec

from eval_skills.core.errors import UsageError
from eval_skills.core.task_runner import LOCAL, scheduler_of

INSTALL = "pip install 'eval-skills[dask]'"
CONNECT_TIMEOUT_S = 10.0


def check_task_runner(task_runner: str) -> None:
    """Refuse Dask where it is not installed, and a scheduler that does not listen.

    Raises:
        UsageError: with what to install or to start.
    """
    if task_runner == LOCAL:
        return
    if find_spec("distributed") is None:
        raise UsageError(f"--task-runner {task_runner} needs Dask, which is not installed here; install it with: {INSTALL}")
    if (scheduler := scheduler_of(task_runner)) is not None:
        try:
            socket.create_connection(scheduler, timeout=CONNECT_TIMEOUT_S).close()
        except OSError as error:
            why = error.strerror or str(error)
            raise UsageError(
                f"--task-runner {task_runner}: no scheduler listens there ({why}); start one with: dask scheduler"
            ) from None
