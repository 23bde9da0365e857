from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import ItemResult, Reason, SkillCompletionReport
from eval_skills.core.store import Journal, Manifest, Store, land_reports, past_runs, results_of, started_at, write_manifest
from eval_skills.core.store.schema import ITEM_SCHEMA, REPORT_SCHEMA, RUN_SCHEMA
from eval_skills.core.trend.trend import every_trend
from tests.tables import each_row

OLDER, NEWER = "20260101T000000Z-0001", "20260102T120000Z-0002"
LandRun = Callable[..., str]
MakeReport = Callable[..., SkillCompletionReport]


def test_an_empty_store_has_empty_tables_with_all_columns(store: Store) -> None:
    assert (list(store.items().columns), len(store.items())) == (ITEM_SCHEMA.names, 0)
    assert (list(store.reports().columns), len(store.reports())) == (REPORT_SCHEMA.names, 0)
    assert (list(store.runs().columns), len(store.runs())) == (RUN_SCHEMA.names, 0)
    assert (store.history(), store.last_evaluated(), store.latest_run(), store.unfinished()) == ({}, {}, None, [])
    assert not Path(store.path).exists()


def test_p57_what_was_written_is_read_back(store: Store, land_run: LandRun) -> None:
    land_run(OLDER, "a", "b", dimensions={"output_quality": 0.5}, tags=["x"], reasons=[Reason(code="C", message="m")])
    land_run(NEWER, "a", skill_id="other", benchmark_id="words")
    items = store.items()
    assert list(items.columns) == ITEM_SCHEMA.names
    assert list(items.run_id) == [OLDER, OLDER, NEWER]
    assert items.dimensions[0] == {"output_quality": 0.5}
    assert list(items.tags[0]) == ["x"]
    assert list(items.reasons[0]) == [{"code": "C", "message": "m", "where": "", "informational": False}]
    assert items.started_at[0] == datetime(2026, 11, 21, 23, 38, 25, 123456, tzinfo=UTC)


@pytest.mark.slow
@each_row(
    ("filters", "tasks"),
    [
        pytest.param({"run_id": OLDER}, ["a", "b"], id="run"),
        pytest.param({"run_id": [NEWER, "20260103T000000Z-0003"]}, ["c"], id="runs-of-which-one-is-missing"),
        pytest.param({"run_id": []}, [], id="no-run"),
        pytest.param({"skill_id": "other"}, ["c"], id="skill"),
        pytest.param({"benchmark_id": "sums"}, ["a", "b"], id="benchmark"),
        pytest.param({"skill_id": "other", "benchmark_id": "sums"}, [], id="both"),
    ],
)
def test_filters_narrow_the_items(store: Store, land_run: LandRun, filters: dict[str, str], tasks: list[str]) -> None:
    land_run(OLDER, "a", "b")
    land_run(NEWER, "c", skill_id="other", benchmark_id="words")
    assert list(store.items(**filters).task_id) == tasks


def test_later_work_on_a_run_is_never_the_last_run_nor_the_last_report(
    store: Store, land_run: LandRun, make_manifest: Callable[..., Manifest], make_report: MakeReport
) -> None:
    for run_id, origin, rate in ((OLDER, "replay", 0.5), (NEWER, "rescore", 0.9)):
        write_manifest(store.run_folder(run_id), make_manifest(run_id=run_id, request={"origin": origin}))
        land_run(run_id, "a", origin=origin)
        land_reports(store, run_id, None, [make_report(rate)], origin=origin)
    assert store.latest_run() == OLDER
    assert store.history() == {"adder@1.0.0": 0.5}
    assert [report.summary.completion_rate for report in store.last_reports()] == [0.5]


def test_columns_are_chosen_in_order(store: Store, land_run: LandRun) -> None:
    land_run(OLDER, "a")
    assert list(store.items(columns=["status", "run_id"]).columns) == ["status", "run_id"]
    with pytest.raises(UsageError, match="items has no column 'nope'; it has run_id, "):
        store.items(columns=["nope"])


