from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_skills.core.errors import InputError, UserError
from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Journal, Store, land, land_reports, start_date
from eval_skills.core.store.layout import Layout
from eval_skills.core.store.retention import note_pruned
from eval_skills.core.store.schema import REPORT_SCHEMA
from tests.tables import each_row

GONE = "20261121T233824Z-3f9a"
MakeResult = Callable[..., ItemResult]


def journal(store: Store, run_id: str, *results: ItemResult) -> None:
    with Journal(store.journal_path(run_id)) as open_journal:
        for result in results:
            open_journal.append(result)


@each_row(
    ("path", "root", "sqlite"),
    [
        pytest.param("x", "x", None, id="folder"),
        pytest.param("file:///x/y", "/x/y", None, id="file-url"),
        pytest.param("a/x.db", "a/x.store", "a/x.db", id="db"),
        pytest.param("x.SQLite", "x.store", "x.SQLite", id="sqlite"),
    ],
)
def test_where_a_store_lies(path: str, root: str, sqlite: str | None) -> None:
    layout = Layout.of(path)
    assert (layout.root, layout.sqlite) == (Path(root), None if sqlite is None else Path(sqlite))
    assert layout.address is None


@pytest.mark.parametrize("day", ["2026-01-01", "2027-01-01"], ids=["an-earlier-day", "a-later-day"])
def test_a_copy_of_a_file_under_another_day_does_not_take_its_place(store: Store, run_id: str, day: str) -> None:
    land_reports(store, run_id, None, [])
    own = Path(store.tables.files("reports")[run_id])
    copy = own.parents[1] / f"date={day}" / own.name
    copy.parent.mkdir()
    copy.write_bytes(own.read_bytes())
    assert store.tables.files("reports") == {run_id: str(own)}
    own.unlink()
    assert store.tables.files("reports") == {run_id: str(copy)}, "a store that was rearranged is read"


def test_rows_are_those_of_the_dataset(store: Store, run_id: str, make_report: Callable[..., SkillCompletionReport]) -> None:
    land_reports(store, run_id, None, [make_report(0.25), make_report(0.75, skill_version="1.1.0")])
    land_reports(store, "20261122T000000Z-0001", None, [make_report(1.0)])
    names = ["timestamp", "run_id", "skill_version", "completion_rate", "pass_hat_k"]
    expected = store.tables.dataset("reports").to_table(columns=names).to_pylist()
    assert store.tables.rows("reports", names) == expected
    assert store.tables.rows("reports", names, [run_id]) == expected[:2]
    assert store.tables.rows("reports", names, []) == []


def test_rows_of_an_older_file_have_nulls_in_the_columns_that_it_lacks(store: Store) -> None:
    run_id = "20261121T233824Z-3f9a"
    path = Path(store.path, Layout.table_file("reports", start_date(run_id), run_id))
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table({"skill_id": ["adder"], "tasks": pa.array([3], pa.int32())}), path)
    assert store.tables.rows("reports", ["tasks", "throughput", "skill_id"]) == [
        {"tasks": 3, "throughput": None, "skill_id": "adder"}
    ]


@pytest.mark.slow
def test_rows_of_old_and_new_files_stand_in_the_order_of_the_runs_with_lists_and_moments(
    store: Store, make_report: Callable[..., SkillCompletionReport]
) -> None:
    """More files than are read at a time; every second one lacks columns, has others, and in another order."""
    names = ["timestamp", "run_id", "completion_rate", "skill_id"]
    runs = [f"202611{day:02d}T000000Z-0001" for day in range(1, 21)]
    for number, run_id in enumerate(runs):
        land_reports(store, run_id, None, [make_report(number / 20)])
        if number % 2:
            path = Path(store.path, Layout.table_file("reports", start_date(run_id), run_id))
            old = pq.ParquetFile(path).read()
            pq.write_table(old.select(["skill_id", "timestamp", "run_id"]).append_column("later", pa.array(["x"])), path)
    (store.layout.root / "digests.jsonl").unlink()  # an older version wrote none
    found = store.tables.rows("reports", names)
    assert [(row["run_id"], row["completion_rate"]) for row in found] == [
        (run_id, None if number % 2 else number / 20) for number, run_id in enumerate(runs)
    ]
    assert {row["skill_id"] for row in found} == {"adder"}
    assert all(row["timestamp"].tzinfo is not None for row in found)
    everything = store.tables.rows("reports", REPORT_SCHEMA.names, runs[:1])
    assert everything == store.tables.dataset("reports", runs[:1]).to_table(columns=REPORT_SCHEMA.names).to_pylist()


