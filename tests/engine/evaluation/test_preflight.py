"""A run that cannot be executed where its request says is refused before anything is written."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.engine.evaluation.cluster.reachable import check_task_runner
from eval_skills.engine.evaluation.plan import make_plan

if TYPE_CHECKING:
    from tests.engine.evaluations import MakeRequest


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize(
    ("task_runner", "package", "name"),
    [
        ("dask", "distributed", "Dask"),
        ("dask://127.0.0.1:8786", "distributed", "Dask"),
        ("ray", "ray", "Ray"),
        ("ray://auto", "ray", "Ray"),
        ("ray://127.0.0.1:10001", "ray", "Ray"),
    ],
)
def test_a_missing_extra_is_named_with_its_command(
    monkeypatch: pytest.MonkeyPatch, task_runner: str, package: str, name: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as Python marks a module that cannot be imported
    with pytest.raises(UsageError, match=rf"needs {name}, .*pip install 'eval-skills\[{name.lower()}\]'"):
        check_task_runner(task_runner)
    check_task_runner("local")


def test_a_scheduler_that_does_not_listen_is_refused_and_nothing_is_written(make_request: MakeRequest, free_port: int) -> None:
    name = f"dask://127.0.0.1:{free_port}"
    request = make_request(task_runner=name)
    with pytest.raises(UsageError, match=rf"--task-runner {name}: no scheduler listens there \(.+refused\)"):
        make_plan(request)


def test_a_host_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no scheduler listens there \(.+\); start one with: dask scheduler"):
        check_task_runner("dask://no-such-host.invalid:8786")


def test_a_client_server_of_ray_that_does_not_listen_is_refused(free_port: int) -> None:
    start = "start one with: ray start --head --ray-client-server-port 10001"
    with pytest.raises(UsageError, match=rf"no Ray client server listens there \(.+refused\); {start}"):
        check_task_runner(f"ray://127.0.0.1:{free_port}")


@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_cluster_that_listens_is_accepted(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        check_task_runner(f"{kind}://127.0.0.1:{listener.getsockname()[1]}")
