"""Ctrl-C, SIGTERM, and two processes that want the same run."""

from __future__ import annotations

import shlex
import signal
from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.end_to_end.faults.conftest import Process, Workplace

pytestmark = pytest.mark.timeout(900)

TASKS = 16
ALL = Counter(f"t{n:03d}" for n in range(TASKS))
FREE = 8
"""So many tasks are answered at once, the others when the gate is open: a run cannot be over before it is interrupted."""


def working(place: Workplace, *options: str) -> Process:
    """An evaluation with four items on record and others under way."""
    process = place.evaluate("--output-dir", "reports", *options)
    assert process.wait_until(lambda: len(place.journal()) >= 4), process.err
    return process


def check_stopped(place: Workplace, process: Process, code: int) -> None:
    """It said how to go on in its last line, kept the journal, and left nothing behind."""
    assert process.end() == code, process.err
    run_id = place.store.latest_run()
    done = len(place.journal())
    assert 4 <= done <= FREE
    told = [line for line in process.err.splitlines() if "--resume" in line]
    assert told == [process.last_word]
    assert resume_command(process) == ["eval-skills", "eval", "--resume", run_id, "--store", str(place.folder / "store")]
    assert "Traceback" not in process.err
    assert process.out == ""
    assert place.survivors() == []


def resume_command(process: Process) -> list[str]:
    return shlex.split(process.last_word.partition("continue with: ")[2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "group", "persistent", "code"),
    [
        pytest.param(signal.SIGINT, False, True, 130, id="interrupt-the-process"),
        pytest.param(signal.SIGINT, True, False, 130, id="ctrl-c-reaches-the-group"),
        pytest.param(signal.SIGTERM, False, False, 143, id="terminate"),
        pytest.param(signal.SIGHUP, False, False, 143, id="p54-the-terminal-closed"),
    ],
)
def test_p54_a_signal_stops_children_keeps_the_journal_and_says_how_to_go_on(
    workplace: Workplace, number: signal.Signals, group: bool, persistent: bool, code: int
) -> None:
    workplace.furnish(TASKS, persistent=persistent, free=FREE)
    process = working(workplace)
    process.send(number, group=group)
    check_stopped(workplace, process, code)


@pytest.mark.slow
def test_the_command_that_an_interrupted_run_names_goes_on_with_it(workplace: Workplace) -> None:
    workplace.furnish(TASKS, free=FREE)
    process = working(workplace)
    process.send(signal.SIGINT)
    assert process.end() == 130
    before = workplace.calls()
    workplace.open_the_gate()
    recorded = {task: before[task] for task in workplace.journal()}
    resumed = workplace.call(*resume_command(process)[1:], "--output-dir", "reports")
    assert resumed.end() == 0, resumed.err
    assert workplace.landed() == ALL
    assert {task: workplace.calls()[task] for task in recorded} == recorded


@pytest.mark.slow
def test_a_second_ctrl_c_during_the_shutdown_does_not_hang(workplace: Workplace) -> None:
    workplace.furnish(TASKS, stubborn=True, free=FREE)
    process = working(workplace)
    process.send(signal.SIGINT)
    process.send(signal.SIGINT)
    assert process.end() == 130
    assert len(workplace.journal()) >= 4
    assert workplace.is_deserted()


@pytest.mark.slow
def test_ctrl_c_while_a_service_does_not_get_ready_does_not_wait_for_it(workplace: Workplace) -> None:
    serve = {"command": "sleep 600", "readyTimeoutMs": 600_000}
    config = {"serve": serve, "env": {"MARK": workplace.mark}}
    workplace.add_skill("mute", "", adapterType="http", entrypoint="http://127.0.0.1:{port}/", adapterConfig=config)
    workplace.write_tasks({"task": "t000"})
    process = workplace.evaluate()
    assert process.wait_until(lambda: bool(workplace.survivors())), process.err
    process.send(signal.SIGINT)
    assert process.end() == 130
    assert workplace.survivors() == []


@pytest.mark.slow
def test_who_wants_a_run_that_another_process_writes_is_told_which(workplace: Workplace) -> None:
    workplace.furnish(TASKS, free=FREE)
    winner = working(workplace)
    winner.send(signal.SIGSTOP)
    loser = workplace.resume()
    assert loser.end() == 2
    assert f"is being written by process {winner.popen.pid}" in loser.last_word
    assert len([line for line in loser.err.splitlines() if line.startswith("eval-skills:")]) == 1
    assert loser.out == ""
    workplace.open_the_gate()
    winner.send(signal.SIGCONT)
    assert winner.end() == 0, winner.err
    assert workplace.landed() == workplace.calls() == ALL


@pytest.mark.slow
def test_two_that_resume_the_same_run_at_once_never_ask_an_item_twice(workplace: Workplace) -> None:
    workplace.furnish(TASKS, seconds=0.05, free=FREE)
    killed = working(workplace)
    killed.kill()
    assert workplace.is_deserted()  # a worker may still write down what it was sent
    workplace.open_the_gate()
    before = workplace.calls()
    both = [workplace.resume("--output-dir", "reports") for _ in range(2)]
    assert sorted(process.end() for process in both) in ([0, 0], [0, 2])
    assert workplace.landed() == ALL
    assert all(count <= 2 - (task not in before) for task, count in workplace.calls().items())
