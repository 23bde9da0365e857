from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path

import pytest

from eval_skills.adapters.process.child import GRACE_S, Child, family
from eval_skills.adapters.process.launch import Launch, spawn

CLOCK_S = 0.02
"""How much earlier than asked the event loop may wake up."""

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
time.sleep(600)
"""


async def start_tree(folder: Path, *words: str) -> Child:
    (folder / "tree.py").write_text(TREE)
    both_up, printed = asyncio.Event(), bytearray()

    def listen(data: bytes) -> None:
        printed.extend(data)
        if printed.count(b"up") == 2:
            both_up.set()

    child = await spawn(Launch(argv=(sys.executable, "-S", "-E", "tree.py", *words), cwd=folder, env={}), listen)
    await asyncio.wait_for(both_up.wait(), 60)
    return child


def alive(pids: list[int]) -> list[int]:
    states = {}
    for pid in pids:
        try:
            states[pid] = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
    return [pid for pid, state in states.items() if state != "Z"]


@pytest.mark.parametrize("words", [[], ["apart"], ["orphan"]], ids=lambda words: " ".join(words) or "child")
async def test_what_goes_at_sigterm_is_gone_when_stop_returns_and_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr("eval_skills.adapters.process.child.GRACE_S", 60.0)
    child = await start_tree(tmp_path, *words)
    pids = [process.pid for process in family(child.pid)]
    began = time.perf_counter()
    await child.stop()
    assert time.perf_counter() - began < 60
    assert len(pids) == 2
    assert alive(pids) == []
    assert child.exited.result() == -signal.SIGTERM


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["stubborn"], id="child"),
        pytest.param(["stubborn", "apart"], id="grandchild-in-its-own-session"),
        pytest.param(["stubborn", "orphan"], id="orphan-in-its-own-group"),
    ],
)
async def test_what_ignores_sigterm_is_killed_after_its_grace(tmp_path: Path, words: list[str]) -> None:
    child = await start_tree(tmp_path, *words)
    pids = [process.pid for process in family(child.pid)]
    began = time.perf_counter()
    await child.stop()
    assert GRACE_S - CLOCK_S <= time.perf_counter() - began < 60
    assert len(pids) == 2
    assert alive(pids) == []
    assert child.exited.result() == -signal.SIGKILL


async def test_stopping_twice_does_nothing_more(tmp_path: Path) -> None:
    child = await start_tree(tmp_path)
    await child.stop()
    ended = child.exited.result()
    await child.stop()
    assert child.exited.result() == ended < 0


def test_a_process_that_is_not_there_has_no_family() -> None:
    assert family(2**31 - 1) == []
