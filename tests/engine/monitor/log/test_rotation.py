"""A log that is rotated while it is listed, before it is opened, or often between two looks: nothing is lost or repeated."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from eval_skills.engine.monitor.log import files, reader
from eval_skills.engine.monitor.log.reader import LogReader
from eval_skills.engine.monitor.log.records import LogFields, RecordReader
from tests.engine.monitor.log.test_reader import Log, append, line, lines

Rotate = Callable[[Path], None]


def renamed(path: Path) -> None:
    """As logrotate does it, or a rotating handler of Python."""
    _make_room(path)
    path.rename(path.with_name(f"{path.name}.1"))
    path.touch()


def copied(path: Path) -> None:
    """As logrotate does it with `copytruncate`."""
    _make_room(path)
    shutil.copy(path, path.with_name(f"{path.name}.1"))
    os.truncate(path, 0)


def _make_room(path: Path) -> None:
    for turn in range(8, 0, -1):
        if (older := path.with_name(f"{path.name}.{turn}")).exists():
            older.rename(path.with_name(f"{path.name}.{turn + 1}"))


def rotated(rotate: Rotate, path: Path, then: str) -> None:
    rotate(path)
    append(path, then)


ROTATIONS = [pytest.param(renamed, id="renamed"), pytest.param(copied, id="copied")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "app.jsonl"


@pytest.fixture(params=["file", "folder"])
def log(folder: Path, path: Path, request: pytest.FixtureRequest) -> Log:
    """A log named by its file or by its folder."""
    path.touch()
    return Log(folder if request.param == "folder" else path)


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("rotate", ROTATIONS)
class TestBetweenTwoLooks:
    def test_several_rotations(self, log: Log, path: Path, rotate: Rotate, restarted: bool) -> None:
        append(path, lines(1, 2))
        assert log.new() == ["1", "2"]
        for number in (3, 4, 5):
            append(path, lines(number))
            rotate(path)
        append(path, lines(6))
        assert log.new(restarted=restarted) == ["3", "4", "5", "6"]
        assert log.new(restarted=restarted) == []
        assert log.reader.remarks == []

    def test_a_log_that_is_always_empty_when_it_is_looked_at(self, log: Log, path: Path, rotate: Rotate, restarted: bool) -> None:
        assert log.new() == []
        for number in (1, 2, 3):
            append(path, lines(number))
            rotate(path)
            assert log.new(restarted=restarted) == [str(number)]


@pytest.mark.parametrize("rotate", ROTATIONS)
class TestWhileItIsLooking:
    def test_before_a_known_file_is_opened(self, log: Log, path: Path, rotate: Rotate, monkeypatch: pytest.MonkeyPatch) -> None:
        append(path, lines(1, 2))
        assert log.new() == ["1", "2"]
        append(path, lines(3))
        _disturb(monkeypatch, {"list_files": reader}, lambda: rotated(rotate, path, lines(4, 5, 6, 7)))
        assert log.new() + log.new() == ["3", "4", "5", "6", "7"]
        assert log.new() == []

    def test_before_a_new_file_is_opened(self, log: Log, path: Path, rotate: Rotate, monkeypatch: pytest.MonkeyPatch) -> None:
        append(path, lines(1, 2))
        _disturb(monkeypatch, {"list_files": reader}, lambda: rotated(rotate, path, lines(3)))
        assert sorted(log.new() + log.new()) == ["1", "2", "3"]
        assert log.new() == []

    def test_while_its_files_are_listed(self, log: Log, path: Path, rotate: Rotate, monkeypatch: pytest.MonkeyPatch) -> None:
        """The names were read before the rotation, and what they belong to after it."""
        append(path, lines(1, 2))
        assert log.new() == ["1", "2"]
        append(path, lines(3))
        _disturb(monkeypatch, {"_in_folder": files, "_beside": files}, lambda: rotated(rotate, path, lines(4)))
        assert log.new() == ["3", "4"]
        assert log.reader.remarks == []


def _disturb(monkeypatch: pytest.MonkeyPatch, names: dict[str, ModuleType], happens: Callable[[], object]) -> None:
    """Let something happen once, right after the first of these functions has returned."""
    left = iter([happens])

    def followed(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **options: Any) -> Any:
            result = function(*args, **options)
            next(left, lambda: None)()
            return result

        return called

    for name, module in names.items():
        monkeypatch.setattr(module, name, followed(getattr(module, name)))


def header() -> str:
    """A first line that all files of a log have in common, and longer than what they are recognised by."""
    return line(0, input="x" * 2 * files.HEAD_BYTES)


class TestFilesThatBeginAlike:
    def test_one_that_was_renamed_before_it_was_opened(self, log: Log, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        append(path, header() + lines(1))
        assert log.new() == ["0", "1"]
        append(path, lines(2))
        _disturb(monkeypatch, {"list_files": reader}, lambda: rotated(renamed, path, header() + lines(3, 4, 5)))
        assert log.new() + log.new() == ["2", "0", "3", "4", "5"]

    @pytest.mark.parametrize("restarted", [False, True])
    @pytest.mark.parametrize("rotate", ROTATIONS)
    def test_one_that_was_rotated_and_has_outgrown_its_old_length(
        self, log: Log, path: Path, rotate: Rotate, restarted: bool
    ) -> None:
        append(path, header() + lines(1, 2))
        assert log.new() == ["0", "1", "2"]
        rotated(rotate, path, header() + lines(*range(10, 20)))
        assert log.new(restarted=restarted) == ["0", *map(str, range(10, 20))]
        assert log.reader.remarks == []

    @pytest.mark.parametrize("restarted", [False, True])
    def test_one_that_was_emptied_or_got_the_inode_of_the_one_before(self, log: Log, path: Path, restarted: bool) -> None:
        append(path, header() + lines(1, 2))
        assert log.new() == ["0", "1", "2"]
        path.write_text(header() + lines(*range(10, 20)))
        assert log.new(restarted=restarted) == ["0", *map(str, range(10, 20))]
        assert log.reader.bad == 0
        path.unlink()
        path.write_text(header() + lines(*range(30, 50)))
        assert log.new(restarted=restarted) == ["0", *map(str, range(30, 50))]

    def test_one_that_is_renamed_at_every_listing(self, log: Log, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is not taken for another one, nor for gone."""
        append(path, header() + lines(1))
        assert log.new() == ["0", "1"]
        append(path, lines(2))
        known, found, numbers = path.stat().st_ino, files._found, iter(range(10, 10 * (files._LISTINGS + 1), 10))

        def disturbed(log: Path) -> tuple[dict[Path, files.Inode], list[str]]:
            if (number := next(numbers, None)) is None:
                return found(log)
            rotated(renamed, path, header() + lines(number, number + 1))
            listed, left_out = found(log)
            return {at: inode for at, inode in listed.items() if inode[1] != known}, left_out

        monkeypatch.setattr(files, "_found", disturbed)
        seen = [*log.new(), *log.new(restarted=True)]
        assert [number for number in seen if number != "0"][-1] == "2"
        assert sorted(seen, key=int) == ["0"] * 5 + ["2", "10", "11", "20", "21", "30", "31", "40", "41", "50", "51"]
        assert log.new(restarted=True) == []


