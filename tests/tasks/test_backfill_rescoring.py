"""Stored answers are judged anew, period by period; what could not be judged is tried again by the next call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.store import Store
from eval_skills.tasks.backfill_plan import plan_backfill
from eval_skills.tasks.backfill_request import BackfillRequest
from tests.scripted_model import ScriptedModel, failure, verdict
from tests.tasks.backfills import RIGHT, TASKS, WRONG, Days, backfill, shown

if TYPE_CHECKING:
    from tests.tasks.conftest import WriteExpectations


def test_stored_answers_are_judged_by_what_is_expected_today(
    store: Store, days: Days, write_expectations: WriteExpectations
) -> None:
    runs = days(RIGHT, WRONG)
    write_expectations(**WRONG)
    summary = backfill(store, "rescore")
    assert shown(summary) == [("2026-03-01", 0.0, None, None), ("2026-03-02", 1.0, 1.0, "better")]
    assert {store.manifest(row["run_id"]).provenance["of"] for row in summary.rows} == set(runs)
    assert store.query("SELECT DISTINCT origin FROM reports ORDER BY 1")["origin"].tolist() == ["rescore", "run"]


def test_each_answer_is_judged_once_however_often_it_is_asked(
    store: Store, days: Days, write_expectations: WriteExpectations
) -> None:
    days(RIGHT, WRONG)
    backfill(store, "rescore")
    backfill(store, "rescore", every="week")
    assert len(store.run_ids()) == 4
    write_expectations(**WRONG)
    assert backfill(store, "rescore").done == ["2026-03-01", "2026-03-02"]
    assert len(store.run_ids()) == 6


def test_a_run_that_cannot_be_judged_is_told_and_the_others_go_on(store: Store, days: Days) -> None:
    long = dict.fromkeys(TASKS, "x" * 70000)
    days(RIGHT, long, WRONG)
    summary = backfill(store, "rescore")
    assert [row.get("completion_rate") for row in summary.rows] == [1.0, None, 0.0]
    assert "can be scored again" in summary.rows[1]["explanation"]
    assert summary.rows[2]["verdict"] == "worse"


def test_a_period_that_nothing_could_be_used_of_is_tried_again_and_says_so(store: Store, days: Days) -> None:
    days(RIGHT, dict.fromkeys(TASKS, "x" * 70000), WRONG)
    first, again = backfill(store, "rescore"), backfill(store, "rescore")
    assert (again.done, again.up_to_date) == (["2026-03-02"], ["2026-03-01", "2026-03-03"])
    assert again.remarks[0] == "2026-03-02: tried again, as nothing of it could be used the last time"
    assert again.remarks[1].startswith("2026-03-02: ")
    assert "the answer was cut to 64 KiB" in again.remarks[1]
    assert shown(again) == shown(first)
    assert len(store.comparisons()) == 3  # and not a row more for every night that it is tried in


@pytest.mark.xdist_group("judge")
def test_what_was_mended_comes_to_figures_and_what_was_compared_across_it_is_compared_anew(
    store: Store, days: Days, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    days({"a": "1"}, {"a": "2"}, {"a": "3"}, {"a": "4"})
    task = {"id": "a", "expectedOutput": {"type": "llm_judge", "criteria": "Be right."}}
    (tmp_path / "tasks.json").write_text(json.dumps([task]))
    with ScriptedModel() as model:
        options: dict[str, Any] = {"llm": {"model": "openai/scripted", "apiBase": model.url}}
        model.script(verdict(), verdict(1.0), failure(401, "bad key"))
        first = backfill(store, "rescore", **options)
        assert [row.get("completion_rate") for row in first.rows] == [1.0, None, 1.0, 1.0]
        assert "bad key" in first.rows[1]["explanation"]
        again = backfill(store, "rescore", **options)
    assert (again.done, again.up_to_date) == (["2026-03-02", "2026-03-03"], ["2026-03-01", "2026-03-04"])
    assert [row["completion_rate"] for row in again.rows] == [1.0] * 4
    assert (first.rows[2]["before_run_id"], again.rows[2]["before_run_id"]) == (first.rows[0]["run_id"], again.rows[1]["run_id"])
    assert backfill(store, "rescore", **options).done == []


def test_later_work_is_not_worked_on_again(store: Store, days: Days) -> None:
    days(RIGHT)
    backfill(store, "rescore")
    plan = plan_backfill(BackfillRequest(mode="rescore", store=store.path))
    assert [len(work.sources) for work in plan.works] == [1]
