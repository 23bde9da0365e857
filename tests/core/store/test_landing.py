"""From the journal into Parquet: whole, once, and also after a kill at any step."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path
from threading import Barrier

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.models import Attempt, ItemResult, SkillCompletionReport
from eval_skills.core.store import Journal, Store, land, land_reports, landing, results_of
from eval_skills.core.store.layout import TableName
from eval_skills.core.store.rows import table_of
from eval_skills.core.store.schema import ITEM_SCHEMA
from eval_skills.core.store.tables import Tables
from eval_skills.core.store.verify import verify
from tests.warm_command import WarmCommand

MakeResult = Callable[..., ItemResult]
MakeReport = Callable[..., SkillCompletionReport]

LAND_AND_DIE = """
import os, signal, sys
from pathlib import Path
import pyarrow.parquet as pq
from eval_skills.core.store import Store, landing
from eval_skills.core.store.tables import Tables

store, run_id, step = Store(sys.argv[1]), sys.argv[2], sys.argv[3]

def dies(owner, name, after=False, only=lambda *args: True):
    original = getattr(owner, name)
    def dying(*args, **kwargs):
        if after:
            original(*args, **kwargs)
        if only(*args):
            os.kill(os.getpid(), signal.SIGKILL)
        return None if after else original(*args, **kwargs)
    setattr(owner, name, dying)

