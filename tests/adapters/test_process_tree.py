from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import pytest

from eval_skills.adapters.launch import Launch
from eval_skills.adapters.process import Child, spawn
from eval_skills.adapters.process_tree import family

TREE = """
import signal, subprocess, sys, time
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
def start(word, **options):
    return subprocess.Popen([sys.executable, "-S", "-E", "tree.py", word, *sys.argv[1:]], **options)
if "middle" in sys.argv and "leaf" not in sys.argv:
    start("leaf", process_group=0)
    sys.exit()
if "leaf" not in sys.argv and "orphan" in sys.argv:
    start("middle").wait()
elif "leaf" not in sys.argv:
    start("leaf", start_new_session="apart" in sys.argv)
print("up", flush=True)
time.sleep(60)
"""


async def start_tree(folder: Path, *words: str) -> Child:
    (folder / "tree.py").write_text(TREE)
    both_up, printed = asyncio.Event(), bytearray()

    def listen(data: bytes) -> None:
        printed.extend(data)
        if printed.count(b"up") == 2:
            both_up.set()

    child = await spawn(Launch(argv=(sys.executable, "-S", "-E", "tree.py", *words), cwd=folder, env={}), listen)
    await asyncio.wait_for(both_up.wait(), 10)
    return child


def alive(pids: list[int]) -> list[int]:
    states = {}
    for pid in pids:
        try:
            states[pid] = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
    return [pid for pid, state in states.items() if state != "Z"]


@pytest.mark.parametrize(
    ("words", "at_least_s"),
    [
        pytest.param([], 0.0, id="goes-at-sigterm"),
        pytest.param(["stubborn"], 0.3, id="ignores-sigterm"),
        pytest.param(["stubborn", "apart"], 0.3, id="grandchild-in-its-own-session"),
        pytest.param(["stubborn", "orphan"], 0.3, id="orphan-in-its-own-group"),
    ],
)
async def test_the_whole_tree_is_gone_when_stop_returns(tmp_path: Path, words: list[str], at_least_s: float) -> None:
    child = await start_tree(tmp_path, *words)
    pids = [process.pid for process in family(child.pid)]
    began = time.perf_counter()
    await child.stop()
    took_s = time.perf_counter() - began
    assert len(pids) == 2
    assert alive(pids) == []
    assert at_least_s <= took_s < at_least_s + 0.25


async def test_stopping_twice_does_nothing_more(tmp_path: Path) -> None:
    child = await start_tree(tmp_path)
    await child.stop()
    await child.stop()
    assert child.exited.result() == -15


def test_a_process_that_is_not_there_has_no_family() -> None:
    assert family(2**31 - 1) == []