def test_runs_say_what_is_finished(
    store: Store, land_run: LandRun, run_id: str, make_manifest: Callable[..., Manifest], make_result: Callable[..., ItemResult]
) -> None:
    land_run(OLDER, "a", "b")
    write_manifest(store.run_folder(run_id), make_manifest(git_commit="abc"))
    with Journal(store.journal_path(run_id)) as journal:
        journal.append(make_result("a"))
    write_manifest(store.run_folder(NEWER), make_manifest(run_id=NEWER))
    old, planned, begun = store.runs().to_dict("records")
    assert (old["run_id"], old["state"], old["landed_items"]) == (OLDER, "finished", 2)
    assert (planned["run_id"], planned["state"], planned["landed_items"]) == (NEWER, "unfinished", 0)
    assert (begun["run_id"], begun["state"], begun["planned_items"], begun["git_commit"]) == (run_id, "unfinished", 4, "abc")
    assert (begun["benchmark"], list(begun["skills"])) == ("sums@2.0.0", ["adder@1.0.0"])
    assert begun["started_at"] == datetime(2026, 11, 21, 23, 38, 24, tzinfo=UTC)
    assert store.unfinished() == [NEWER, run_id]
    assert store.latest_run() == run_id


def test_p54_an_interrupted_run_can_be_resumed(store: Store, run_id: str, make_result: Callable[..., ItemResult]) -> None:
    def interrupted() -> None:
        with Journal(store.journal_path(run_id)) as journal:
            journal.append(make_result("a"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert store.unfinished() == [run_id]
    assert [result.task_id for result in results_of(store.item_table(run_id))] == ["a"]


def test_a_damaged_manifest_hides_no_other_run(store: Store, land_run: LandRun, make_manifest: Callable[..., Manifest]) -> None:
    land_run(OLDER, "a")
    write_manifest(store.run_folder(NEWER), make_manifest(run_id=NEWER))
    (store.run_folder(OLDER) / "manifest.json").write_text("{")
    (Path(store.path) / "runs" / "notes").mkdir()
    told: list[str] = []
    store.tables.tell = told.append
    assert list(store.runs().run_id) == [OLDER, NEWER]
    with pytest.raises(InputError, match="not valid JSON"):
        store.manifest(OLDER)


@pytest.mark.parametrize("read", [Store.last_reports, every_trend, past_runs])
def test_a_last_run_that_is_dated_in_the_future_is_named_once(
    store: Store, land_run: LandRun, make_report: MakeReport, read: Callable[[Store], object]
) -> None:
    """A clock that was wrong left it: it stays the last one however many runs follow."""
    told: list[str] = []
    store.tables.tell = told.append
    for run_id in (OLDER, "20990101T000000Z-0001"):
        land_run(run_id, "a")
        land_reports(store, run_id, None, [make_report(0.5)])
        read(store)
    read(store)
    [said] = [each for each in told if "in the future" in each]
    assert said.startswith("run 20990101T000000Z-0001 is dated in the future, so a clock was or is wrong; ")


def test_an_unknown_run_is_named_with_the_latest_one(store: Store, land_run: LandRun, run_id: str) -> None:
    land_run(OLDER, "a")
    with pytest.raises(UsageError, match=rf"no run {run_id} in .*; the latest there is {OLDER}"):
        store.manifest(run_id)


@pytest.mark.parametrize("name", ["run_folder", "journal_path", "manifest", "item_table"])
def test_no_path_leads_out_of_the_store(store: Store, name: str) -> None:
    with pytest.raises(UsageError, match="is not a run id"):
        getattr(store, name)("../../etc")


def test_p46_the_last_completion_rate_is_known_by_skill_and_version(store: Store, make_report: MakeReport) -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    # of a run that was resumed later the items are younger, and it still is the older run
    land_reports(store, OLDER, None, [make_report(0.9, timestamp=late), make_report(0.1, timestamp=late, skill_version="2.0.0")])
    land_reports(store, NEWER, None, [make_report(0.2, timestamp=early)])
    assert store.history() == {"adder@1.0.0": 0.2, "adder@2.0.0": 0.1}
    assert store.last_evaluated() == {"adder@1.0.0": started_at(NEWER), "adder@2.0.0": started_at(OLDER)}
    assert [report.summary.completion_rate for report in store.last_reports()] == [0.2, 0.1]


@pytest.mark.slow
def test_files_of_an_older_schema_stay_readable(store: Store, land_run: LandRun) -> None:
    path = land_run(OLDER, "a")
    old = pq.read_table(path, partitioning=None).drop_columns(["timeout_ms", "origin"]).append_column("gone", pa.array([1]))
    pq.write_table(old, path)
    (store.layout.root / "digests.jsonl").unlink()  # an older version wrote none
    land_run(NEWER, "b", timeout_ms=5.0)
    items = store.items()
    assert list(items.columns) == ITEM_SCHEMA.names
    assert items.timeout_ms.isna().tolist() == [True, False]
    assert len(store.query("SELECT * FROM items WHERE timeout_ms = 5")) == 1


@pytest.mark.slow
def test_reasons_of_an_older_schema_are_no_remarks(store: Store, land_run: LandRun) -> None:
    path = land_run(OLDER, "a", reasons=[Reason(code="X", message="remark: seen")])
    old = pq.read_table(path, partitioning=None)
    place = old.schema.get_field_index("reasons")
    reasons = pa.array(
        [[{name: reason[name] for name in ("code", "message", "where")} for reason in row] for row in old["reasons"].to_pylist()]
    )
    pq.write_table(old.set_column(place, "reasons", reasons), path)
    (store.layout.root / "digests.jsonl").unlink()  # an older version wrote none
    land_run(NEWER, "b", reasons=[Reason(code="Y", message="said", informational=True)])
    [[before], [now]] = store.items().reasons
    assert (before["message"], before["informational"], now["informational"]) == ("remark: seen", None, True)
    [older], [newer] = (results_of(store.item_table(run_id)) for run_id in (OLDER, NEWER))
    assert [each.text for each in (*older.reasons, *newer.reasons)] == ["remark: seen", "remark: said"]
    assert store.query("SELECT count(*) AS n FROM items WHERE reasons[1].informational").n.tolist() == [1]


def test_foreign_files_in_the_store_are_passed_over(store: Store, land_run: LandRun) -> None:
    path = Path(land_run(OLDER, "a"))
    (path.parent / f".items.{NEWER}.parquet.tmp").write_text("half")
    (path.parent / "notes.parquet").write_text("not ours")
    assert len(store.items()) == 1


def test_a_store_path_may_hold_any_character(tmp_path: Path, make_result: Callable[..., ItemResult], run_id: str) -> None:
    from eval_skills.core.store import land

    store = Store(tmp_path / "it's a [store] *é? = 100% x=1")
    with Journal(store.journal_path(run_id)) as journal:
        journal.append(make_result())
    land(store, run_id)
    assert len(store.items()) == len(store.query("SELECT date, task_id FROM items WHERE date = '2026-11-21'")) == 1


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(UsageError, match=r"is a file; name a folder, or a file that ends in \.db or \.sqlite"):
        Store(tmp_path / "notes.txt")


@pytest.mark.slow
def test_importing_the_package_loads_nothing_heavy() -> None:
    program = (
        "import sys; from eval_skills.core.store import Store, Journal, read_journal, Manifest, new_run_id; Store('x');"
        "print([name for name in ('pandas', 'pyarrow', 'duckdb', 'numpy', 'obstore', 'prefect') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"


def test_every_exported_name_exists() -> None:
    from eval_skills.core import store as package

    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        _ = package.nope