is_journal = lambda path, *_: path.name == "journal.jsonl"
{
    "nothing-written": lambda: dies(pq.ParquetWriter, "write_batch"),
    "half-written": lambda: dies(pq.ParquetWriter, "close"),
    "written": lambda: dies(landing, "_verify"),
    "verified": lambda: dies(Tables, "publish"),
    "renamed": lambda: dies(Tables, "publish", after=True),
    "before-the-journal-goes": lambda: dies(Path, "unlink", only=is_journal),
    "the-journal-gone": lambda: dies(Path, "unlink", after=True, only=is_journal),
}[step]()
landing.land(store, run_id)
"""


def test_two_that_finish_a_run_at_the_same_moment_do_not_disturb_each_other(
    store: Store, run_id: str, make_report: MakeReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, publish = Barrier(2), Tables.publish

    def published(tables: Tables, scratch: Path, relative: str) -> str:
        both.wait(10)
        return publish(tables, scratch, relative)

    monkeypatch.setattr(Tables, "publish", published)
    with ThreadPoolExecutor(2) as writers:
        landing_twice = [writers.submit(land_reports, Store(store.path), run_id, None, [make_report()]) for _ in range(2)]
        [path] = {each.result() for each in landing_twice}
    assert [each.name for each in Path(path).parent.iterdir()] == [f"{run_id}.parquet"]
    assert "damaged" not in {each.kind for each in verify(store).findings}


def landed(store: Store, run_id: str) -> dict[str, str]:
    return {result.task_id: result.status for result in results_of(store.item_table(run_id))}


def journal(store: Store, run_id: str, *results: ItemResult) -> None:
    with Journal(store.journal_path(run_id)) as open_journal:
        for result in results:
            open_journal.append(result)


def test_land_moves_the_journal_into_one_parquet_file(store: Store, run_id: str, make_result: MakeResult) -> None:
    results = [make_result(f"t{number}", output={"n": number}) for number in range(5)]
    journal(store, run_id, *results)
    path = Path(land(store, run_id))
    assert path == Path(store.path) / "items" / "date=2026-11-21" / f"{run_id}.parquet"
    assert pq.read_schema(path).equals(ITEM_SCHEMA)
    assert results_of(pq.read_table(path, partitioning=None)) == results
    assert list(store.run_folder(run_id).iterdir()) == []
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_land_again_does_nothing(store: Store, run_id: str, make_result: MakeResult) -> None:
    journal(store, run_id, make_result())
    first = land(store, run_id)
    before = Path(first).stat()
    assert land(store, run_id) == first
    assert Path(first).stat() == before


def test_an_item_that_was_tried_again_lands_once_as_it_was_last(store: Store, run_id: str, make_result: MakeResult) -> None:
    failed = make_result("b", status="error", passed=False, score=None)
    journal(store, run_id, make_result("a"), failed, make_result("c"))
    journal(store, run_id, make_result("b"))
    land(store, run_id)
    assert landed(store, run_id) == {"a": "pass", "c": "pass", "b": "pass"}
    assert len(store.items()) == 3


def test_an_old_journal_that_is_put_back_does_not_bring_back_what_was_asked_again(
    store: Store, run_id: str, make_result: MakeResult
) -> None:
    began = make_result().started_at
    first, second, third = (Attempt(started_at=began + timedelta(seconds=s), latency_ms=1) for s in range(3))
    failed = {"status": "error", "passed": False, "score": None}
    old = [
        make_result("a", attempts=[first], **failed),
        make_result("b", started_at=first.started_at, **failed),  # of a version that wrote no attempts
        make_result("c", attempts=[first], **failed),
        make_result("d"),
    ]
    new = [
        make_result("a", attempts=[first, second]),
        make_result("b", attempts=[first, second]),
        make_result("c", attempts=[first, second], **failed),
    ]
    journal(store, run_id, *old, *new)
    land(store, run_id)
    journal(store, run_id, *old)
    assert landed(store, run_id) == {"a": "pass", "b": "pass", "c": "error", "d": "pass"}
    journal(store, run_id, make_result("c", attempts=[first, second, third]))
    land(store, run_id)
    assert landed(store, run_id) == {"a": "pass", "b": "pass", "c": "pass", "d": "pass"}
    assert {result.task_id: len(result.attempts) for result in results_of(store.item_table(run_id))} == {
        "a": 2,
        "b": 2,
        "c": 3,
        "d": 0,
    }


def test_p32_two_versions_of_a_skill_land_as_two_items(store: Store, run_id: str, make_result: MakeResult) -> None:
    journal(store, run_id, make_result(), make_result(skill_version="1.1.0", status="fail", passed=False))
    land(store, run_id)
    assert sorted(store.items().skill_version) == ["1.0.0", "1.1.0"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    ["nothing-written", "half-written", "written", "verified", "renamed", "before-the-journal-goes", "the-journal-gone"],
)
def test_p53_landing_survives_kill_9_at_every_step(
    store: Store, run_id: str, make_result: MakeResult, step: str, warm_command: WarmCommand
) -> None:
    journal(store, run_id, make_result("a"), make_result("b", status="error", passed=False), make_result("b"))
    code, _, said = warm_command.python(LAND_AND_DIE, store.path, run_id, step).output(timeout=120)
    assert code == -signal.SIGKILL, said
    assert landed(store, run_id) == {"a": "pass", "b": "pass"}
    assert store.unfinished() == ([] if step == "the-journal-gone" else [run_id])
    path = land(store, run_id)
    assert landed(store, run_id) == {"a": "pass", "b": "pass"}
    assert store.unfinished() == []
    there = sorted(entry.name for entry in Path(store.path).rglob("*") if entry.is_file() and entry.suffix != ".lock")
    assert there == [Path(path).name, "digests.jsonl"]
    assert {each.kind for each in verify(store).findings} <= {"without-reports", "leftover"}


def test_p53_a_later_journal_adds_to_what_has_landed(store: Store, run_id: str, make_result: MakeResult) -> None:
    journal(store, run_id, make_result("a"), make_result("b", status="error", passed=False), make_result("c"))
    land(store, run_id)
    journal(store, run_id)
    land(store, run_id)
    assert landed(store, run_id) == {"a": "pass", "b": "error", "c": "pass"}
    journal(store, run_id, make_result("b"), make_result("d"))
    assert landed(store, run_id) == {"a": "pass", "c": "pass", "b": "pass", "d": "pass"}
    land(store, run_id)
    assert landed(store, run_id) == {"a": "pass", "c": "pass", "b": "pass", "d": "pass"}


def test_reports_of_fewer_items_are_gone_before_the_items_are_there(
    store: Store, run_id: str, make_result: MakeResult, make_report: MakeReport
) -> None:
    """Who is killed before new ones land leaves them missing, which `verify` names, and not those of other items."""
    journal(store, run_id, make_result("t1"))
    land(store, run_id)
    land_reports(store, run_id, None, [make_report()])
    assert "without-reports" not in {finding.kind for finding in verify(store).findings}
    journal(store, run_id, make_result("t2"))
    land(store, run_id)
    assert store.reports().empty
    assert "without-reports" in {finding.kind for finding in verify(store).findings}


@pytest.mark.parametrize(("length", "compression"), [(10, "UNCOMPRESSED"), (10_000, "ZSTD")])
def test_what_compression_makes_no_smaller_is_not_compressed(
    store: Store, run_id: str, make_result: MakeResult, length: int, compression: str
) -> None:
    journal(store, run_id, *(make_result(f"t{number}", output="x" * length) for number in range(10)))
    group = pq.ParquetFile(land(store, run_id)).metadata.row_group(0)
    assert {group.column(place).compression for place in range(group.num_columns)} == {compression}


def test_p53_a_file_that_does_not_read_back_replaces_nothing(
    store: Store, run_id: str, make_result: MakeResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal(store, run_id, make_result("a"))
    path = Path(land(store, run_id))
    before = path.read_bytes()
    journal(store, run_id, make_result("b"), make_result("c"))
    write = pq.ParquetWriter.write

    def lossy(writer: pq.ParquetWriter, batch: object) -> None:
        write(writer, batch.slice(1))  # type: ignore[attr-defined]

    monkeypatch.setattr(pq.ParquetWriter, "write", lossy)
    with pytest.raises(RunError, match=r"reads back with 1 rows and 1 items where 3 were written; the journal is kept"):
        land(store, run_id)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert landed(store, run_id) == {"a": "pass", "b": "pass", "c": "pass"}


def test_p53_a_damaged_item_key_is_noticed(
    store: Store, run_id: str, make_result: MakeResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal(store, run_id, make_result("a"), make_result("b"))
    monkeypatch.setattr(landing, "table_of", lambda results: table_of([results[0]] * len(results)))
    with pytest.raises(RunError, match="reads back with 2 rows and 1 items where 2 were written"):
        land(store, run_id)
    assert store.journal_path(run_id).exists()
    assert not list(Path(store.path).rglob("*.parquet"))


def test_p52_a_resumed_run_holds_what_was_done_before_and_after(store: Store, run_id: str, make_result: MakeResult) -> None:
    journal(store, run_id, make_result("a"), make_result("b"))
    assert landed(store, run_id) == {"a": "pass", "b": "pass"}
    journal(store, run_id, make_result("c"))
    assert landed(store, run_id) == {"a": "pass", "b": "pass", "c": "pass"}
    land(store, run_id)
    assert landed(store, run_id) == {"a": "pass", "b": "pass", "c": "pass"}


def test_a_run_stays_under_the_day_it_landed_under(store: Store, run_id: str, make_result: MakeResult) -> None:
    journal(store, run_id, make_result("a"))
    first = land(store, run_id, date(2025, 3, 1))
    assert "date=2025-03-01" in first
    journal(store, run_id, make_result("b"))
    assert land(store, run_id) == land(store, run_id, date(2024, 1, 1)) == first
    assert landed(store, run_id) == {"a": "pass", "b": "pass"}


def test_a_journal_that_is_being_written_does_not_land(store: Store, run_id: str, make_result: MakeResult) -> None:
    with Journal(store.journal_path(run_id)) as open_journal:
        open_journal.append(make_result())
        with pytest.raises(UsageError, match="is being written by process"):
            land(store, run_id)
    land(store, run_id)


def test_a_corrupt_journal_does_not_land(store: Store, run_id: str, make_result: MakeResult) -> None:
    journal(store, run_id, make_result("a"))
    path = store.journal_path(run_id)
    path.write_bytes(b"oops\n" + path.read_bytes())
    with pytest.raises(RunError, match="line 1 is corrupt"):
        land(store, run_id)
    assert path.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("task_id", 7), ("task_id", None), *(("run_index", value) for value in ("0", True, -1, 2**63, 1e300))],
)
def test_a_line_whose_key_is_of_no_item_is_corrupt(
    store: Store, run_id: str, make_result: MakeResult, field: str, value: object
) -> None:
    journal(store, run_id, make_result("a"), make_result("b"))
    path = store.journal_path(run_id)
    first, second = path.read_bytes().splitlines()
    path.write_bytes(first + b"\n" + json.dumps(json.loads(second) | {field: value}).encode() + b"\n")
    with pytest.raises(RunError, match=f"line 2 is corrupt.*{field} "):
        land(store, run_id)
    assert path.exists()


def test_a_line_that_is_written_after_the_lines_were_chosen_does_not_land(
    store: Store, run_id: str, make_result: MakeResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landing, "BATCH_ROWS", 1)
    journal(store, run_id, make_result("a"), make_result("b"))
    path = store.journal_path(run_id)
    batches = landing.run_batches(store, run_id)
    first = next(batches)
    with path.open("ab") as stream:
        stream.write(path.read_bytes())
    assert pa.Table.from_batches([first, *batches]).column("task_id").to_pylist() == ["a", "b"]


@pytest.mark.parametrize("landed_before", [pytest.param((), id="first-landing"), pytest.param(("a", "b", "c"), id="resumed")])
@pytest.mark.parametrize("moment", ["before-the-files-are-listed", "after-they-are"])
def test_who_reads_a_run_while_it_lands_has_all_of_its_items(
    store: Store,
    run_id: str,
    make_result: MakeResult,
    land_run: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    landed_before: tuple[str, ...],
    moment: str,
) -> None:
    if landed_before:
        land_run(run_id, *landed_before)
    journal(store, run_id, *(make_result(task, run_id=run_id) for task in (("b", "c") if landed_before else ("a", "b", "c"))))
    batches = Tables.batches

    def while_it_lands(tables: Tables, name: TableName, run: str) -> Iterator[pa.RecordBatch]:
        monkeypatch.undo()
        if moment == "before-the-files-are-listed":
            land(Store(store.path), run)
            yield from batches(tables, name, run)
        else:
            yield from [*batches(tables, name, run)]
            land(Store(store.path), run)

    monkeypatch.setattr(Tables, "batches", while_it_lands)
    assert sorted(store.item_table(run_id)["task_id"].to_pylist()) == ["a", "b", "c"]
    assert store.unfinished() == [], "it has landed"


def test_a_torn_last_line_does_not_land(store: Store, run_id: str, make_result: MakeResult) -> None:
    journal(store, run_id, make_result("a"))
    path = store.journal_path(run_id)
    path.write_bytes(path.read_bytes() + b'{"torn')
    land(store, run_id)
    assert landed(store, run_id) == {"a": "pass"}


def test_a_run_without_a_trace_is_an_error(store: Store, run_id: str) -> None:
    with pytest.raises(RunError, match="neither a journal nor landed items"):
        land(store, run_id)
    assert not Path(store.path).exists()


def test_a_run_without_items_lands_empty(store: Store, run_id: str) -> None:
    journal(store, run_id)
    land(store, run_id)
    assert store.item_table(run_id).num_rows == 0
    assert store.unfinished() == []


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["BATCH_ROWS", "BATCH_BYTES"])
def test_a_long_journal_lands_in_batches(
    store: Store, run_id: str, make_result: MakeResult, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(landing, limit, {"BATCH_ROWS": 10, "BATCH_BYTES": 10_000}[limit])
    journal(store, run_id, *(make_result(f"t{number}", output="x" * 1000) for number in range(95)))
    path = land(store, run_id)
    assert pq.read_metadata(path).num_row_groups >= 10
    assert [result.task_id for result in results_of(store.item_table(run_id))] == [f"t{number}" for number in range(95)]


def test_a_lock_that_a_killed_process_left_goes_with_the_resume(store: Store, run_id: str, land_run: Callable[..., str]) -> None:
    land_run(run_id, "a")
    lock = store.journal_path(run_id).with_suffix(".lock")
    lock.write_text("1")
    land(store, run_id)
    assert not lock.exists()
    assert "leftover" not in {each.kind for each in verify(store).findings}
