from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.models import ItemResult
from eval_skills.core.store import Journal, read_journal
from eval_skills.core.store.files import RunLock

MakeResult = Callable[..., ItemResult]

APPEND_FOR_EVER = """
import itertools, sys
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import Mock
from eval_skills.core.models import ItemResult
from eval_skills.core.store import Journal, read_journal

path = Path(sys.argv[1])
done = len(list(read_journal(path)))
with Journal(path) as journal:
    for number in itertools.count(done):
        journal.append(ItemResult(
            run_id="r", started_at=datetime.now(UTC), skill_id="s", skill_version="1.0.0", benchmark_id="b",
            benchmark_version="1.0.0", task_id=f"t{number}", run_index=0, status="pass", passed=True, output="x" * 5000))
        print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "20261121T233824Z-3f9a" / "journal.jsonl"


def task_ids(path: Path) -> list[str]:
    return [result.task_id for result in read_journal(path)]


def test_what_was_appended_is_there_before_close(path: Path, make_result: MakeResult) -> None:
    with Journal(path) as journal:
        journal.append(make_result("a"))
        assert task_ids(path) == ["a"]
        journal.append(make_result("b"))
        assert task_ids(path) == ["a", "b"]


def test_opening_again_goes_on_behind_the_last_line(path: Path, make_result: MakeResult) -> None:
    for name in "abc":
        with Journal(path) as journal:
            journal.append(make_result(name))
    assert task_ids(path) == ["a", "b", "c"]
    assert [entry.name for entry in path.parent.iterdir()] == ["journal.jsonl"]


@pytest.mark.parametrize("torn", [b"{", b'{"run_id": "x', b"\0" * 200_000], ids=["one-byte", "half", "longer-than-a-block"])
@pytest.mark.parametrize("before", [0, 2], ids=["alone", "behind-lines"])
def test_opening_cuts_off_a_torn_last_line(path: Path, make_result: MakeResult, torn: bytes, before: int) -> None:
    with Journal(path) as journal:
        for number in range(before):
            journal.append(make_result(f"t{number}"))
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    with Journal(path) as journal:
        assert path.read_bytes() == whole
        journal.append(make_result("next"))
    assert task_ids(path) == [f"t{number}" for number in range(before)] + ["next"]


def test_a_second_writer_is_told_who_has_it(path: Path, make_result: MakeResult) -> None:
    with Journal(path) as journal:
        journal.append(make_result("a"))
        with pytest.raises(UsageError, match=f"run 20261121T233824Z-3f9a is being written by process {os.getpid()};"):
            Journal(path)
        journal.append(make_result("b"))
    assert task_ids(path) == ["a", "b"]
    Journal(path).close()


@pytest.mark.slow
def test_a_writer_in_another_process_is_told_who_has_it(path: Path) -> None:
    with Journal(path):
        child = subprocess.run([sys.executable, "-c", APPEND_FOR_EVER, str(path)], capture_output=True, text=True)
    assert child.returncode == 1
    assert f"is being written by process {os.getpid()};" in child.stderr.splitlines()[-1]


def test_a_lock_file_left_by_a_killed_process_locks_nobody_out(path: Path, make_result: MakeResult) -> None:
    path.parent.mkdir(parents=True)
    path.with_suffix(".lock").write_text("999999")
    with Journal(path) as journal:
        journal.append(make_result("a"))
    assert task_ids(path) == ["a"]


def test_of_many_openers_at_once_one_wins(path: Path) -> None:
    start = threading.Barrier(8)

    def open_once(_: int) -> RunLock | None:
        start.wait()
        try:
            return RunLock(path)
        except UsageError:
            return None

    for _ in range(20):
        with ThreadPoolExecutor(8) as pool:
            held = [lock for lock in pool.map(open_once, range(8)) if lock is not None]
        assert len(held) == 1
        held[0].release()


def test_a_lock_that_finds_no_room_is_not_held(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
        with pytest.raises(RunError, match="No space left on device; free disk space"):
            RunLock(path)
    assert list(path.parent.iterdir()) == []
    RunLock(path).release()


@pytest.mark.slow
def test_a_lock_taken_in_turns_is_never_held_twice(path: Path) -> None:
    inside: list[int] = []

    def take_turns(number: int) -> int:
        taken = 0
        while taken < 50:
            try:
                with RunLock(path):
                    inside.append(number)
                    assert inside == [number]
                    inside.remove(number)
                    taken += 1
            except UsageError:
                continue
        return taken

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(take_turns, range(4))) == 200


def test_threads_append_whole_lines(path: Path, make_result: MakeResult) -> None:
    with Journal(path) as journal, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: journal.append(make_result(f"t{n}", output="x" * n * 50)), range(400)))
    assert sorted(task_ids(path)) == sorted(f"t{n}" for n in range(400))


@pytest.mark.slow
def test_every_acknowledged_line_outlives_kill_9_and_none_is_doubled(path: Path) -> None:
    path.parent.mkdir(parents=True)
    acknowledged = -1
    for lines in (40, 3, 150):
        with subprocess.Popen([sys.executable, "-c", APPEND_FOR_EVER, str(path)], stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(lines):
                acknowledged = int(child.stdout.readline())
            child.kill()
            acknowledged = max([acknowledged, *(int(line) for line in child.stdout.read().split("\n")[:-1])])
        found = task_ids(path)
        assert len(found) >= acknowledged + 1
        assert found == [f"t{number}" for number in range(len(found))]


def test_a_write_that_fails_halfway_leaves_no_trace(path: Path, make_result: MakeResult, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def disk_fills_up(fd: int, data: memoryview) -> int:
        if len(data) < 100:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data[: len(data) // 2])

    with Journal(path) as journal:
        journal.append(make_result("a"))
        before = path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", disk_fills_up)
            with pytest.raises(RunError, match="No space left on device; what it holds is kept: free disk space, then resume"):
                journal.append(make_result("b"))
        assert path.read_bytes() == before
        journal.append(make_result("c"))
    assert task_ids(path) == ["a", "c"]


def test_a_partial_write_is_completed(path: Path, make_result: MakeResult, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with Journal(path) as journal:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
            journal.append(make_result("a"))
        journal.append(make_result("b"))
    assert task_ids(path) == ["a", "b"]


def test_p56_lines_are_synced_in_batches(path: Path, make_result: MakeResult, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[float, int]] = []
    fsync = os.fsync

    def counting(fd: int) -> None:
        size = os.fstat(fd).st_size
        fsync(fd)
        synced.append((time.monotonic(), size))

    with Journal(path) as journal:
        monkeypatch.setattr(os, "fsync", counting)
        began = time.monotonic()
        for number in range(200):
            journal.append(make_result(f"t{number}"))
        took = time.monotonic() - began
        assert len(synced) <= took / 0.2 + 1
    size = path.stat().st_size
    assert synced[-1][1] == size
    assert len(synced) <= took / 0.2 + 3


def test_p56_a_line_is_synced_within_a_quarter_of_a_second_though_none_follows(
    path: Path, make_result: MakeResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, delays = threading.Event(), list[float | None]()

    class Watched(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            delays.append(timeout)
            return super().wait(timeout)

    with Journal(path) as journal:
        monkeypatch.setattr(os, "fsync", lambda _: synced.set())
        monkeypatch.setattr(journal, "_closing", Watched())
        journal.append(make_result())
        assert synced.wait(60)
        monkeypatch.undo()
    # what was asked for: how long it took says how busy the machine is
    assert delays[0] is not None
    assert delays[0] < 0.25


def test_a_failed_sync_is_told(path: Path, make_result: MakeResult, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    journal = Journal(path)
    monkeypatch.setattr(os, "fsync", broken)
    journal.append(make_result())
    with pytest.raises(RunError, match="Input/output error"):
        journal.close()
    monkeypatch.undo()
    Journal(path).close()


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda path: path.unlink(), id="deleted"),
        pytest.param(lambda path: path.parent.rename(path.parent.with_name("elsewhere")), id="folder-moved"),
        pytest.param(lambda path: path.with_name("other").touch() or path.with_name("other").replace(path), id="replaced"),
    ],
)
def test_a_run_whose_journal_is_gone_asks_for_no_more_results(
    path: Path, make_result: MakeResult, harm: Callable[[Path], object]
) -> None:
    def append_until_refused() -> None:
        for _ in range(3_000):
            journal.append(make_result())
            time.sleep(0.001)

    journal = Journal(path)
    journal.append(make_result())
    harm(path)
    said = "was moved or deleted during the run; .*put it back, then resume run"
    with pytest.raises(RunError, match=said):
        append_until_refused()
    with pytest.raises(RunError, match=said):
        journal.close()


def test_a_closed_journal_refuses(path: Path, make_result: MakeResult) -> None:
    journal = Journal(path)
    journal.close()
    journal.close()
    with pytest.raises(RunError, match="is closed; open it again"):
        journal.append(make_result())


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"cannot lock .*journal\.lock: .*; choose a store folder that can be written"):
        Journal(tmp_path / "file" / "journal.jsonl")


def test_secrets_never_reach_the_file(path: Path, make_result: MakeResult) -> None:
    with Journal(path, secrets={"API_KEY": 'se"cret-value'}) as journal:
        journal.append(make_result(output={"echo": 'se"cret-value', "json": json.dumps('se"cret-value')}))
    (result,) = read_journal(path)
    assert result.output == {"echo": "[redacted:API_KEY]", "json": '"[redacted:API_KEY]"'}
    assert b"cret-value" not in path.read_bytes()
