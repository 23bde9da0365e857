"""What a skill starts in a session of its own and leaves behind when it ends normally ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from eval_skills.adapters import open_adapter
from eval_skills.adapters.process import guard
from eval_skills.adapters.process.child import Child, below, kill_leftovers
from eval_skills.core.models import Skill
from tests.adapters.programs import ONE_SHOT, PATIENCE_S, ask

MakeSkill = Callable[..., Skill]
Running = Callable[[], list[str]]

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes in /proc, which only Linux has")

LEAVE = """
import os, subprocess, sys, time
def leave():
    command = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)"]
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    child = subprocess.Popen(command, start_new_session=True, **quiet)
    child.returncode = 0  # else Python complains of it at the end
    return child.pid
"""

FRESH = ONE_SHOT + "print(reply(leave()), flush=True)\nwhile not os.path.exists('noted'): time.sleep(0.01)"
"""It lingers until its family is noted, for what is gone when its answer is read has told nobody of that."""

WARM = """
import json
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": leave()}), flush=True)
"""

DAEMON = """
if os.fork():
    os.wait()
else:
    print(leave(), flush=True)
    os._exit(0)
"""
"""Leaves the session and the parentage as well, as daemons do."""


def lives(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def wait_until_gone(pid: int) -> bool:
    end = time.monotonic() + 60
    while lives(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not lives(pid)


async def test_p54_a_fresh_process_leaves_nobody(
    program_skill: MakeSkill, left_running: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    remember = Child.remember_family

    def noted(child: Child) -> None:
        remember(child)
        (tmp_path / "noted").touch()

    monkeypatch.setattr(Child, "remember_family", noted)
    monkeypatch.setattr("eval_skills.adapters.process.adapter.LINGER_S", 60.0)  # it ends by itself
    assert wait_until_gone((await ask(program_skill(LEAVE + FRESH))).output)
    assert left_running() == []


async def test_p54_a_warm_worker_leaves_nobody(program_skill: MakeSkill, left_running: Running) -> None:
    async with open_adapter(program_skill(LEAVE + WARM, persistent=True)) as adapter:
        started = [(await adapter.call(None, PATIENCE_S)).output for _ in range(2)]
        assert all(map(lives, started))
    assert all(map(wait_until_gone, started))
    assert left_running() == []


@pytest.mark.parametrize("left", ["leave()", DAEMON], ids=["session", "daemon"])
def test_p54_what_runs_under_the_guard_leaves_nobody(left: str) -> None:
    source = LEAVE + (left if left == DAEMON else f"print({left}, flush=True)") + "\nsys.exit(3)"
    command = guard.guarded([sys.executable, "-S", "-E", "-c", source], shared_input=True)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as guarded:
        assert guarded.stdout is not None
        started = int(guarded.stdout.readline())
        assert guarded.wait(60) == 3
    assert not lives(started)


def test_p54_a_daemon_under_the_guard_ends_when_the_run_is_gone() -> None:
    stubborn = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    source = LEAVE + stubborn + DAEMON + "\ntime.sleep(600)"
    command = guard.guarded([sys.executable, "-S", "-E", "-c", source])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as guarded:
        assert guarded.stdin is not None
        assert guarded.stdout is not None
        started = int(guarded.stdout.readline())
        guarded.stdin.close()
        assert guarded.wait(60) == -signal.SIGKILL
    assert wait_until_gone(started)


def test_leftovers_are_told_from_later_processes_with_their_id() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"]) as child:
        [known] = [process for process in below(os.getpid()) if process.pid == child.pid]
        later = psutil.Process(child.pid)
        later._ident = (child.pid, 0.0)  # what psutil tells processes with the same id by
        kill_leftovers([later])
        assert lives(child.pid)
        kill_leftovers([known])
        assert child.wait(60) == -signal.SIGKILL
    assert below(child.pid) == []
