"""Stored answers are judged anew, period by period; what could not be judged is tried again by the next call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import RunError
from eval_skills.core.store import Store
from eval_skills.core.store.files import LOOK_AGAIN_S, once_free
from eval_skills.engine.backfill.plan import plan_backfill
from eval_skills.engine.backfill.request import BackfillRequest
from eval_skills.engine.rescoring.plan import plan_rescoring
from eval_skills.engine.rescoring.rescore import scoring_lock
from tests.engine.backfill.backfills import RIGHT, TASKS, WRONG, Days, backfill, shown
from tests.scripted_model import Asked, Says, ScriptedModel, failure, verdict

if TYPE_CHECKING:
    from tests.engine.evaluations import WriteExpectations


pytestmark = pytest.mark.slow  # of seconds each, for whole evaluations


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


def test_scorings_that_count_no_more_are_not_up_to_date_and_count_again(
    store: Store, days: Days, write_expectations: WriteExpectations
) -> None:
    days(RIGHT, WRONG)
    write_expectations(**WRONG)
    first = backfill(store, "rescore")
    write_expectations(**dict.fromkeys(TASKS, "other"))
    backfill(store, "rescore")
    current = "SELECT CAST(date AS VARCHAR) AS day, avg(passed::INT) AS rate FROM items GROUP BY 1 ORDER BY 1"
    assert store.query(current)["rate"].tolist() == [0.0, 0.0]
    write_expectations(**WRONG)
    again = backfill(store, "rescore")
    assert (again.done, shown(again)) == (["2026-03-01", "2026-03-02"], shown(first))
    assert store.query(current)["rate"].tolist() == [0.0, 1.0]
    assert len(store.run_ids()) == 6, "nothing is scored again"
    assert backfill(store, "rescore").done == []


def test_a_run_that_another_call_scores_just_now_is_waited_for(
    store: Store, days: Days, write_expectations: WriteExpectations, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, last = days(RIGHT, RIGHT, WRONG)  # a Sunday, a Monday and a Tuesday
    write_expectations(**WRONG)
    busy = scoring_lock(plan_rescoring(BackfillRequest(mode="rescore", store=store.path).rescoring(last)))
    # not at the short waits with which a lock is tried, for otherwise nobody need wait for it
    monkeypatch.setattr(f"{once_free.__module__}.sleep", lambda seconds: busy.release() if seconds >= LOOK_AGAIN_S else None)
    summary = backfill(store, "rescore", every="week")
    assert store.manifest(summary.rows[1]["run_id"]).provenance["of"] == last
    assert [row["completion_rate"] for row in summary.rows] == [0.0, 1.0]


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
    assert again.remarks[0] == "2026-03-02: repeated, since nothing could be used the last time"
    assert again.remarks[1].startswith("2026-03-02: ")
    assert "the answer was cut to 64 KiB" in again.remarks[1]
    assert shown(again) == shown(first)
    assert len(store.comparisons()) == 3  # and not a row more for every night that it is tried in


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


class TestAJudgeThatFailsAPart:
    """Two answers a day; the judge says of the answer "dead" nothing as long as it is out of order."""

    @pytest.fixture
    def options(self, days: Days, tmp_path: Path, model: ScriptedModel) -> dict[str, Any]:
        days({"a": "1", "b": "2"}, {"a": "3", "b": "dead"}, {"a": "5", "b": "6"}, {"a": "7", "b": "8"})
        judged = {"expectedOutput": {"type": "llm_judge", "criteria": "Be right."}}
        (tmp_path / "tasks.json").write_text(json.dumps([{"id": name, **judged} for name in "ab"]))
        self.break_down(model)
        return {"llm": {"model": "openai/scripted", "apiBase": model.url}, "noJudgeCheck": True}

    def break_down(self, model: ScriptedModel) -> None:
        model.otherwise = lambda asked: failure(422, "out of order") if "\ndead\n" in asked.prompt else verdict()

    def test_it_is_told_by_period_and_asked_again_by_the_next_call(
        self, store: Store, options: dict[str, Any], model: ScriptedModel
    ) -> None:
        first = backfill(store, "rescore", **options)
        assert [row["completion_rate"] for row in first.rows] == [1.0, 0.5, 1.0, 1.0]
        assert first.unjudged == {"2026-03-02": 1}
        told = str(first.unjudged_line)
        assert told.startswith("judge: 1 item could not be judged (2026-03-02: 1): openai/scripted")
        assert "out of order)" in told
        assert told.endswith("; the same call asks about it again")
        assert store.comparisons()["unjudged_items"].tolist() == [0, 1, 0, 0]
        model.asked.clear()
        model.otherwise = verdict()
        again = backfill(store, "rescore", **options)
        assert (again.done, again.up_to_date) == (["2026-03-02", "2026-03-03"], ["2026-03-01", "2026-03-04"])
        assert again.remarks[0] == "2026-03-02: repeated, since the judge failed on 1 item the last time"
        assert [row["completion_rate"] for row in again.rows] == [1.0] * 4
        assert (again.unjudged, again.unjudged_line, len(model.asked)) == ({}, None, 1)
        assert again.rows[2]["before_completion_rate"] == 1.0, "what is compared with it is compared anew"
        assert backfill(store, "rescore", **options).done == []

    def test_as_long_as_it_fails_every_call_says_so_and_nothing_more_lands(self, store: Store, options: dict[str, Any]) -> None:
        first = backfill(store, "rescore", **options)
        for _ in range(2):
            again = backfill(store, "rescore", **options)
            assert (again.done, again.unjudged) == (["2026-03-02"], {"2026-03-02": 1})
            assert shown(again) == shown(first)
        assert len(store.comparisons()) == 4

    def test_a_run_that_another_one_of_its_day_hides_counts_too(self, store: Store, options: dict[str, Any]) -> None:
        found = backfill(store, "rescore", every="week", **options)
        assert (list(found.unjudged.values()), len(found.rows)) == ([1], 2)
        assert backfill(store, "rescore", every="week", **options).unjudged == found.unjudged

    def test_a_day_that_it_failed_altogether_does_not_keep_the_later_ones_back(
        self, store: Store, options: dict[str, Any], model: ScriptedModel
    ) -> None:
        def says(asked: Asked) -> Says:
            return failure(422, "out of order") if "\ndead\n" in asked.prompt or "\n3\n" in asked.prompt else verdict()

        model.otherwise = says
        first = backfill(store, "rescore", **options)
        assert [row.get("completion_rate") for row in first.rows] == [1.0, None, 1.0, 1.0]
        assert first.rows[1]["explanation"].startswith("judge: 2 of 2 items could not be judged: openai/scripted does not take")
        assert first.unjudged == {"2026-03-02": 2}
        self.break_down(model)
        again = backfill(store, "rescore", **options)
        assert ([row["completion_rate"] for row in again.rows], again.unjudged) == ([1.0, 0.5, 1.0, 1.0], {"2026-03-02": 1})

    def test_what_judging_may_cost_is_a_limit_of_the_call_and_not_of_each_run(
        self, store: Store, options: dict[str, Any], model: ScriptedModel
    ) -> None:
        """A reply costs 0.02 USD, and 1.50 are set aside for it: three fit, and each day alone would."""
        model.otherwise = verdict()
        priced = {**options["llm"], "inputPrice": 0.0, "outputPrice": 1_000.0}
        with pytest.raises(
            RunError, match=r"what is left of --max-judge-cost 1\.55 \(\$1\.4900\) does not pay for another request"
        ):
            backfill(store, "rescore", **options | {"llm": priced, "maxJudgeCost": 1.55, "judgeConcurrency": 1})
        assert len(model.asked) == 3
        assert store.comparisons()["period"].tolist() == ["2026-03-01"], "what was judged before is kept"
        rest = backfill(store, "rescore", **options | {"llm": priced})
        assert (rest.up_to_date, len(model.asked)) == (["2026-03-01"], 8)

    def test_made_anew_it_says_how_to_go_on(self, store: Store, options: dict[str, Any]) -> None:
        told = backfill(store, "rescore", force=True, **options).unjudged_line
        assert str(told).endswith("the same call without --force asks about it again")


def test_later_work_is_not_worked_on_again(store: Store, days: Days) -> None:
    days(RIGHT)
    backfill(store, "rescore")
    plan = plan_backfill(BackfillRequest(mode="rescore", store=store.path))
    assert [len(work.sources) for work in plan.works] == [1]