@pytest.mark.parametrize("is_deleted", [True, False])
def test_an_empty_file_that_is_gone_is_not_taken_for_a_copy(folder: Path, path: Path, is_deleted: bool) -> None:
    """Nor where the copy gets the inode of the deleted file."""
    log = Log(folder)
    (folder / "a.jsonl").touch()
    append(path, lines(1, 2))
    assert log.new() == ["1", "2"]
    if is_deleted:
        (folder / "a.jsonl").unlink()
    else:
        (folder / "a.jsonl").rename(folder.parent / "a.jsonl")
    copied(path)
    assert log.new() == []


class TestWhatWasThereBefore:
    def test_what_a_file_was_rotated_to_before_the_first_look_is_not_read(self, path: Path, log: Log) -> None:
        path.with_name("app.jsonl.2").write_text(lines(1))
        path.with_name("app.jsonl.1").write_text(lines(2, 3))
        append(path, lines(4))
        assert log.new() == (["4"] if log.path == path else ["1", "2", "3", "4"])
        append(path.with_name("app.jsonl.1"), lines(5))
        assert log.new(restarted=True) == ["5"]

    def test_nor_where_a_file_is_not_a_rotated_one(self, path: Path) -> None:
        path.touch()
        log = Log(path)
        assert log.new() == []
        for name in ("app.jsonl.bak", "app.jsonl-notes", "app.jsonl.1.gz", "app.jsonl~", "app.jsonl2"):
            path.with_name(name).write_text(lines(1))
        assert log.new() == []

    def test_a_state_that_does_not_know_them_takes_them_as_read(self, path: Path) -> None:
        append(path, lines(2))
        log = Log(path)
        assert log.new() == ["2"]
        path.with_name("app.jsonl.7").write_text(lines(1))
        append(path, lines(3))
        renamed(path)
        older = LogReader(path, RecordReader(LogFields()), log.reader.marks())
        assert [each.id for each in older.look()] == ["3"]
        append(path.with_name("app.jsonl.8"), lines(4))
        assert [each.id for each in older.look()] == ["4"]


def test_the_oldest_file_may_go(log: Log, path: Path) -> None:
    """It is overwritten by the one before: neither is emptied or replaced."""
    assert log.new() == []
    for number in (1, 2, 3):
        append(path, lines(number))
        renamed(path)
        assert log.new() == [str(number)]
    path.with_name("app.jsonl.2").replace(path.with_name("app.jsonl.3"))
    assert log.new(restarted=True) == []
    assert log.reader.remarks == []


def test_a_file_with_two_names_is_read_once(folder: Path) -> None:
    (folder / "2026-11-27.jsonl").write_text(lines(1, 2))
    (folder / "current.jsonl").symlink_to("2026-11-27.jsonl")
    assert Log(folder).new() == ["1", "2"]


WRITER = """
import json, os, shutil, sys, time
path, count, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
log = open(path, "ab", buffering=0)
for number in range(count):
    if number and number % 50 == 0:
        for turn in range(number // 50, 1, -1):
            os.rename(f"{path}.{turn - 1}", f"{path}.{turn}")
        if how == "renamed":
            os.rename(path, f"{path}.1")
            log = open(path, "ab", buffering=0)
        else:
            shutil.copy(path, f"{path}.1")
            os.truncate(path, 0)
    log.write(json.dumps({"id": f"{number}", "output": "x"}).encode() + b"\\n")
    time.sleep(0.0001)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["renamed", "copied"])
def test_a_process_that_rotates_faster_than_it_is_looked_at(log: Log, path: Path, how: str) -> None:
    count = 2000
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(count), how])
    seen: Counter[str] = Counter()
    while writer.poll() is None:
        seen.update(log.new(restarted=True))
    assert writer.returncode == 0
    seen.update(log.new())
    assert seen.keys() == {str(number) for number in range(count)}
    assert log.reader.bad == 0
    if how == "renamed":  # a copy that is not finished looks like a new file: its records come twice, and their ids say so
        assert seen.total() == count
