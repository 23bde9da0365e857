"""Stored answers compared by several models: who is asked, what lands, and what a model that fails does to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store
from eval_skills.core.store.rows import judged_pairs, preference_of
from eval_skills.core.store.schema import PREFERENCE_SCHEMA
from eval_skills.engine.comparison.pairs import ComparisonPlan, plan_comparison
from eval_skills.engine.comparison.request import CompareRequest
from tests.engine.comparison.compared import compare
from tests.scripted_model import Asked, Says, ScriptedModel, failure

if TYPE_CHECKING:
    from tests.engine.evaluations import LandedRun

THREE = ["openai/one", "openai/two", "openai/three"]
Plan = Callable[..., ComparisonPlan]


@pytest.fixture
def plan(landed_run: LandedRun, model: ScriptedModel, tmp_path: Path) -> Plan:
    """A comparison of two runs of one task, whose answers are "right" and "wrong", by the panel."""
    runs = [landed_run({"t": "right", "u": "same"}), landed_run({"t": "wrong", "u": "same"})]

    def make(panel: list[str] = THREE, llm: dict[str, Any] | None = None, **fields: Any) -> ComparisonPlan:
        given = {"runA": runs[0], "runB": runs[1], "store": str(tmp_path / "store"), "panel": panel, "noJudgeCheck": True}
        return plan_comparison(CompareRequest.model_validate({**given, "llm": {"apiBase": model.url, **(llm or {})}, **fields}))

    return make


def says(asked: Asked, what: str) -> Says:
    """What a model is to say: the answer that is better, whatever its place; the first, wherever that is from; or a failure."""
    if what == "fails":
        return failure(404, "no such model")
    if "<<<first answer " not in asked.prompt:
        return Says("OK")
    first = asked.prompt.partition("<<<first answer ")[2].split("\n")[1]
    better = {"tie": "tie", "place": "first", first: "first"}.get(what, "second")
    return Says({"reasoning": f"{asked.body['model']} says {what}", "better": better})


def by_model(**what: str) -> Callable[[Asked], Says]:
    return lambda asked: says(asked, what[asked.body["model"]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "outcome", "agreement"),
    [
        pytest.param(("right", "right", "wrong"), "a", 2 / 3, id="outvoted"),
        pytest.param(("right", "place", "wrong"), "tie", 1 / 3, id="no-majority"),
        pytest.param(("wrong", "wrong", "place"), "b", 2 / 3, id="a-model-that-goes-by-place-says-tie"),
        pytest.param(("right", "tie", "tie"), "tie", 2 / 3, id="most-see-no-difference"),
        pytest.param(("right", "fails", "right"), "a", 1.0, id="a-model-that-fails-is-no-vote"),
    ],
)
def test_the_majority_of_the_models_decides(
    plan: Plan, model: ScriptedModel, what: tuple[str, str, str], outcome: str, agreement: float
) -> None:
    model.otherwise = by_model(**dict(zip(("one", "two", "three"), what, strict=True)))
    summary = compare(plan())
    row = Store(summary.store).preferences().set_index("task_id").loc["t"]
    assert row["outcome"] == outcome
    assert row["judge_agreement"] == summary.figures.agreement == pytest.approx(agreement)
    assert summary.is_complete
    assert row["judge_model"] == summary.model == "openai/one + openai/two + openai/three (majority of 3 models)"
    assert len(model.asked) == 6, "every model is asked in both orders"


@pytest.mark.slow
def test_each_vote_lands_with_what_it_said(plan: Plan, model: ScriptedModel) -> None:
    model.otherwise = by_model(one="right", two="fails", three="right")
    summary = compare(plan())
    row = Store(summary.store).preferences().set_index("task_id").loc["t"]
    votes = {vote["model"]: vote for vote in row["votes"]}
    assert list(votes) == THREE
    assert (votes["openai/one"]["a_first"], votes["openai/one"]["b_first"], votes["openai/one"]["number"]) == ("a", "a", 1)
    assert votes["openai/three"]["reasoning_b_first"] == "three says right"
    assert (votes["openai/two"]["outcome"], votes["openai/two"]["a_first"]) == ("error", None)
    assert "no model openai/two" in votes["openai/two"]["error_message"]
    landed = next(each for each in summary.rows if each["task_id"] == "t")
    assert (landed["a_first"], landed["reasoning_a_first"], landed["judge_tokens"]) == (None, "one says right", 480)
    assert {model for model, pairs in judged_pairs(Store(summary.store), landed["benchmark_id"]).items() if pairs} >= set(THREE)


@pytest.mark.slow
def test_without_more_than_half_of_the_models_a_pair_is_not_judged_and_can_be_asked_again(
    plan: Plan, model: ScriptedModel
) -> None:
    model.otherwise = by_model(one="right", two="fails", three="fails")
    summary = compare(plan())
    assert (summary.is_complete, summary.figures.errors, summary.figures.pairs) == (False, 1, 1), "equal answers need nobody"
    assert "judge: 1 of 2 pairs could not be judged: only 1 of 3 votes of the panel were given" in summary.judging[-1]
    rates = {member.model: (member.figures.wins_a, member.figures.errors) for member in summary.members}
    assert rates == {"openai/one": (1, 0), "openai/two": (0, 1), "openai/three": (0, 1)}
    known = len(model.asked)
    model.otherwise = by_model(one="right", two="right", three="right")
    done = compare(plan())
    assert (done.comparison_id, done.is_complete, done.figures.wins_a) == (summary.comparison_id, True, 1)
    assert len(model.asked) - known == 4, "what the first model said is in the cache"


@pytest.mark.slow
def test_a_model_that_is_down_leaves_a_pair_open_where_the_others_split(plan: Plan, model: ScriptedModel) -> None:
    model.otherwise = by_model(one="right", two="tie", three="fails")
    summary = compare(plan())
    assert (summary.is_complete, summary.figures.errors, summary.figures.ties) == (False, 1, 1), "equal answers are a tie"
    assert "1 of 2 pairs could not be judged: only 2 of 3 votes of the panel were given, and what is" in summary.judging[-1]
    landed = {row["task_id"]: row for row in Store(summary.store).tables.rows("preferences", PREFERENCE_SCHEMA.names)}
    assert preference_of(landed["t"]).between == ("tie", "a"), "it may come to nothing that is worse for A"
    model.otherwise = by_model(one="right", two="tie", three="right")
    assert (done := compare(plan())).comparison_id == summary.comparison_id
    assert (done.is_complete, done.figures.wins_a) == (True, 1)


@pytest.mark.slow
def test_made_again_it_asks_nothing_and_shows_the_same(plan: Plan, model: ScriptedModel) -> None:
    model.otherwise = by_model(one="right", two="wrong", three="place")
    first, asked = compare(plan()), len(model.asked)
    again = compare(plan([*reversed(THREE)]))
    assert (again.comparison_id, again.judged_before, len(model.asked)) == (first.comparison_id, 2, asked)
    assert again.figures == first.figures
    by_name = {member.model: member for member in first.members}
    assert {member.model: member for member in again.members} == by_name
    assert by_name["openai/three"].figures.disagreements == 1
    assert compare(plan(THREE[:2])).comparison_id != first.comparison_id


@pytest.mark.slow
def test_a_panel_of_one_is_that_model(plan: Plan, model: ScriptedModel) -> None:
    model.otherwise = by_model(one="right")
    alone, named = plan(["openai/one"]), plan([], {"model": "openai/one"})
    assert (alone.model, alone.digest) == ("openai/one", named.digest)
    found = compare(alone)
    assert (found.members, found.rows[0]["a_first"], found.rows[0]["votes"]) == ([], "a", None)


@pytest.mark.slow
def test_votes_of_one_model(plan: Plan, model: ScriptedModel) -> None:
    said = {0: "right", 1: "wrong", 2: "right"}
    model.otherwise = lambda asked: says(asked, said[asked.body["seed"]])
    made = plan([], {"model": "openai/one"}, votes=3)
    found = compare(made)
    row = next(row for row in found.rows if row["task_id"] == "t")
    assert row["outcome"] == "a"
    assert row["judge_agreement"] == pytest.approx(2 / 3)
    assert [vote["number"] for vote in row["votes"]] == [1, 2, 3]
    assert {asked.body["temperature"] for asked in model.asked} == {0.7}
    assert (made.model, len(model.asked)) == ("openai/one (majority of 3 votes)", 6)
    [member] = found.members
    assert member.figures.agreement == pytest.approx(2 / 3)
    assert member.figures.wins_a == 1


@pytest.mark.slow
def test_a_spent_budget_is_no_missing_model(plan: Plan, model: ScriptedModel) -> None:
    model.otherwise = by_model(one="right", two="right", three="right")
    stopped = compare(plan(llm={"inputPrice": 0.0, "outputPrice": 1_000.0}, maxJudgeCost=1.55, judgeConcurrency=1))
    assert (stopped.out_of_budget, Store(stopped.store).preferences().empty) == (True, True)


@pytest.mark.slow
def test_one_token_is_asked_of_each_model_before_anything_else(plan: Plan, model: ScriptedModel) -> None:
    model.otherwise = by_model(one="right", two="right", three="fails")
    with pytest.raises(UsageError, match="nothing was compared: there is no model openai/three"):
        compare(plan(noJudgeCheck=False))
    assert [asked.body["model"] for asked in model.asked] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"panel": ["openai/one", "openai/one"]}, "--panel: 'openai/one' is named twice", id="twice"),
        pytest.param({"panel": ["openai/one", "gpt"]}, "gpt", id="no-provider"),
        pytest.param({"panel": THREE, "votes": 0}, "--votes: from 1 to 25 votes", id="no-votes"),
        pytest.param({"panel": [f"openai/m{n}" for n in range(26)]}, "--panel: at most 25 models", id="too-many"),
    ],
)
def test_p40_a_panel_that_cannot_be_is_refused(plan: Plan, model: ScriptedModel, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan(**fields)
    assert message in str(caught.value)
    assert not model.asked
