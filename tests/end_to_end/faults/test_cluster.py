"""Ctrl-C and kill -9 while a run's items work in the processes of a Dask or Ray cluster of its own."""

from __future__ import annotations

import shlex
import signal
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.end_to_end.faults.conftest import PATIENCE_S, none_within, processes_with

if TYPE_CHECKING:
    from tests.end_to_end.faults.conftest import Process, Workplace

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TASKS, FREE = 16, 8
ALL = Counter(f"t{n:03d}" for n in range(TASKS))
OF_IPV4 = "::ffff:"
"""Before an address of IPv4 where a socket takes both kinds."""


@pytest.fixture(params=["dask", "ray"])
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def working(place: Workplace, kind: str) -> Process:
    """An evaluation in worker processes, with some items on record and others under way."""
    place.furnish(TASKS, free=FREE)
    process = place.evaluate("--output-dir", "reports", "--task-runner", kind)
    assert process.wait_until(lambda: len(place.journal()) >= 4), process.err
    return process


def of_the_cluster(place: Workplace) -> list[int]:
    """The processes that the evaluation has started: they inherit its environment."""
    return processes_with(str(place.prefect_home))


def listening(pids: list[int]) -> set[str]:
    """The addresses at which processes of the cluster take connections."""
    found: set[str] = set()
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            sockets = psutil.Process(pid).net_connections(kind="inet")
            found |= {each.laddr.ip.removeprefix(OF_IPV4) for each in sockets if each.status == psutil.CONN_LISTEN}
    return found


def test_p54_ctrl_c_stops_the_workers_keeps_the_journal_and_says_how_to_go_on(workplace: Workplace, kind: str) -> None:
    process = working(workplace, kind)
    process.send(signal.SIGINT, group=True)
    assert process.end() == 130
    assert workplace.survivors() == []
    assert none_within(PATIENCE_S, lambda: of_the_cluster(workplace))
    recorded = workplace.journal()
    assert 4 <= len(recorded) <= FREE
    assert "Traceback" not in process.err
    command = shlex.split(process.last_word.partition("continue with: ")[2])
    before = workplace.calls()
    workplace.open_the_gate()
    elsewhere = ["--task-runner", "local"] if kind == "ray" else []  # another Ray takes another five seconds
    resumed = workplace.call(*command[1:], "--output-dir", "reports", *elsewhere)
    assert resumed.end() == 0, resumed.err
    assert workplace.landed() == ALL
    assert {task: workplace.calls()[task] for task in recorded} == {task: before[task] for task in recorded}


def test_p54_what_a_killed_process_had_on_record_is_kept_and_its_cluster_ends(workplace: Workplace, kind: str) -> None:
    process = working(workplace, kind)
    assert listening(of_the_cluster(workplace)) == {"127.0.0.1"}
    recorded = workplace.journal()
    process.send(signal.SIGKILL)  # the flow's process alone: its workers must notice
    process.end()
    assert workplace.is_deserted()
    assert none_within(PATIENCE_S, lambda: of_the_cluster(workplace))
    before = workplace.calls()
    workplace.open_the_gate()
    resumed = workplace.resume("--output-dir", "reports", "--task-runner", "local")
    assert resumed.end() == 0, resumed.err
    assert workplace.landed() == ALL
    assert {task: workplace.calls()[task] for task in recorded} == {task: before[task] for task in recorded}