def test_a_damaged_file_is_named(store: Store, run_id: str) -> None:
    path = Path(store.path, Layout.table_file("reports", start_date(run_id), run_id))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no parquet")
    with pytest.raises(InputError, match=f"{run_id}.parquet.*not a readable Parquet file"):
        store.tables.rows("reports", ["run_id"])


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda store: store.items(), id="frame"),
        pytest.param(lambda store: store.tables.rows("items", ["run_id"]), id="rows"),
        pytest.param(lambda store: store.item_table(GONE), id="run"),
    ],
)
def test_a_file_that_is_deleted_while_it_is_read_does_not_count_as_damaged(
    store: Store, monkeypatch: pytest.MonkeyPatch, read: Callable[[Store], object]
) -> None:
    path = Path(store.path, Layout.table_file("items", start_date(GONE), GONE))
    monkeypatch.setattr(store.tables, "sound_files", lambda *_: {GONE: str(path)})
    with pytest.raises(InputError, match="was deleted while it was read, as nightly --keep-days does; call again"):
        read(store)


OTHER = "20261122T000000Z-0001"


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda store: store.items()["run_id"].to_list(), id="frame"),
        pytest.param(lambda store: [row["run_id"] for row in store.tables.rows("items", ["run_id"])], id="rows"),
        pytest.param(lambda store: store.query("SELECT run_id FROM items")["run_id"].to_list(), id="query"),
        pytest.param(lambda store: [run_id for run_id, rows in store.tables.landed_rows().items() if rows], id="counted"),
    ],
)
def test_what_was_pruned_since_the_files_were_listed_hides_nothing_of_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch, make_result: MakeResult, read: Callable[[Store], object]
) -> None:
    for run_id in (GONE, OTHER):
        journal(store, run_id, make_result(run_id=run_id))
        land(store, run_id)
    each, told = store.tables._each, list[str]()

    def pruned_first(function: Callable[[str], object], paths: Collection[str]) -> list[object]:
        note_pruned(store, GONE)
        Path(store.path, Layout.table_file("items", start_date(GONE), GONE)).unlink(missing_ok=True)
        return each(function, paths)

    monkeypatch.setattr(store.tables, "_each", pruned_first)
    monkeypatch.setattr(store.tables, "tell", told.append)
    assert (read(store), told) == ([OTHER], [])


def test_a_process_that_stays_knows_the_digests_of_what_lands_later(
    store: Store, monkeypatch: pytest.MonkeyPatch, make_result: MakeResult
) -> None:
    journal(store, GONE, make_result())
    land(store, GONE)
    assert len(store.tables.rows("items", ["run_id"])) == 1
    other, told = Store(store.path), list[str]()
    journal(other, OTHER, make_result(run_id=OTHER))
    land(other, OTHER)
    path = other.tables.files("items")[OTHER]
    rows = pq.read_table(path, partitioning=None)
    pq.write_table(rows.set_column(rows.column_names.index("passed"), "passed", pa.array([False])), path)
    monkeypatch.setattr(store.tables, "tell", told.append)
    assert store.tables.rows("items", ["run_id"]) == [{"run_id": GONE}]
    assert told == [f"left out: {path}: its bytes are not those that were written; see eval-skills store verify"]


@pytest.mark.filterwarnings("ignore:left out")
def test_a_file_that_was_damaged_and_is_restored_counts_again(store: Store, make_result: MakeResult) -> None:
    for run_id in (GONE, OTHER):
        journal(store, run_id, make_result(run_id=run_id))
        land(store, run_id)
    path = Path(store.tables.files("items")[OTHER])
    good = path.read_bytes()
    path.write_bytes(good[:-9])
    assert store.tables.rows("items", ["run_id"]) == [{"run_id": GONE}]
    path.write_bytes(good)
    assert store.tables.rows("items", ["run_id"]) == [{"run_id": GONE}, {"run_id": OTHER}]


@pytest.mark.slow
def test_no_bit_of_a_value_changes_a_figure_silently(store: Store, run_id: str, make_result: MakeResult) -> None:
    """Bits that turn over on a disk, in every column's data: each way of reading, in turn, refuses the file."""
    journal(store, run_id, *(make_result(f"t{number}", latency_ms=number + 0.5) for number in range(50)))
    file = Path(land(store, run_id))
    (store.layout.root / "digests.jsonl").unlink()  # the checksums of the pages do it alone
    good = file.read_bytes()
    columns = [pq.read_metadata(file).row_group(0).column(place) for place in range(pq.read_metadata(file).num_columns)]
    names = [column.path_in_schema.partition(".")[0] for column in columns]
    reads: tuple[tuple[Callable[[str], object], str], ...] = (
        (lambda _: store.items(), run_id),
        (lambda _: store.item_table(run_id), run_id),
        (lambda _: store.tables.rows("items", ["run_id", *set(names)]), run_id),
        (lambda name: store.query(f'SELECT "{name}" FROM items'), "the query failed"),
    )
    for place, (column, name) in enumerate(zip(columns, names, strict=True)):
        last = (column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size - 1
        bad = bytearray(good)
        bad[last] ^= 0b100
        file.write_bytes(bad)
        read, message = reads[place % len(reads)]
        with pytest.raises(UserError, match=message):
            read(name)
    file.write_bytes(good)
    assert len(store.items()) == 50
