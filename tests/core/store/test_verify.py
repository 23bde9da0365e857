"""A store that is damaged says so, file by file, and one damaged file hides nothing of the others."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.store import Store, land_items, land_reports
from eval_skills.core.store.files import RunLock
from eval_skills.core.store.history import past_runs
from eval_skills.core.store.sql import query
from eval_skills.core.store.verify import verify

RUNS = ("20261121T233824Z-0001", "20261122T233824Z-0002", "20261123T233824Z-0003")


@pytest.fixture
def landed(store: Store, make_result: Callable[..., Any], make_report: Callable[..., Any]) -> Store:
    """Three runs with items and reports."""
    for run_id in RUNS:
        land_items(store, run_id, [make_result(f"t{number}", run_id=run_id) for number in range(20)])
        land_reports(store, run_id, None, [make_report()], benchmark_version="1.0.0")
    return store


def file_of(store: Store, table: Any, run_id: str) -> Path:
    return Path(store.tables.files(table, [run_id])[run_id])


def test_what_is_as_it_was_written_is_well(landed: Store) -> None:
    found = verify(landed)
    assert (found.files, found.undigested, found.findings) == (6, [], [])


def test_every_flipped_bit_is_found(landed: Store) -> None:
    """Wherever it is, header and footer included, which no checksum of Parquet covers."""
    draw, file = random.Random(13), file_of(landed, "items", RUNS[0])
    whole = file.read_bytes()
    for place in (*range(4), *range(-8, 0), *(draw.randrange(len(whole)) for _ in range(28))):
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


def test_items_that_are_damaged_are_left_out_of_a_query_too(landed: Store) -> None:
    file = file_of(landed, "items", RUNS[0])
    content = bytearray(file.read_bytes())
    content[len(content) // 4] ^= 16
    file.write_bytes(content)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert query(landed, "SELECT * FROM items_all").num_rows == 40
    assert RUNS[0] in str(told[0].message)


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


def test_a_statement_that_is_wrong_reads_no_file(landed: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(landed.tables), "leave_out_damaged", lambda *_: pytest.fail("no file is the cause"))
    with pytest.raises(UsageError, match="the query failed"):
        query(landed, "SELECT nothing_of_this_name FROM items")


def test_what_stopped_processes_left_is_found_and_what_works_is_not(landed: Store) -> None:
    scratch = landed.layout.root / "items" / f".items.date=2026-11-21.{RUNS[0]}.parquet.tmp"
    scratch.write_bytes(b"half")
    lock = landed.journal_path(RUNS[0]).with_suffix(".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("1")
    assert [(each.kind, each.path) for each in verify(landed).findings] == [("leftover", str(scratch)), ("leftover", str(lock))]
    with RunLock(landed.journal_path(RUNS[0])):
        assert verify(landed).findings == []


def test_a_broken_journal_or_manifest_is_named(landed: Store) -> None:
    folder = landed.run_folder(RUNS[0])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text("{")
    landed.journal_path(RUNS[0]).write_bytes(b"{}\n")
    assert [each.kind for each in verify(landed).findings] == ["manifest", "journal"]
