"""One pace for all processes of a machine: a file under a lock, and what happens where that does not work."""

from __future__ import annotations

import fcntl
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval_skills.core.rate_limits import ledger as module
from eval_skills.core.rate_limits.ledger import UNUSED_S, Ledger
from eval_skills.core.rate_limits.pace import Pace

NAME = "127.0.0.1:8000"


def hold(ledger: Ledger, seconds: float, *, publish: bool = True) -> None:
    with ledger.pace(publish=publish) as pace:
        pace.hold(time.time(), seconds)


def held_s(ledger: Ledger) -> float:
    with ledger.pace() as pace:
        return pace.held_until - time.time()


def test_what_one_knows_the_others_know_once_it_is_published(tmp_path: Path) -> None:
    one, other = Ledger(tmp_path / "rates", NAME), Ledger(tmp_path / "rates", NAME)
    hold(one, 60, publish=False)
    assert held_s(other) <= 0
    assert not (tmp_path / "rates").exists()
    hold(one, 70)
    assert held_s(other) > 60
    assert held_s(Ledger(tmp_path / "rates", "another:8000")) <= 0


def test_answers_from_before_one_knew_of_the_others_count(tmp_path: Path) -> None:
    one, other = Ledger(tmp_path, NAME), Ledger(tmp_path, NAME)
    for ledger in (one, other):
        with ledger.pace() as pace:
            sent_at = pace.claim(time.time())
            for _ in range(10):
                pace.answered(sent_at, sent_at, waited=False)
    with one.pace(publish=True) as pace:
        pace.refused(now := time.time(), now, 1)
        alone = pace.rate
    with other.pace() as pace:
        assert pace.rate == pytest.approx(2 * alone)


PROCESS = """
import sys, time
from pathlib import Path
from eval_skills.core.rate_limits.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]), sys.argv[2])
for _ in range(200):
    with ledger.pace(publish=True) as pace:
        print(pace.claim(time.time(), declared=1000.0))
"""


@pytest.mark.slow
def test_no_two_processes_get_the_same_turn(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROCESS, str(tmp_path), NAME]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    turns = sorted(float(line) for process in processes for line in process.communicate(timeout=120)[0].split())
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(turns) == 600
    assert min(after - before for before, after in itertools.pairwise(turns)) > 0.0009


def test_a_stopped_process_that_holds_the_lock_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOCK_S", 0.01)
    ledger = Ledger(tmp_path, NAME)
    hold(ledger, 60)
    [file] = tmp_path.glob("*.pace")
    with file.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        hold(ledger, 90)
    assert held_s(ledger) > 80, "its own pace goes on"
    assert held_s(Ledger(tmp_path, NAME)) < 80


@pytest.mark.parametrize("found", [b"", b"{}", b"x" * 1000, Pace().packed()[:-1]], ids=["empty", "json", "long", "torn"])
def test_a_file_of_something_else_is_written_anew(tmp_path: Path, found: bytes) -> None:
    hold(Ledger(tmp_path, NAME), 60)
    [file] = tmp_path.glob("*.pace")
    file.write_bytes(found)
    hold(Ledger(tmp_path, NAME), 30)
    assert 20 < held_s(Ledger(tmp_path, NAME)) <= 30


def test_where_no_file_can_be_written_a_process_keeps_its_own_pace(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    ledger = Ledger(tmp_path / "a-file" / "rates", NAME)
    hold(ledger, 60)
    assert held_s(ledger) > 50


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    hold(Ledger(tmp_path, NAME), 60)
    [file] = tmp_path.glob("*.pace")
    file.unlink()
    (tmp_path / "precious").write_bytes(b"precious")
    file.symlink_to(tmp_path / "precious")
    hold(Ledger(tmp_path, NAME), 60)
    assert (tmp_path / "precious").read_bytes() == b"precious"


def test_files_of_services_that_are_not_asked_any_more_are_removed(tmp_path: Path) -> None:
    hold(Ledger(tmp_path, "old:1"), 1)
    [old] = tmp_path.glob("*.pace")
    os.utime(old, (time.time() - UNUSED_S - 10,) * 2)
    hold(Ledger(tmp_path, "new:1"), 1)
    assert old not in list(tmp_path.glob("*.pace"))
    assert len(list(tmp_path.glob("*.pace"))) == 1
