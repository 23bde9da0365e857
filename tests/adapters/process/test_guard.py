"""A service ends with its run, however the run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval_skills.adapters.process import guard

RUN = """
import subprocess, sys, time
service = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(600)"
command = [sys.executable, "-I", sys.argv[1], sys.executable, "-c", service, sys.argv[2]]
subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
time.sleep(600)
"""


def lives(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def wait_for(condition: object) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if callable(condition) and condition():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc, which only Linux has")
def test_a_service_ends_when_its_run_is_killed(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    run = subprocess.Popen([sys.executable, "-c", RUN, guard.__file__, str(note)])
    assert wait_for(lambda: note.exists() and note.read_text())
    service = int(note.read_text())
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert wait_for(lambda: not lives(service))


@pytest.mark.parametrize(
    ("program", "code"),
    [
        pytest.param([sys.executable, "-c", "raise SystemExit(3)"], 3, id="exit-code"),
        pytest.param([sys.executable, "-c", "import os; os.kill(os.getpid(), 15)"], -15, id="terminated"),
        pytest.param([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], -9, id="killed"),
        pytest.param(["no-such-program"], guard.NOT_FOUND, id="missing"),
    ],
)
def test_the_guard_ends_as_its_program_did(program: list[str], code: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-I", guard.__file__, *program],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as guarded:
        assert guarded.wait(60) == code


def test_the_program_can_be_terminated_although_its_guard_waits() -> None:
    sleeper = [
        sys.executable,
        "-I",
        guard.__file__,
        sys.executable,
        "-c",
        "print('up', flush=True); import time; time.sleep(600)",
    ]
    with subprocess.Popen(sleeper, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as guarded:
        assert guarded.stdout is not None
        assert guarded.stdout.readline() == b"up\n"
        os.killpg(guarded.pid, signal.SIGTERM)
        assert guarded.wait(60) == -signal.SIGTERM


@pytest.mark.slow
def test_a_program_that_shares_its_input_reads_all_of_it_and_is_ended_when_it_stays() -> None:
    program = "import sys, time; print(sys.stdin.read(), flush=True); time.sleep(600)"
    command = guard.guarded([sys.executable, "-c", program], shared_input=True)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as guarded:
        assert guarded.stdin is not None
        assert guarded.stdout is not None
        guarded.stdin.write(b"hello")
        guarded.stdin.close()
        assert guarded.stdout.readline() == b"hello\n"
        assert guarded.wait(60) == -signal.SIGTERM
