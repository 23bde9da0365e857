"""Stored answers judged again by a model that fails, or that two calls ask at once: what lands, and who goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.store import Store
from eval_skills.core.store.files import RunLock
from eval_skills.core.store.manifest import EXPERIMENT
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.rescoring.diff import rescoring_diff
from eval_skills.engine.rescoring.plan import Rescoring, plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.engine.rescoring.rescore import left_unjudged, rescore
from eval_skills.engine.skill_effect.experiment import stored_effect
from tests.scripted_model import Asked, Says, ScriptedModel, failure, verdict

if TYPE_CHECKING:
    from tests.engine.evaluations import LandedRun, MakePlan

Plan = Callable[..., Rescoring]
JUDGED = {"expectedOutput": {"type": "llm_judge", "criteria": "Be right."}}
ANSWERS = {"a": "right", "b": "wrong", "c": "other", "d": "more"}


@pytest.fixture
def plan(model: ScriptedModel, landed_run: LandedRun, write_tasks: Callable[..., str], store: Store) -> Plan:
    """A scoring of four answers by the scripted model, which is asked for one thing at a time and for no token before."""
    run_id = landed_run(ANSWERS)
    tasks = write_tasks(*ANSWERS, **JUDGED)

    def make(llm: dict[str, Any] | None = None, **fields: Any) -> Rescoring:
        given = {"llm": {"model": "openai/scripted", "apiBase": model.url, **(llm or {})}, "noJudgeCheck": True}
        asked = {"runId": run_id, "tasks": tasks, "store": store.path, "judgeConcurrency": 1, **given, **fields}
        return plan_rescoring(RescoreRequest.model_validate(asked))

    return make


def dying_after(model: ScriptedModel, count: int, status: int = 401) -> None:
    """From now on it gives so many verdicts, and then refuses everything."""
    end = len(model.asked) + count
    model.otherwise = lambda asked: failure(status, "gone") if len(model.asked) > end else verdict()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "said"),
    [
        pytest.param({}, "llm.model openai/scripted then, openai/new now; llm.temperature not set then, 0.5 now", id="the-run-s"),
        pytest.param({"model": "openai/own"}, "llm.temperature not set then, 0.5 now", id="one-that-the-tasks-name"),
    ],
)
def test_another_judge_than_then_is_told(plan: Plan, write_tasks: Callable[..., str], own: dict[str, str], said: str) -> None:
    tasks = write_tasks(*ANSWERS, evaluator={**JUDGED["expectedOutput"], **own})
    rescore(first := plan(tasks=tasks))
    made = plan(llm={"model": "openai/new", "temperature": 0.5}, tasks=tasks, runId=first.run_id)
    assert f"run {first.run_id} was judged with other settings: {said}" in made.remarks


def test_a_run_that_no_model_judged_had_no_settings(plan: Plan) -> None:
    assert [remark for remark in plan().remarks if "other settings" in remark] == []


@pytest.mark.slow
def test_the_same_judge_as_then_is_not(plan: Plan, model: ScriptedModel) -> None:
    rescore(first := plan())
    again = plan(runId=first.run_id)
    assert [remark for remark in again.remarks if "other settings" in remark] == []


@pytest.mark.slow
def test_what_the_judge_failed_lands_as_an_error_and_the_next_call_judges_that_alone(
    plan: Plan, model: ScriptedModel, store: Store
) -> None:
    dying_after(model, 2)
    first = plan(noJudgeCache=True)
    rescore(first)
    assert [(item.status, item.error_kind) for item in left_unjudged(first)] == [("error", "judge")] * 2
    before = store.items(run_id=first.run_id).set_index("task_id")
    model.otherwise = verdict()
    model.asked.clear()
    second = plan(noJudgeCache=True)
    assert (second.run_id, second.landed, len(second.before)) == (first.run_id, False, 2)
    rescore(second)
    assert len(model.asked) == 2, "no verdict is paid for twice, cache or not"
    after = store.items(run_id=first.run_id).set_index("task_id")
    assert (set(after["status"]), left_unjudged(second)) == ({"pass"}, [])
    kept = list(second.before)
    for _, task, _ in kept:
        assert [frame.loc[task, "judge_tokens"] for frame in (before, after)] == [120, 120]
    third = plan()
    rescore(third)
    assert (third.landed, len(model.asked)) == (True, 2)


@pytest.mark.slow
def test_what_the_judge_was_paid_where_it_failed_stays_in_the_rows(plan: Plan, model: ScriptedModel, store: Store) -> None:
    """It reads the first answer three times in vain; at the others it fails for nothing, and is asked again."""
    priced = {"inputPrice": 0.0, "outputPrice": 1_000.0}

    def said(asked: Asked) -> Says:
        if "\nright\n" in asked.prompt:
            return Says("no JSON at all")
        return verdict() if "\nwrong\n" in asked.prompt else failure(422, "not this one")

    model.otherwise = said
    for _ in range(2):
        rescore(plan(llm=priced))
    model.otherwise = verdict()
    made = plan(llm=priced)
    rescore(made)
    rows = store.items(run_id=made.run_id).set_index("task_id")
    assert set(rows["status"]) == {"pass"}
    assert rows["judge_tokens"].to_dict() == {"a": 7 * 120, "b": 120, "c": 120, "d": 120}
    assert rows["judge_cost_usd"].to_dict() == pytest.approx({"a": 7 * 0.02, "b": 0.02, "c": 0.02, "d": 0.02})
    [tokens] = store.query(f"SELECT judge_tokens FROM reports WHERE run_id = '{made.run_id}'")["judge_tokens"]
    assert tokens == 10 * 120


@pytest.mark.slow
def test_what_nobody_knows_of_a_failure_stays_unknown(
    plan: Plan, model: ScriptedModel, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_skills.scorers.judging.requests.FIRST_WAIT_S", 0.01)
    model.otherwise = lambda asked: failure(504, "slow") if "\nright\n" in asked.prompt else verdict()
    hasty = {"timeoutMs": 2_000}
    rescore(plan(llm=hasty))
    model.otherwise = verdict()
    made = plan(llm=hasty)
    rescore(made)
    tokens = store.items(run_id=made.run_id).set_index("task_id")["judge_tokens"]
    assert (tokens.isna().to_dict(), tokens["b"]) == ({"a": True, "b": False, "c": False, "d": False}, 120)


@pytest.mark.slow
def test_a_scoring_in_which_the_judge_failed_everything_lands_nothing(plan: Plan, model: ScriptedModel, store: Store) -> None:
    runs = store.run_ids()
    dying_after(model, 0)
    with pytest.raises(RunError, match=r"4 of 4 items could not be judged: .*gone.*nothing landed: make the same call again"):
        rescore(plan())
    assert store.run_ids() == runs
    assert not list(Path(store.layout.root).glob("*.lock"))


@pytest.mark.slow
def test_what_the_judge_fails_is_no_change_of_the_skill(plan: Plan, model: ScriptedModel) -> None:
    dying_after(model, 2)
    made = plan()
    rescore(made)
    document = rescoring_diff(made)
    assert "2 items not judged now, since the judge failed: counted as no change" in document.remarks
    assert {row.good for row in document.diff.skills[0].rows} == {None}, "a figure that they move is neither welcome nor not"


@pytest.mark.slow
def test_two_calls_that_make_the_same_scoring_at_once(plan: Plan, model: ScriptedModel, store: Store) -> None:
    made = plan()
    with (
        RunLock(store.layout.root / f"rescore-{made.run_id}.json", what="it"),
        pytest.raises(UsageError, match=f"the scoring of run {made.of} is being written by process"),
    ):
        rescore(made)
    assert not model.asked
    slower = plan()
    rescore(made)
    asked = len(model.asked)
    landed = store.items(run_id=made.run_id)
    rescore(slower)
    assert (len(model.asked), slower.run_id) == (asked, made.run_id), "it was planned before the other landed"
    assert store.items(run_id=made.run_id)["judge_tokens"].tolist() == landed["judge_tokens"].tolist()


@pytest.mark.slow
def test_p59_no_judge_cache_asks_anew_and_keeps_nothing(plan: Plan, model: ScriptedModel, tmp_path: Path) -> None:
    rescore(plan(noJudgeCache=True))
    assert not list((tmp_path / "cache").rglob("*.json"))
    for fields, asked in (({"force": True}, 8), ({"force": True}, 8), ({"force": True, "noJudgeCache": True}, 12)):
        rescore(plan(**fields))
        assert len(model.asked) == asked, fields


def test_without_a_cache_a_spent_budget_promises_nothing(plan: Plan, model: ScriptedModel) -> None:
    priced = {"inputPrice": 0.0, "outputPrice": 1_000.0}
    made = plan(llm=priced, maxJudgeCost=1.53, noJudgeCache=True)
    with pytest.raises(RunError, match="nothing landed, nothing was kept: the same call with a higher limit begins anew"):
        rescore(made, concurrency=1)


def test_the_scoring_of_an_experiment_whose_judge_failed_shows_the_effect_of_its_arms(
    make_plan_of: MakePlan, write_skill: Callable[..., Path], write_tasks: Callable[..., str], model: ScriptedModel, store: Store
) -> None:
    arms = {arm: f"owl-{arm}@1.0.0" for arm in ("with", "without")}
    tasks, llm = write_tasks("a", "b", **JUDGED), {"model": "openai/scripted", "apiBase": model.url}
    model.otherwise = lambda asked: failure(422, "out of order")
    run_id = evaluate_in_process(
        make_plan_of(
            skills=[str(write_skill(f"owl-{arm}")) for arm in arms],
            tasks=tasks,
            llm=llm,
            no_judge_check=True,
            provenance={EXPERIMENT: {"names": ["owl"], "arms": arms, "runtime": "custom"}},
        )
    ).run_id
    before, _ = stored_effect(store.path, run_id)
    assert before.comparisons[0].diff.statistics is None
    assert any("eval-skills rescore RUN judges them and calls no agent" in remark for remark in before.remarks)
    model.otherwise = lambda asked: verdict()
    made = plan_rescoring(
        RescoreRequest.model_validate({"runId": run_id, "tasks": tasks, "store": store.path, "llm": llm, "noJudgeCheck": True})
    )
    rescore(made)
    after, _ = stored_effect(store.path, made.run_id)
    assert after.comparisons[0].diff.statistics is not None
    assert not any("rescore" in remark for remark in after.remarks)
    landed = store.query(f"SELECT effect_arm, effect FROM reports WHERE run_id = '{made.run_id}' ORDER BY 1")
    assert landed.to_numpy().tolist() == [["with", 0.0], ["without", 0.0]]
