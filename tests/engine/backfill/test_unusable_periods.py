"""Trouble while stored answers are judged anew takes nothing away of what was known, and leaves nothing behind unnoticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.store import Store, write_manifest
from tests.engine.backfill.backfills import Days, backfill, shown
from tests.scripted_model import ScriptedModel, failure, verdict

pytestmark = pytest.mark.slow  # of seconds each, for whole evaluations


@pytest.fixture
def options(days: Days, tmp_path: Path, model: ScriptedModel) -> dict[str, Any]:
    """Two answers a day for four days; the judge says nothing of the answer "dead" as long as it is out of order."""
    days({"a": "1", "b": "2"}, {"a": "3", "b": "dead"}, {"a": "5", "b": "6"}, {"a": "7", "b": "8"})
    judged = {"expectedOutput": {"type": "llm_judge", "criteria": "Be right."}}
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": name, **judged} for name in "ab"]))
    silent_about(model, "dead")
    return {"llm": {"model": "openai/scripted", "apiBase": model.url}, "noJudgeCheck": True}


def silent_about(model: ScriptedModel, *answers: str) -> None:
    model.otherwise = lambda asked: (
        failure(422, "out of order") if any(f"\n{each}\n" in asked.prompt for each in answers) else verdict()
    )


def test_p13_a_judge_that_refuses_us_takes_no_figures_away(store: Store, options: dict[str, Any], model: ScriptedModel) -> None:
    first = backfill(store, "rescore", **options)
    model.otherwise = failure(401, "bad key")
    refused = backfill(store, "rescore", **options | {"noJudgeCheck": False})
    assert (refused.done, refused.unjudged) == (["2026-03-02"], {"2026-03-02": 1})
    assert shown(refused) == shown(first)
    assert any(remark.startswith("2026-03-02: nothing was run: ") and "bad key" in remark for remark in refused.remarks)
    assert len(store.comparisons()) == 4
    model.otherwise = verdict()
    assert [row["completion_rate"] for row in backfill(store, "rescore", **options).rows] == [1.0] * 4


@pytest.mark.parametrize("silent", [["dead"], ["3", "dead"]], ids=["a-part", "altogether"])
def test_p13_what_a_stopped_call_did_not_compare_anew_the_next_one_does(
    store: Store, options: dict[str, Any], model: ScriptedModel, silent: list[str]
) -> None:
    silent_about(model, *silent)
    backfill(store, "rescore", **options)
    model.otherwise = verdict()
    assert backfill(store, "rescore", stop_after=1, **options).done == ["2026-03-02"]
    rest = backfill(store, "rescore", **options)
    assert (rest.done, len(rest.up_to_date)) == (["2026-03-03"], 3)
    assert (rest.rows[2]["before_completion_rate"], rest.rows[2]["before_run_id"]) == (1.0, rest.rows[1]["run_id"])
    assert backfill(store, "rescore", **options).done == []


def test_runs_that_different_models_judged_are_each_judged_and_found_by_their_own(
    store: Store, days: Days, tmp_path: Path, model: ScriptedModel
) -> None:
    runs = days({"a": "1"}, {"a": "2"}, {"a": "3"})
    task = {"id": "a", "expectedOutput": {"type": "llm_judge", "criteria": "Be right."}}
    (tmp_path / "tasks.json").write_text(json.dumps([task]))
    for run_id, name in zip(runs, ("one", "two", "one"), strict=True):
        manifest = store.manifest(run_id)
        llm = {"model": f"openai/{name}", "apiBase": model.url}
        write_manifest(store.run_folder(run_id), manifest.model_copy(update={"request": manifest.request | {"llm": llm}}))
    backfill(store, "rescore", stop_after=2, noJudgeCheck=True)
    rest = backfill(store, "rescore", noJudgeCheck=True)
    assert [asked.body["model"] for asked in model.asked] == ["one", "two", "one"]
    assert (rest.done, rest.rows[2]["before_run_id"]) == (["2026-03-03"], rest.rows[1]["run_id"])
