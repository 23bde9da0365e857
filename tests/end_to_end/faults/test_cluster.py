"""Ctrl-C and kill -9 while a run's items work in the processes of a Dask cluster."""

from __future__ import annotations

import shlex
import signal
from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.end_to_end.faults.conftest import Process, Workplace

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TASKS, FREE = 16, 8
ALL = Counter(f"t{n:03d}" for n in range(TASKS))


def working(place: Workplace) -> Process:
    """An evaluation in worker processes, with some items on record and others under way."""
    place.furnish(TASKS, free=FREE)
    process = place.evaluate("--output-dir", "reports", "--task-runner", "dask")
    assert process.wait_until(lambda: len(place.journal()) >= 4), process.err
    return process


def test_p54_ctrl_c_stops_the_workers_keeps_the_journal_and_says_how_to_go_on(workplace: Workplace) -> None:
    process = working(workplace)
    process.send(signal.SIGINT, group=True)
    assert process.end() == 130
    assert workplace.survivors() == []
    recorded = workplace.journal()
    assert 4 <= len(recorded) <= FREE
    assert "Traceback" not in process.err
    command = shlex.split(process.last_word.partition("continue with: ")[2])
    before = workplace.calls()
    workplace.open_the_gate()
    resumed = workplace.call(*command[1:], "--output-dir", "reports")
    assert resumed.end() == 0, resumed.err
    assert workplace.landed() == ALL
    assert {task: workplace.calls()[task] for task in recorded} == {task: before[task] for task in recorded}


def test_p54_what_a_killed_process_had_on_record_is_kept_and_its_workers_end(workplace: Workplace) -> None:
    process = working(workplace)
    recorded = workplace.journal()
    process.send(signal.SIGKILL)  # the flow's process alone: its workers must notice
    process.end()
    assert workplace.is_deserted()
    before = workplace.calls()
    workplace.open_the_gate()
    resumed = workplace.resume("--output-dir", "reports", "--task-runner", "local")
    assert resumed.end() == 0, resumed.err
    assert workplace.landed() == ALL
    assert {task: workplace.calls()[task] for task in recorded} == {task: before[task] for task in recorded}
