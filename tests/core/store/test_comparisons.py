"""What is known all at once lands without a journal: items that were scored again, recomputed reports, comparisons."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import (
    COMPARISON_SCHEMA,
    Journal,
    Store,
    derived_run_id,
    land_items,
    land_recomputed,
    land_reports,
    land_rows,
)

MakeResult = Callable[..., ItemResult]
MakeReport = Callable[..., SkillCompletionReport]
MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
ROW = {
    "comparison_id": "20260301T000000Z-0001",
    "period": "2026-03-01",
    "skill_id": "adder",
    "completion_rate": 0.5,
    "digest": "d",
}


@pytest.mark.slow
def test_comparisons_are_a_table_and_a_view(store: Store) -> None:
    place = land_rows(store, "comparisons", "20260301T000000Z-0001", [ROW | {"period_start": MOMENT}])
    assert place.endswith("comparisons/date=2026-03-01/20260301T000000Z-0001.parquet")
    frame = store.comparisons()
    assert list(frame.columns) == COMPARISON_SCHEMA.names
    found = store.query("SELECT skill_id, completion_rate, date::text AS day FROM comparisons WHERE verdict IS NULL")
    assert found.to_dict("records") == [{"skill_id": "adder", "completion_rate": 0.5, "day": "2026-03-01"}]


def test_a_store_without_comparisons_has_an_empty_table(store: Store) -> None:
    assert list(store.comparisons().columns) == COMPARISON_SCHEMA.names
    assert store.query("SELECT count(*) AS n FROM comparisons")["n"].item() == 0


def test_comparisons_are_no_runs(store: Store) -> None:
    land_rows(store, "comparisons", "20260301T000000Z-0001", [ROW])
    assert (store.run_ids(), store.unfinished(), store.latest_run()) == ([], [], None)


def test_items_land_at_once_and_read_back(store: Store, make_result: MakeResult, run_id: str) -> None:
    land_items(store, run_id, [make_result("a"), make_result("b", origin="rescore")])
    assert list(store.items().task_id) == ["a", "b"]
    assert list(store.items().origin) == ["run", "rescore"]
    assert not store.unfinished()


def test_p53_items_do_not_land_under_a_run_that_is_being_written(store: Store, make_result: MakeResult, run_id: str) -> None:
    with Journal(store.journal_path(run_id)), pytest.raises(UsageError, match="is being written by process"):
        land_items(store, run_id, [make_result("a")])


@pytest.mark.slow
def test_recomputed_reports_stand_beside_those_of_the_run(store: Store, make_report: MakeReport, run_id: str) -> None:
    land_reports(store, run_id, None, [make_report(0.5)])
    land_recomputed(store, derived_run_id(MOMENT, "x"), run_id, [make_report(0.75)], benchmark_version="2.0.0")
    rows = store.query(f"SELECT origin, completion_rate FROM reports WHERE run_id = '{run_id}' ORDER BY origin").to_dict(
        "records"
    )
    assert rows == [{"origin": "recompute", "completion_rate": 0.75}, {"origin": "run", "completion_rate": 0.5}]
    assert store.history() == {"adder@1.0.0": 0.5}
    assert store.run_ids() == []


def test_nothing_but_runs_lies_among_the_runs(store: Store) -> None:
    land_rows(store, "comparisons", "20260301T000000Z-0001", [ROW])
    assert len(store.comparisons()) == 1
    assert store.run_ids() == []


def test_a_derived_run_id_depends_on_the_content_alone_and_passes_over_those_that_are_taken() -> None:
    first = derived_run_id(MOMENT, "content")
    assert first == derived_run_id(MOMENT, "content") != derived_run_id(MOMENT, "other")
    assert first.startswith("20260301T000000Z-")
    assert derived_run_id(MOMENT, "content", {first}) == derived_run_id(MOMENT, "content", [first]) != first


def test_a_second_holds_so_many_ids_and_then_no_more() -> None:
    taken = {f"20260301T000000Z-{n:04x}" for n in range(0x10000)}
    last = taken.pop()
    assert derived_run_id(MOMENT, "content", taken) == last
    with pytest.raises(ValueError, match="every run id of 20260301T000000Z is taken"):
        derived_run_id(MOMENT, "content", taken | {last})


def test_the_digest_of_a_landed_file_is_that_of_its_bytes(store: Store, make_result: MakeResult, run_id: str) -> None:
    assert store.tables.digest("items", run_id) is None
    land_items(store, run_id, [make_result("a")])
    before = store.tables.digest("items", run_id)
    land_items(store, run_id, [make_result("a")])
    assert store.tables.digest("items", run_id) == before
    land_items(store, run_id, [make_result("b")])
    assert store.tables.digest("items", run_id) != before
