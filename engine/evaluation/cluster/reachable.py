"""Whether a run's items can be executed where they should be, before anything begins."""

from __future__ import annotations

import socket
from importlib.util import find_spec

from eval_skills.core.config.values import LOCAL, cluster_of, is_ray
from eval_skills.core.errors import UsageError

CONNECT_TIMEOUT_S = 10.0
RAY_CLIENT_PORT = 10_001


def check_task_runner(task_runner: str) -> None:
    """Refuse Dask or Ray where it is not installed, and a cluster whose port does not listen.

    Raises:
        UsageError: with what to install or to start.
    """
    if task_runner == LOCAL:
        return
    by_ray = is_ray(task_runner)
    name, extra, package = ("Ray", "ray", "ray") if by_ray else ("Dask", "dask", "distributed")
    if find_spec(package) is None:
        raise UsageError(
            f"--task-runner {task_runner} needs {name}, which is not installed here; install it with: "
            f"pip install 'eval-skills[{extra}]'"
        )
    if (cluster := cluster_of(task_runner)) is not None:
        try:
            socket.create_connection(cluster, timeout=CONNECT_TIMEOUT_S).close()
        except OSError as error:
            why = error.strerror or str(error)
            listener, command = _LISTENERS[by_ray]
            raise UsageError(
                f"--task-runner {task_runner}: no {listener} listens there ({why}); start one with: {command}"
            ) from None


_LISTENERS = {
    False: ("scheduler", "dask scheduler"),
    True: ("Ray client server", f"ray start --head --ray-client-server-port {RAY_CLIENT_PORT}"),
}
"""What listens for a cluster's clients, and how to start it: Dask's, and (True) Ray's."""
