"""A store that is damaged says so, file by file, and one damaged file hides nothing of the others."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError, RunError, UsageError
from eval_skills.core.store import Journal, Manifest, Store, land_items, land_reports, read_journal, read_manifest, write_manifest
from eval_skills.core.store.history import past_runs, task_outcomes
from eval_skills.core.store.layout import TableName
from eval_skills.core.store.retention import note_pruned, pruned_words
from eval_skills.core.store.sql import query
from eval_skills.core.store.verify import verify
from eval_skills.core.trend.trend import every_trend, trend
from eval_skills.engine.repair import repair
from tests.core.store.conftest import RUNS, file_of


def test_what_is_as_it_was_written_is_well(landed: Store) -> None:
    found = verify(landed)
    assert (found.files, found.undigested, found.findings) == (6, [], [])


@pytest.mark.slow
def test_every_flipped_bit_is_found(landed: Store) -> None:
    """Wherever it is, header and footer included, which no checksum of Parquet covers."""
    draw, file = random.Random(13), file_of(landed, "items", RUNS[0])
    whole = file.read_bytes()
    for place in (*range(4), *range(-8, 0), *(draw.randrange(len(whole)) for _ in range(8))):
        content = bytearray(whole)
        content[place] ^= 1 << draw.randrange(8)
        file.write_bytes(content)
        assert [(each.kind, each.run_id, each.table) for each in verify(landed).findings] == [("damaged", RUNS[0], "items")]


def test_a_file_of_an_older_version_has_no_digest_and_its_checksums_count(landed: Store) -> None:
    (landed.layout.root / "digests.jsonl").unlink()
    found = verify(landed)
    assert (len(found.undigested), found.findings) == (6, [])
    file = file_of(landed, "reports", RUNS[1])
    file.write_bytes(file.read_bytes()[:-9])
    assert [each.kind for each in verify(landed).findings] == ["damaged", "without-reports"]


def test_what_lands_again_is_well(landed: Store, make_report: Callable[..., Any]) -> None:
    land_reports(landed, RUNS[0], None, [make_report(), make_report(skill_id="other")], benchmark_version="1.0.0")
    assert verify(landed).findings == []


@pytest.mark.slow
def test_one_damaged_file_disables_neither_history_nor_queries(landed: Store) -> None:
    told: list[str] = []
    landed.tables.tell = told.append
    file_of(landed, "reports", RUNS[1]).write_bytes(b"PAR1 no more PAR1")
    assert landed.history() == {"adder@1.0.0": landed.reports_of(RUNS[2])[0].summary.completion_rate}
    assert [run.run_id for run in past_runs(landed)] == [*reversed(RUNS)]
    assert query(landed, "SELECT count(*) AS n FROM reports").to_pylist() == [{"n": 2}]
    assert query(landed, "SELECT count(*) AS n FROM items").to_pylist() == [{"n": 60}]
    assert len(told) == 1, "it is named once"
    assert f"{RUNS[1]}.parquet: not a readable Parquet file; see eval-skills store verify" in told[0]


@pytest.mark.slow
def test_items_that_are_damaged_are_left_out_of_a_query_too(landed: Store) -> None:
    file = file_of(landed, "items", RUNS[0])
    content = bytearray(file.read_bytes())
    content[len(content) // 4] ^= 16
    file.write_bytes(content)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert query(landed, "SELECT * FROM items_all").num_rows == 40
    assert RUNS[0] in str(told[0].message)


READS: dict[str, Callable[[Store], Any]] = {
    "items": lambda store: len(store.items()),
    "query": lambda store: query(store, "SELECT count(*) AS n FROM items_all").to_pylist()[0]["n"],
    "rows": lambda store: len(store.tables.rows("items", ["run_id"])),
    "outcomes": lambda store: sum(each.tally.passed for each in task_outcomes(store, RUNS)),
}


@pytest.mark.slow
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_no_flipped_bit_of_a_page_header_or_footer_changes_what_is_read(landed: Store, read: Callable[[Store], Any]) -> None:
    """Wherever it is: each way of reading leaves the file out and names it, and refuses it where it is all that there is."""
    draw, file = random.Random(7), file_of(landed, "items", RUNS[0])
    whole = file.read_bytes()
    for place in (4, *(draw.randrange(len(whole)) for _ in range(4))):
        content = bytearray(whole)
        content[place] ^= 1 << draw.randrange(8)
        file.write_bytes(content)
        fresh, told = Store(landed.path), list[str]()
        fresh.tables.tell = told.append
        assert (read(fresh), len(told)) == (40, 1), place
        assert f"{RUNS[0]}.parquet: " in told[0]
        with pytest.raises(InputError, match=RUNS[0]):
            fresh.item_table(RUNS[0])
    file.write_bytes(whole)
    assert read(Store(landed.path)) == 60


def test_a_file_that_lands_again_while_others_read_is_well(landed: Store, make_result: Callable[..., Any]) -> None:
    assert len(landed.items()) == 60
    land_items(Store(landed.path), RUNS[0], [make_result("once", run_id=RUNS[0])])
    assert len(landed.items()) == 41


@pytest.mark.parametrize("place", [12, 40, -20, -1], ids=["name", "digest", "checksum", "line-end"])
def test_a_damaged_list_of_digests_condemns_no_file(landed: Store, place: int) -> None:
    """A repair would put aside what is well."""
    listed = landed.layout.root / "digests.jsonl"
    lines = listed.read_bytes().splitlines(keepends=True)
    line = bytearray(lines[0])
    line[place] ^= 1
    listed.write_bytes(b"".join([bytes(line), *lines[1:]]))
    found = verify(landed)
    assert (found.findings, len(found.undigested) < 3) == ([], True)
    assert len(landed.items()) == 60


def test_a_list_of_digests_that_cannot_be_read_is_named_and_stops_no_reader(landed: Store) -> None:
    told: list[str] = []
    landed.tables.tell = told.append
    (landed.layout.root / "digests.jsonl").unlink()
    (landed.layout.root / "digests.jsonl").mkdir()
    assert len(landed.items()) == 60
    assert len(told) == 1
    assert "Is a directory" in told[0]


@pytest.mark.parametrize("kept", [0, 2], ids=["only-file", "one-of-three"])
def test_a_damaged_file_hides_no_run_of_the_history(landed: Store, kept: int) -> None:
    """Its figures are unknown, not 0; the other runs keep theirs."""
    told: list[str] = []
    landed.tables.tell = told.append
    for run_id in RUNS[: 3 - kept]:
        file_of(landed, "reports", run_id).write_bytes(b"x")
        file_of(landed, "items", run_id).write_bytes(b"x")
    runs = past_runs(landed)
    assert [run.items for run in runs] == [20] * kept + [None] * (3 - kept)
    assert [run.best_completion is None for run in runs] == [False] * kept + [True] * (3 - kept)
    assert len(told) == 2 * (3 - kept)
    rows = query(landed, "SELECT landed_items FROM runs ORDER BY run_id DESC").column(0).to_pylist()
    assert rows == [20] * kept + [None] * (3 - kept)


@pytest.mark.slow
def test_a_footer_that_contradicts_itself_gives_no_number(landed: Store) -> None:
    """The number of rows is in it twice; neither copy has a checksum. Some of the other bytes are altered, too."""
    file = file_of(landed, "items", RUNS[0])
    whole = file.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    rows = 2 * 20  # as the footer spells it: a zigzag number
    for place in (each for each in range(footer, len(whole) - 8) if whole[each] == rows or each % 29 == 0):
        content = bytearray(whole)
        content[place] ^= 2
        file.write_bytes(content)
        fresh = Store(landed.path)
        fresh.tables.tell = lambda _: None
        assert fresh.tables.landed_rows(RUNS[:1])[RUNS[0]] in (20, None), place


def test_landed_files_that_are_gone_are_missed_unless_they_were_pruned(landed: Store) -> None:
    for run_id in RUNS:
        (file := file_of(landed, "items", run_id)).unlink()
    file.mkdir()  # in its place something that is no file
    note_pruned(landed, RUNS[0])
    file_of(landed, "reports", RUNS[2]).unlink()
    found = [(each.kind, each.table, each.run_id) for each in verify(landed).findings]
    assert found == [("missing", "items", RUNS[1]), ("missing", "items", RUNS[2]), ("missing", "reports", RUNS[2])]
    assert {each.repaired for each in repair(landed).findings} == {"not repaired: nothing else in the store holds it"}
    assert str(pruned_words(landed, RUNS[1])).endswith("its items are gone, though not by --keep-days; its report remains")


@pytest.mark.slow
def test_a_manifest_that_is_gone_is_missed(landed: Store) -> None:
    (landed.run_folder(RUNS[1]) / "manifest.json").unlink()
    landed.run_folder("20261124T233824Z-0004").mkdir()  # its process was stopped at once
    assert [(each.kind, each.run_id, each.table) for each in verify(landed).findings] == [("missing", RUNS[1], None)]
    told: list[str] = []
    landed.tables.tell = told.append
    assert [run.planned_items is None for run in past_runs(landed)] == [True, False, True, False]
    assert len(told) == 1
    assert f"{RUNS[1]}/manifest.json: the run has landed, and its manifest is gone; see" in told[0]


GOES_ON: dict[str, tuple[TableName, Callable[[Store], int], int]] = {
    "query-items": ("items", lambda store: query(store, "SELECT DISTINCT run_id FROM items").num_rows, 2),
    "query-turns": ("items", lambda store: query(store, "SELECT * FROM turns").num_rows, 0),
    "query-reports": ("reports", lambda store: query(store, "SELECT * FROM reports").num_rows, 2),
    "query-runs": ("items", lambda store: query(store, "SELECT * FROM runs").num_rows, 3),
    "trend": ("reports", lambda store: len(trend(store, "adder")["sums"]), 2),
    "every-trend": ("reports", lambda store: len(every_trend(store)["adder"]["sums"]), 2),
    "find": ("reports", lambda store: len(store.history()), 1),
    "history": ("items", lambda store: len(past_runs(store)), 3),
}


@pytest.mark.parametrize(("table", "read", "known"), GOES_ON.values(), ids=GOES_ON)
def test_what_reads_a_table_names_the_files_that_are_gone_and_goes_on(
    landed: Store, table: TableName, read: Callable[[Store], int], known: int
) -> None:
    told: list[str] = []
    landed.tables.tell = told.append
    os.utime(file_of(landed, "items", RUNS[1]), (0, 0))  # longer ago than reports take
    (file := file_of(landed, table, RUNS[1])).unlink()
    assert read(landed) == known
    assert told == [f"left out: {file}: it has landed, and is gone; see eval-skills store verify"]


def test_reports_of_a_resumed_run_that_are_being_made_are_not_missed(landed: Store) -> None:
    """Those of what it had before are gone, and its journal is, too."""
    told: list[str] = []
    landed.tables.tell = told.append
    file_of(landed, "reports", RUNS[1]).unlink()
    assert len(past_runs(landed)) == 3
    assert told == []


def test_many_files_that_are_gone_are_one_line(landed: Store, make_report: Callable[..., Any]) -> None:
    told: list[str] = []
    landed.tables.tell = told.append
    for number in range(4):
        land_reports(landed, run_id := f"20261001T233824Z-000{number}", None, [make_report()], benchmark_version="1.0.0")
        file_of(landed, "reports", run_id).unlink()
    landed.history()
    (line,) = told
    assert line.endswith("-0000.parquet: it and 3 more files are missing; see eval-skills store verify")


@pytest.mark.slow
def test_pruned_items_are_not_missed(landed: Store) -> None:
    file_of(landed, "items", RUNS[1]).unlink()
    note_pruned(landed, RUNS[1])
    assert query(landed, "SELECT DISTINCT run_id FROM items").num_rows == 2  # a warning would be an error


@pytest.mark.slow
def test_no_flipped_bit_of_a_journal_or_manifest_is_read_as_something_else(
    store: Store, run_id: str, make_result: Callable[..., Any], make_manifest: Callable[..., Manifest]
) -> None:
    """They are JSON, in which a digit reads as well as any other."""
    folder, draw = store.run_folder(run_id), random.Random(5)
    write_manifest(folder, make_manifest())
    with Journal(store.journal_path(run_id)) as journal:
        for number in range(3):
            journal.append(make_result(f"t{number}", latency_ms=1234.5 + number))
    reads: dict[Path, Callable[[], list[dict[str, Any]]]] = {
        folder / "manifest.json": lambda: [read_manifest(folder).model_dump(exclude=set(read_manifest(folder).unknown_keys))],
        journal.path: lambda: [each.model_dump() for each in read_journal(journal.path)],
    }
    for file, read in reads.items():
        whole, known = file.read_bytes(), read()
        for place in (*range(len(whole) - 30, len(whole)), *(draw.randrange(len(whole)) for _ in range(200))):
            content = bytearray(whole)
            content[place] ^= 1 << draw.randrange(8)
            file.write_bytes(content)
            try:
                found = read()
            except (InputError, RunError):
                continue
            assert found in (known, known[:2]), place  # a bit of the checksum's own name, or of the last line's end
        file.write_bytes(whole)


def test_a_damaged_manifest_is_named_by_the_history(landed: Store, make_manifest: Callable[..., Manifest]) -> None:
    folder, told = landed.run_folder(RUNS[0]), list[str]()
    path = write_manifest(folder, make_manifest(run_id=RUNS[0]))
    path.write_bytes(path.read_bytes().replace(b"sums", b"sumz", 1))
    landed.tables.tell = told.append
    assert past_runs(landed)[-1].planned_items is None
    assert len(told) == 1
    assert "manifest.json: its checksum does not hold" in told[0]


def test_what_is_asked_for_by_name_is_refused_where_it_is_damaged(landed: Store) -> None:
    file_of(landed, "reports", RUNS[1]).write_bytes(b"x")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        landed.reports_of(RUNS[1])


def test_a_run_that_was_left_out_does_not_read_as_empty(landed: Store) -> None:
    landed.tables.tell = lambda _: None
    file_of(landed, "items", RUNS[1]).write_bytes(b"x")
    assert landed.tables.leave_out_damaged("items")
    assert landed.tables.dataset("items").count_rows() == 40
    with pytest.raises(InputError, match="not a readable Parquet file"):
        list(landed.tables.batches("items", RUNS[1]))


@pytest.mark.slow
def test_a_statement_that_is_wrong_reads_no_file(landed: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(landed.tables), "leave_out_damaged", lambda *_: pytest.fail("no file is the cause"))
    with pytest.raises(UsageError, match="the query failed"):
        query(landed, "SELECT nothing_of_this_name FROM items")
