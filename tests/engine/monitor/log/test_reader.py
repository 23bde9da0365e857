"""Reading a log that grows, is rotated, and is anybody's."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_skills.core.errors import InputError
from eval_skills.engine.monitor.log import reader as log_cursor
from eval_skills.engine.monitor.log import reader as log_reader
from eval_skills.engine.monitor.log.files import FilePosition, check_log, list_files
from eval_skills.engine.monitor.log.reader import LogReader
from eval_skills.engine.monitor.log.records import LogFields, RecordReader
from tests.tables import each_row


def line(number: int, **more: Any) -> str:
    return json.dumps({"id": str(number), "output": f"answer {number}", **more}) + "\n"


def lines(*numbers: int) -> str:
    return "".join(map(line, numbers))


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


class Log:
    """A log and whoever reads it, over restarts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reader = self._reader([])

    def _reader(self, marks: list[Any]) -> LogReader:
        return LogReader(self.path, RecordReader(LogFields()), marks, knows_rotated=bool(marks))

    def new(self, *, restarted: bool = False) -> list[str]:
        """The ids of what is new; `restarted`: as another process sees it, that knows the marks alone."""
        if restarted:
            self.reader = self._reader(self.reader.marks())
        return [interaction.id for interaction in self.reader.look()]


class TestRecordsWithoutAnId:
    """They are told apart by their place: two that say the same are two interactions."""

    def test_equal_ones_count_each(self, log: Log) -> None:
        append(log.path, '{"output": "sorry"}\n' * 80)
        assert len(set(log.new())) == 80
        append(log.path, '{"output": "sorry"}\n' * 20)
        assert len(set(log.new(restarted=True))) == 20

    def test_a_record_keeps_its_id_however_the_log_is_named(self, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
        append(log.path, '{"output": "sorry"}\n' * 3)
        monkeypatch.chdir(log.path.parent)
        assert Log(Path("app.jsonl")).new() == Log(Path("../logs/app.jsonl")).new() == log.new()

    def test_those_of_several_files_of_a_folder_count_each(self, log: Log) -> None:
        for name in ("a.jsonl", "b.jsonl"):
            append(log.path.parent / name, '{"output": "sorry"}\n' * 2)
        assert len(set(Log(log.path.parent).new())) == 4


@pytest.fixture
def log(tmp_path: Path) -> Log:
    folder = tmp_path / "logs"
    folder.mkdir()
    return Log(folder / "app.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Log:
    folder = tmp_path / "logs"
    folder.mkdir()
    return Log(folder)


@pytest.mark.parametrize("restarted", [False, True])
def test_it_goes_on_where_it_stopped(log: Log, restarted: bool) -> None:
    log.path.write_text(lines(1, 2))
    assert log.new() == ["1", "2"]
    assert log.new(restarted=restarted) == []
    append(log.path, lines(3))
    assert log.new(restarted=restarted) == ["3"]


@pytest.mark.slow
@pytest.mark.parametrize("restarted", [False, True])
def test_a_line_that_is_cut_anywhere_waits_for_its_rest(log: Log, restarted: bool) -> None:
    text = line(2, input="ü🙂") + line(3)
    content = (line(1) + text).encode()
    for cut in range(len(line(1)), len(content)):
        log.path.write_bytes(content[:cut])
        log = Log(log.path)
        first = log.new()
        log.path.write_bytes(content)
        assert first + log.new(restarted=restarted) == ["1", "2", "3"], cut
        assert log.reader.bad == 0


def test_what_waits_is_said(log: Log) -> None:
    log.path.write_text(line(1) + '{"id": "2", "outp')
    assert log.new() == ["1"]
    assert log.reader.waiting == [f"{log.path}:2"]


def test_lines_are_numbered_through_over_looks_and_line_ends_that_came_late(log: Log) -> None:
    log.path.write_text(line(1).rstrip("\n"))
    assert log.new() == ["1"]
    append(log.path, "\n\nbroken\n")
    assert log.new(restarted=True) == []
    assert log.reader.bad_lines == [f"{log.path}:3: not valid JSON at column 1: Expecting value"]


@pytest.mark.parametrize("restarted", [False, True])
def test_a_log_that_was_rotated_by_renaming_is_read_to_its_end_first(log: Log, restarted: bool) -> None:
    log.path.write_text(lines(1, 2))
    log.new()
    append(log.path, lines(3))
    log.path.rename(log.path.with_name("app.jsonl.1"))
    log.path.write_text(lines(4))
    assert log.new(restarted=restarted) == ["3", "4"]
    assert log.new(restarted=restarted) == []


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_log_that_was_copied_and_emptied_is_not_read_twice(log: Log, kind: str, restarted: bool) -> None:
    path = log.path
    path.write_text(lines(*range(1, 60)))
    reader = log if kind == "file" else Log(path.parent)
    assert len(reader.new()) == 59
    append(path, lines(60))
    shutil.copy(path, path.with_name("app.jsonl.1"))
    os.truncate(path, 0)
    append(path, lines(61))
    assert reader.new(restarted=restarted) == ["60", "61"]
    assert reader.reader.remarks == []


def test_a_log_that_was_emptied_is_read_from_its_start_and_that_is_said(log: Log) -> None:
    log.path.write_text(lines(1, 2, 3))
    log.new()
    log.path.write_text(lines(4))
    assert log.new(restarted=True) == ["4"]
    assert log.reader.remarks == [f"{log.path} {log_reader._REPLACED}"]


def test_a_log_that_was_emptied_and_has_outgrown_its_old_length_is_another_one(log: Log) -> None:
    log.path.write_text(lines(1))
    log.new()
    log.path.write_text(lines(2, 3, 4))
    assert log.new() == ["2", "3", "4"]


def test_a_log_that_is_gone_for_a_moment_is_waited_for(log: Log) -> None:
    log.path.write_text(lines(1))
    log.new()
    log.path.unlink()
    assert log.new() == []
    assert log.reader.remarks == [f"{log.path} {log_reader._REPLACED}"]
    log.path.write_text(lines(2))
    assert log.new() == ["2"]


@pytest.mark.parametrize("restarted", [False, True])
def test_a_folder_is_read_in_the_order_of_names_and_known_files_first(folder: Log, restarted: bool) -> None:
    for name, number in {"b.jsonl": 4, "a.jsonl": 3, "a.jsonl.1": 2, "a.jsonl.10": 1, "sub/c.ndjson": 5}.items():
        (folder.path / name).parent.mkdir(exist_ok=True)
        (folder.path / name).write_text(line(number))
    assert folder.new() == ["1", "2", "3", "4", "5"]
    (folder.path / "a0.jsonl").write_text(lines(7))
    append(folder.path / "b.jsonl", lines(6))
    assert folder.new(restarted=restarted) == ["6", "7"]


class TestFilesSideBySide:
    """The files of a folder are read by their timestamps, so that no agent's come last alone."""

    @staticmethod
    def told(folder: Log, name: str, seconds: Iterable[int], **more: Any) -> None:
        append(folder.path / name, "".join(line(at, timestamp=1_800_000_000 + at, **more) for at in seconds))

    @pytest.mark.parametrize("open_files", [64, 2, 1])
    def test_they_come_by_time(self, folder: Log, monkeypatch: pytest.MonkeyPatch, open_files: int) -> None:
        monkeypatch.setattr(log_reader, "OPEN_FILES", open_files)
        self.told(folder, "a.jsonl", range(0, 100, 2))
        self.told(folder, "b.jsonl", range(1, 100, 2))
        self.told(folder, "c.jsonl", range(200, 210))
        found = [int(each) for each in folder.new()]
        assert sorted(found) == [*range(100), *range(200, 210)]
        assert found[-10:] == [*range(200, 210)]
        ahead = max(abs(at - place) for place, at in enumerate(found[:100]))
        assert ahead <= 2 if open_files > 1 else found[:50] == [*range(0, 100, 2)]

    @pytest.mark.parametrize("taken", range(0, 13))
    def test_another_reader_goes_on_wherever_one_stopped(self, folder: Log, taken: int) -> None:
        self.told(folder, "a.jsonl", (1, 3, 5))
        append(folder.path / "b.jsonl", "not JSON\n")
        self.told(folder, "b.jsonl", (2, 4, 6))
        table = [{"id": str(at), "output": "x", "timestamp": 1_800_000_000 + at} for at in (7, 8, 9)]
        pq.write_table(pa.Table.from_pylist(table), folder.path / "c.parquet")
        append(folder.path / "d.jsonl", lines(10, 11, 12))
        looking: Any = folder.reader.look()
        before = [each.id for each in islice(looking, taken)]
        marks = folder.reader.marks()
        looking.close()
        assert folder.reader.marks() == marks
        assert sorted([*before, *folder.new(restarted=True)], key=int) == [str(at) for at in range(1, 13)]
        assert folder.new(restarted=True) == []

    def test_a_file_without_timestamps_is_read_to_its_end_first(self, folder: Log) -> None:
        self.told(folder, "a.jsonl", (1, 2))
        append(folder.path / "b.jsonl", lines(3, 4))
        append(folder.path / "c.jsonl", lines(5, 6))
        assert folder.new() == ["3", "4", "5", "6", "1", "2"]

    def test_what_is_said_of_a_record_is_of_its_own_file(self, folder: Log) -> None:
        for name, seconds in {"a.jsonl": (1, 3), "b.jsonl": (2, 4)}.items():
            self.told(folder, name, seconds, note="x" * 100 * seconds[0])
            os.utime(folder.path / name, (0, seconds[0]))
        said = {each.id: (folder.reader.written, folder.reader.record_bytes) for each in folder.reader.look()}
        assert [written for written, _ in map(said.__getitem__, "1234")] == [1, 2, 1, 2]
        assert [size // 100 for _, size in map(said.__getitem__, "1234")] == [1, 2, 1, 2]


def test_a_folder_that_is_not_looked_into_is_named(folder: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    (elsewhere := folder.path.parent / "elsewhere").mkdir()
    append(elsewhere / "b.jsonl", lines(2))
    (folder.path / "linked").symlink_to(elsewhere)
    (folder.path / ".hidden").symlink_to(elsewhere)
    (shut := folder.path / "shut").mkdir()
    append(folder.path / "a.jsonl", lines(1))
    scandir = os.scandir

    def denied(path: Any) -> Any:  # permissions do not stop root, who may run the tests
        if Path(path) == shut:
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    assert folder.new() == ["1"]
    why = "is a link to a folder, or a folder that cannot be read; it is left out: watch that folder itself"
    assert folder.reader.remarks == [f"{folder.path / name} {why}" for name in ("linked", "shut")]


def test_what_is_no_log_is_left_out_and_named(folder: Log) -> None:
    for name in ("a.jsonl.2.gz", "notes.txt", ".hidden.jsonl"):
        (folder.path / name).write_text(lines(1))
    assert folder.new() == []
    assert [remark.split(" is ")[0] for remark in folder.reader.remarks] == [
        str(folder.path / "a.jsonl.2.gz"), str(folder.path / "notes.txt"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(b"{broken\n", "not valid JSON at column 2", id="json"),
        pytest.param(b'{"id": "\xff", "output": 1}\n', "not UTF-8 text (byte 8 of the line)", id="latin-1"),
        pytest.param(b"[" * 100_000 + b"\n", "nested too deeply to read", id="deep"),
        pytest.param(
            b'{"output": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001 + b"\n", "nested too deeply to read", id="deep-object"
        ),
        pytest.param(b'{"output": ' + b"9" * 10_000 + b"}\n", "4300 digits", id="endless-number"),
        pytest.param(b'{"output": 1, "costUsd": NaN}\n', ":2: NaN is not JSON; give a finite number or null", id="nan"),
        pytest.param(b'{"output": 1, "costUsd": -Infinity}\n', ":2: -Infinity is not JSON", id="infinity"),
        pytest.param(b'{"output": 1, "latencyMs": 1e400}\n', ":2: 1e400 is too large a number", id="too-large"),
        pytest.param(b'"text"\n', 'expected an object with an answer, got "text"', id="no-object"),
        pytest.param(b"\x00\x01\x02\n", "not valid JSON", id="binary"),
    ],
)
def test_a_hostile_line_is_counted_and_hides_no_neighbour(log: Log, text: bytes, says: str) -> None:
    log.path.write_bytes(line(1).encode() + text + line(2).encode())
    assert log.new() == ["1", "2"]
    assert (log.reader.read, log.reader.bad) == (3, 1)
    assert log.reader.bad_lines[0].startswith(f"{log.path}:2: ")
    assert says in log.reader.bad_lines[0]


def test_a_line_longer_than_the_limit_is_passed_over(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (log_cursor, log_reader):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", 2000)
    log.path.write_text(line(1) + line(2, input="x" * 10_000) + line(3) + line(4, input="x" * 10_000).rstrip("\n"))
    assert log.new() == ["1", "3"]
    assert log.reader.bad_lines == [f"{log.path}:2: the line is longer than 2,000 bytes"]
    append(log.path, "\n" + line(5))
    assert log.new(restarted=True) == ["5"]


def test_only_the_first_bad_lines_are_kept_and_all_are_counted(log: Log) -> None:
    log.path.write_text("x\n" * 1000)
    assert log.new() == []
    assert (log.reader.bad, len(log.reader.bad_lines)) == (1000, log_reader.BAD_SHOWN)


def test_a_byte_order_mark_is_no_part_of_the_first_line(log: Log) -> None:
    log.path.write_bytes(b"\xef\xbb\xbf" + line(1).encode())
    assert log.new() == ["1"]


def test_a_compressed_log_says_so(log: Log) -> None:
    log.path.write_bytes(b"\x1f\x8b\x08rest")
    with pytest.raises(InputError, match="compressed; unpack it first"):
        log.new()


class TestParquet:
    def write(self, path: Path, numbers: range, group: int = 50) -> None:
        rows = [{"id": str(number), "output": {"n": number}, "latencyMs": float(number)} for number in numbers]
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=group)

    def test_a_file_is_read_once_and_in_order(self, tmp_path: Path) -> None:
        self.write(tmp_path / "log.parquet", range(1000))
        log = Log(tmp_path / "log.parquet")
        assert log.new() == [str(number) for number in range(1000)]
        assert log.new(restarted=True) == []

    @pytest.mark.slow
    @each_row("taken", [1, 49, 50, 51, 260, 999])
    def test_it_goes_on_within_a_file(self, tmp_path: Path, taken: int) -> None:
        self.write(tmp_path / "log.parquet", range(1000))
        log = Log(tmp_path / "log.parquet")
        look = log.reader.look()
        for _ in range(taken):
            next(look)
        found = list(Log._reader(log, log.reader.marks()).look())
        assert [each.id for each in found] == [str(number) for number in range(taken, 1000)]
        assert found[0].source == f"{log.path}:{taken + 1}"

    def test_a_folder_of_partitions_with_a_file_that_is_being_written(self, folder: Log) -> None:
        (folder.path / "date=2026-01-01").mkdir()
        self.write(folder.path / "date=2026-01-01" / "a.parquet", range(3))
        (folder.path / "b.parquet").write_bytes(b"PAR1 not yet")
        assert folder.new() == ["0", "1", "2"]
        assert folder.reader.waiting == [str(folder.path / "b.parquet")]
        self.write(folder.path / "b.parquet", range(3, 5))
        assert folder.new(restarted=True) == ["3", "4"]

    @pytest.mark.slow
    @pytest.mark.parametrize("restarted", [False, True])
    @pytest.mark.parametrize("is_moved", [False, True], ids=["in-place", "moved-over-it"])
    @each_row("before", [1, 7, 8, 9, 300])
    def test_one_that_was_written_anew_with_more_rows_goes_on(
        self, tmp_path: Path, restarted: bool, is_moved: bool, before: int
    ) -> None:
        path = tmp_path / "log.parquet"
        self.write(path, range(before))
        log = Log(path)
        assert len(log.new()) == before
        for first, end in pairwise((before, before + 1, before + 2, before + 400)):
            self.write(tmp_path / "new" if is_moved else path, range(end), group=7)
            if is_moved:
                (tmp_path / "new").replace(path)
            assert log.new(restarted=restarted) == [str(number) for number in range(first, end)]
            assert log.new(restarted=restarted) == []
        assert log.reader.remarks == []

    def test_one_that_was_packed_anew_has_nothing_new(self, folder: Log) -> None:
        for name in ("a.parquet", "b.parquet"):
            self.write(folder.path / name, range(100))
        assert len(folder.new()) == 200
        table = pq.read_table(folder.path / "a.parquet").append_column("costUsd", pa.nulls(100, pa.float64()))
        pq.write_table(table, folder.path / "a.parquet", compression="zstd")
        assert (folder.new(restarted=True), folder.reader.remarks) == ([], [])

    @each_row(
        "numbers",
        [
            pytest.param(range(50), id="fewer-rows"),
            pytest.param(range(1, 151), id="moved-by-a-row"),
            pytest.param(range(500, 800), id="others"),
        ],
    )
    def test_one_that_has_other_rows_is_read_anew_and_that_is_said(self, tmp_path: Path, numbers: range) -> None:
        self.write(tmp_path / "log.parquet", range(100))
        log = Log(tmp_path / "log.parquet")
        log.new()
        self.write(log.path, numbers)
        assert log.new(restarted=True) == [str(number) for number in numbers]
        assert log.reader.remarks == [f"{log.path} {log_reader._REPLACED}"]

    @pytest.mark.parametrize("part", [b"", b"PAR1 not yet"])
    @pytest.mark.parametrize("restarted", [False, True])
    def test_one_that_is_just_being_written_anew_is_waited_for(self, folder: Log, restarted: bool, part: bytes) -> None:
        path = folder.path / "a.parquet"
        self.write(path, range(100))
        assert len(folder.new()) == 100
        path.write_bytes(part)
        assert folder.new(restarted=restarted) == []
        assert folder.reader.waiting == [str(path)]
        self.write(path, range(103))
        assert folder.new(restarted=restarted) == ["100", "101", "102"]

    def test_one_that_is_just_being_written_is_not_taken_for_one_that_is_gone(self, folder: Log) -> None:
        self.write(folder.path / "a.parquet", range(3))
        assert len(folder.new()) == 3
        (folder.path / "a.parquet").unlink()
        (folder.path / "b.parquet").write_bytes(b"PAR1 not yet")
        assert folder.new() == []
        self.write(folder.path / "b.parquet", range(5, 10))
        assert folder.new() == ["5", "6", "7", "8", "9"]
        assert not [remark for remark in folder.reader.remarks if "replaced" in remark]

    def test_one_that_an_earlier_version_began_is_read_anew_where_it_has_changed(self, tmp_path: Path) -> None:
        self.write(tmp_path / "log.parquet", range(10))
        log = Log(tmp_path / "log.parquet")
        log.new()
        [mark] = log.reader.marks()
        earlier = [FilePosition.model_validate(mark.model_dump(exclude={"rows"}))]
        assert list(log._reader(earlier).look()) == []
        self.write(log.path, range(11))
        assert len(list(log._reader(earlier).look())) == 11

    def test_one_broken_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "log.parquet").write_bytes(b"PAR1 not at all PAR1")
        with pytest.raises(InputError, match="not a complete Parquet file"):
            Log(tmp_path / "log.parquet").new()


def test_a_log_that_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        check_log(tmp_path / "none" / "app.jsonl")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        check_log(tmp_path / "pipe")


def test_a_pipe_in_a_folder_is_left_out(folder: Log) -> None:
    os.mkfifo(folder.path / "a.jsonl")
    assert list_files(folder.path, []).files == []
