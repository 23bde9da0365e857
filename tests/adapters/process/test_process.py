"""Starting a program, and changing one's mind meanwhile."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from eval_skills.adapters.process.launch import Launch, spawn
from tests.tables import each_row

FAMILY = """
import subprocess, sys, time
if "leaf" not in sys.argv:
    subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)", "leaf"])
time.sleep(600)
"""


def living(mark: str) -> list[str]:
    """The command lines of the processes with `mark` in their environment that are not zombies."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes() and " Z " not in (folder / "stat").read_text():
                found.append((folder / "cmdline").read_text())
        except OSError:
            continue
    return found


def wait_for_both(mark: str) -> None:
    """Block the event loop, as a busy machine may, until the program that has just been started has started its own."""
    deadline = time.monotonic() + 60
    while living(mark) and len(living(mark)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks at processes in /proc, which only Linux has")
@each_row("steps", range(8))
async def test_p54_a_start_that_is_cancelled_at_any_step_ends_and_leaves_nobody(tmp_path: Path, steps: int) -> None:
    mark = f"cancelled-{uuid4().hex}"  # no folder's name: a neighbouring worker of pytest gives its folders the same
    launch = Launch(argv=(sys.executable, "-S", "-E", "-c", FAMILY), cwd=tmp_path, env={"MARK": mark})
    starting = asyncio.create_task(spawn(launch, lambda _: None))
    for _ in range(steps):
        await asyncio.sleep(0)
        wait_for_both(mark)
    if starting.done():
        await starting.result().stop()
    else:
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(starting, 60)
    assert living(mark) == []
