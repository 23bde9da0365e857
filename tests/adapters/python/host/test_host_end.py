"""How a host ends, and what it leaves behind: nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adapters.hosted import Hosted, Running


def test_idle_hosts_end_by_themselves_and_leave_nothing_behind(
    hosted: Callable[..., Hosted], tmp_path: Path, left_running: Running
) -> None:
    idle = hosted("""
        import atexit, subprocess, sys
        atexit.register(lambda: open("farewell", "w").close())
        subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"], stderr=subprocess.DEVNULL)
        def run(value): return value
    """)
    idle.load("skill:run")
    assert idle.ask(1) == {"result": 1}
    idle.end()
    assert (tmp_path / "farewell").exists()
    assert left_running() == []


@pytest.mark.parametrize("program", ["def run(_)", "async def run(_)"])
def test_busy_hosts_end_when_their_requests_do_whatever_they_ignore(
    hosted: Callable[..., Hosted], tmp_path: Path, left_running: Running, program: str
) -> None:
    busy = hosted(f"""
        import signal, subprocess, sys, time
        {program}:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"], stderr=subprocess.DEVNULL)
            open("at-work", "w").close()
            time.sleep(600)
    """)
    busy.load("skill:run")
    busy.tell(None)
    deadline = time.monotonic() + 60
    while not (tmp_path / "at-work").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    busy.end()
    assert left_running() == []


def test_hosts_end_although_a_thread_of_the_skill_does_not(hosted: Callable[..., Hosted], left_running: Running) -> None:
    threaded = hosted("""
        import threading, time
        threading.Thread(target=time.sleep, args=(600,)).start()
        def run(value): return value
    """)
    threaded.load("skill:run")
    threaded.end()
    assert left_running() == []
