"""Panels and votes, through the real client library, against a real server on loopback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, Thresholds, ToolCall, TurnResponse, Verdict
from eval_skills.scorers import ScoringSettings, TaskScoring
from eval_skills.scorers.judging.aggregation import decide
from eval_skills.scorers.judging.panel import Panel, Vote, Votes
from eval_skills.scorers.registry import find_scorer
from tests.scripted_model import Asked, Says, ScriptedModel, failure, verdict
from tests.tables import each_row

Settings = Callable[..., ScoringSettings]
THREE = ["openai/one", "openai/two", "openai/three"]


def judged_by(**options: Any) -> EvalTask:
    scorer = {} if "type" in options else {"type": "llm_judge", "criteria": "Be right."}
    evaluator = scorer | options
    return EvalTask.model_validate({"id": "t", "inputData": {"q": 1}, "evaluator": evaluator})


async def judged(settings: ScoringSettings, **options: Any) -> Verdict:
    return await TaskScoring(judged_by(**options), settings).verdict(SkillResponse(output="42"))


def by_model(**scores: float | Says) -> Callable[[Asked], Says]:
    def says(asked: Asked) -> Says:
        found = scores[asked.body["model"]]
        return found if isinstance(found, Says) else verdict(found, f"{asked.body['model']} says so")

    return says


@pytest.mark.parametrize(
    ("aggregate", "score", "status"),
    [
        pytest.param("median", 0.6, "fail", id="median"),
        pytest.param("mean", 1.7 / 3, "fail", id="mean"),
        pytest.param("majority", 1 / 3, "fail", id="majority"),
    ],
)
async def test_three_models_make_one_score(
    model: ScriptedModel, settings: Settings, aggregate: str, score: float, status: str
) -> None:
    model.otherwise = by_model(one=0.6, two=0.8, three=0.3)
    found = await judged(settings(), models=THREE, aggregate=aggregate)
    assert found.status == status
    assert found.score == pytest.approx(score)
    panel = found.metadata["judge"]["panel"]
    assert panel["members"] == {"openai/one": 0.6, "openai/two": 0.8, "openai/three": 0.3}
    assert (panel["agreement"], panel["spread"]) == (pytest.approx(2 / 3), pytest.approx(0.2517, abs=1e-4))
    assert found.judge_tokens == 360, "the panel's cost is the sum"
    message = found.reasons[0].message
    assert f"openai/two: 0.8, openai/three: 0.3 ({aggregate} of 3 models, agreement 0.67, spread 0.25)" in message


async def test_the_reasoning_is_that_of_the_side_that_won(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = by_model(one=0.69, two=0.9, three=0.8)
    found = await judged(settings(), models=THREE, aggregate="majority")
    assert found.status == "pass"
    assert found.score == pytest.approx(2 / 3)
    assert "more than half to give at least 0.7" in found.reasons[0].message
    assert found.reasons[0].message.endswith("three says so")


async def test_what_the_panel_outvoted_is_told(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = by_model(one=0.9, two=0.8, three=0.1)
    found = await judged(settings(), models=THREE)
    assert found.status == "pass"
    assert "openai/one: 0.9, openai/two: 0.8, openai/three: 0.1" in found.reasons[0].message
    [dissent] = [each.message for each in found.reasons if each.code == "JUDGE_DISSENT"]
    assert dissent == "outvoted: openai/three gave 0.1: three says so"


async def test_a_mean_may_be_what_fewer_of_them_say(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = by_model(one=0.7, two=0.7, three=0.6999)
    found = await judged(settings(), models=THREE, aggregate="mean")
    assert found.status == "fail"
    assert "expected a score of at least 0.7, got 0.69997: three says so" in found.reasons[0].message, "not: got 0.7"
    [dissent] = [each.message for each in found.reasons if each.code == "JUDGE_DISSENT"]
    assert dissent == "more say otherwise: openai/one gave 0.7: one says so"


async def test_a_tie_of_votes_is_no_majority(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = by_model(one=1.0, two=0.0)
    found = await judged(settings(), models=THREE[:2], aggregate="majority", threshold=0.5)
    assert (found.status, found.score) == ("fail", 0.5)
    [dissent] = [each.message for each in found.reasons if each.code == "JUDGE_DISSENT"]
    assert dissent == "as many say otherwise: openai/one gave 1: one says so"


@pytest.mark.parametrize(
    ("given", "score", "status"),
    [
        pytest.param((1.0, 0.0), 0.5, "fail", id="a-tie"),
        pytest.param((1.0, 0.0, 0.0), 1 / 3, "fail", id="outvoted"),
        pytest.param((1.0, 1.0, 0.0), 2 / 3, "pass", id="a-majority"),
    ],
)
async def test_points_that_are_enough_make_no_majority(
    model: ScriptedModel, settings: Settings, given: tuple[float, ...], score: float, status: str
) -> None:
    model.otherwise = by_model(**dict(zip(("one", "two", "three"), given, strict=False)))
    judges = THREE[: len(given)]
    task = judged_by(models=judges, aggregate="majority").model_copy(update={"thresholds": Thresholds(min_score=30)})
    found = await TaskScoring(task, settings()).verdict(SkillResponse(output="42"))
    assert found.status == status
    assert found.score == pytest.approx(score)
    assert [each.code for each in found.reasons].count("JUDGE_VERDICT") == 1


async def test_a_tie_between_the_votes_of_a_model_is_no_vote_of_its_for_the_answer(
    model: ScriptedModel, settings: Settings
) -> None:
    model.otherwise = lambda asked: verdict(1.0 if asked.body["model"] == "one" or asked.body["seed"] == 0 else 0.0)
    found = await judged(settings(), models=THREE, votes=2, aggregate="majority")
    assert found.status == "fail"
    assert found.metadata["judge"]["panel"]["members"] == {"openai/one": 1.0, "openai/two": 0.5, "openai/three": 0.5}


async def test_a_member_that_fails_is_missing_and_no_vote(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = by_model(one=1.0, two=failure(404, "no such model"), three=0.8)
    found = await judged(settings(), models=THREE)
    assert (found.status, found.score) == ("pass", 0.9)
    panel = found.metadata["judge"]["panel"]
    assert panel["members"] == {"openai/one": 1.0, "openai/two": None, "openai/three": 0.8}
    assert [each["model"] for each in panel["failed"]] == ["openai/two"]
    assert "openai/two: no verdict" in found.reasons[0].message


async def test_without_more_than_half_of_the_members_there_is_no_verdict(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = by_model(one=1.0, two=failure(404), three=failure(404))
    found = await judged(settings(), models=THREE)
    assert (found.status, found.error_kind, found.score) == ("error", "judge", None)
    assert found.reasons[0].code == "JUDGE_MODEL"
    assert "only 1 of 3 votes of the panel were given" in found.reasons[0].message


PANEL = {"type": "llm_judge", "criteria": "Be right.", "models": THREE}
HALF = {"type": "contains", "keywords": ["42", "never said"], "threshold": 0.5}
MEAN = {"evaluators": [HALF, PANEL], "combine": "weighted"}
TOOLS = {"expected": {"tools": ["search"]}, "weights": {"toolAccuracy": 1, "outputQuality": 1}}


def at_least(points: float, *evaluators: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"evaluators": list(evaluators), "thresholds": {"minScore": points}, **more}


@pytest.mark.parametrize(
    ("given", "asked", "status"),
    [
        pytest.param((0.75, 0.9), at_least(80, PANEL), "error", id="the-median-may-be-0.75"),
        pytest.param((0.75, 0.9), at_least(83, PANEL), "error", id="it-may-be-0.9"),
        pytest.param((0.75, 0.9), at_least(75, PANEL), "pass", id="it-is-enough-in-any-case"),
        pytest.param((0.75, 0.9), at_least(91, PANEL), "fail", id="it-is-never-enough"),
        pytest.param((0.75, 0.9), at_least(80, PANEL | {"aggregate": "mean"}), "pass", id="a-mean-is-of-those-that-vote"),
        pytest.param((0.75, 0.9), at_least(70, PANEL | {"aggregate": "majority"}), "error", id="two-of-three-are-67-points"),
        pytest.param((0.75, 0.9), at_least(66, PANEL | {"aggregate": "majority"}), "pass", id="two-of-three-are-enough"),
        pytest.param((0.1, 0.2), at_least(20, PANEL | {"aggregate": "majority"}), "fail", id="no-majority-for-any-score"),
        pytest.param((0.75, 0.9), at_least(80, PANEL, **TOOLS), "fail", id="other-dimensions-fail-it"),
        pytest.param((0.75, 0.9), at_least(40, PANEL, **TOOLS), "error", id="other-dimensions-leave-it-open"),
        pytest.param((0.75, 0.9), at_least(65, HALF, PANEL), "error", id="set-0.625-to-0.7"),
        pytest.param((0.75, 0.9), at_least(62, HALF, PANEL), "pass", id="set-in-any-case"),
        pytest.param((0.75, 0.9), at_least(65, HALF | {"threshold": 1, "required": True}, PANEL), "fail", id="set-required"),
        pytest.param(
            (0.75, 0.9), at_least(40, {**MEAN, "threshold": 0.65, "required": True}), "error", id="a-required-set-is-open"
        ),
        pytest.param((0.75, 0.9), at_least(40, {**MEAN, "threshold": 0.62, "required": True}), "pass", id="a-required-set-holds"),
        pytest.param((0.75, 0.9), MEAN | {"threshold": 0.65}, "error", id="mean"),
        pytest.param((0.75, 0.9), MEAN | {"threshold": 0.62}, "pass", id="mean-known"),
        pytest.param((0.75, 0.9), {"evaluators": [HALF, PANEL]}, "pass", id="verdicts-alone-decide"),
    ],
)
@pytest.mark.parametrize("alone", [True, False])
async def test_a_missing_model_that_could_decide_by_its_score_leaves_no_verdict(
    model: ScriptedModel, settings: Settings, given: tuple[float, float], asked: dict[str, Any], status: str, alone: bool
) -> None:
    """As one evaluator and as a set of one, which go different ways."""
    if alone and len(asked["evaluators"]) == 1 and "type" in asked["evaluators"][0]:
        asked = {key: value for key, value in asked.items() if key != "evaluators"} | {"evaluator": asked["evaluators"][0]}
    model.otherwise = by_model(one=given[0], two=given[1], three=failure(404, "no such model"))
    scoring = TaskScoring(EvalTask.model_validate({"id": "t", "inputData": {"q": 1}, **asked}), settings())
    found = await scoring.verdict(SkillResponse(output="42", tool_calls=[]))
    assert found.status == status
    if status == "error":
        assert (found.error_kind, found.score, found.reasons[0].code) == ("judge", None, "JUDGE_MODEL")
        assert "only 2 of 3 votes of the panel were given, and what is missing could decide" in found.reasons[0].message
        assert "output_quality" not in found.dimensions


@pytest.mark.parametrize(
    ("points", "asked", "status"),
    [
        pytest.param(62, {}, "pass", id="enough-in-any-case"),
        pytest.param(63, {}, "error", id="0.625-to-0.7"),
        pytest.param(70, {}, "error", id="0.7-would-be-enough"),
        pytest.param(71, {}, "fail", id="never-enough"),
        pytest.param(63, {"thresholds": {"maxCost": 0.01, "minScore": 63}}, "fail", id="a-limit-fails-it"),
        pytest.param(63, {"expected": {"tools": ["search"]}}, "fail", id="the-limit-is-that-of-the-whole"),
    ],
)
async def test_a_missing_model_that_could_decide_by_the_mean_of_the_turns_leaves_no_verdict(
    model: ScriptedModel, settings: Settings, points: float, asked: dict[str, Any], status: str
) -> None:
    model.otherwise = by_model(one=0.75, two=0.9, three=failure(404, "no such model"))
    turns = [{"input": "first", "evaluator": PANEL}, {"input": "second", "evaluators": [HALF]}]
    task = EvalTask.model_validate({"id": "t", "turns": turns, "thresholds": {"minScore": points}, **asked})
    answers = [TurnResponse(output="42", tool_calls=[], cost_usd=0.1) for _ in turns]
    found = await TaskScoring(task, settings()).verdict(SkillResponse.of_turns(answers))
    assert found.status == status
    [judged, free] = found.turns or []
    assert judged is not None
    assert free is not None
    if status == "error":
        assert (found.error_kind, found.score, judged.status, free.status) == ("judge", None, "error", "pass")
        assert found.reasons[0].message.startswith("turn 1: only 2 of 3 votes of the panel were given, and what is missing could")
        assert found.dimensions["output_quality"] == 0.5, "that of the other turn"
    else:
        assert (judged.status, judged.score) == ("pass", 0.825)


async def test_a_spent_budget_is_no_missing_member(model: ScriptedModel, settings: Settings) -> None:
    llm = {"input_price": 0.0, "output_price": 1_000.0}
    model.otherwise = by_model(one=1.0, two=1.0, three=1.0)
    found = await judged(settings(llm, max_judge_cost=1.51), models=THREE)
    assert (found.status, found.reasons[0].code) == ("error", "JUDGE_BUDGET"), "two of three is another panel"


async def test_votes_are_asked_for_warm_each_with_its_own_seed(model: ScriptedModel, settings: Settings) -> None:
    model.script(verdict(0.9), verdict(0.6), verdict(0.8))
    found = await judged(settings(judge_concurrency=1), votes=3)
    assert (found.status, found.score) == ("pass", 0.8)
    assert {(each.body["temperature"], each.body["seed"]) for each in model.asked} == {(0.7, 0), (0.7, 1), (0.7, 2)}
    panel = found.metadata["judge"]["panel"]
    assert sorted(panel["votes"]["openai/scripted"]) == [0.6, 0.8, 0.9]
    assert (panel["agreement"], panel["spread"]) == (pytest.approx(2 / 3), pytest.approx(0.1528, abs=1e-4))
    again = await judged(settings(), votes=3)
    assert (len(model.asked), again.score) == (3, 0.8), "every vote is in the cache"


async def test_votes_take_the_temperature_they_are_given(model: ScriptedModel, settings: Settings) -> None:
    await judged(settings(), votes=2, temperature=1.2)
    assert {each.body["temperature"] for each in model.asked} == {1.2}


async def test_a_single_vote_is_what_it_was_before(model: ScriptedModel, settings: Settings) -> None:
    found = await judged(settings(), models=[None])
    assert (len(model.asked), model.asked[0].body["temperature"]) == (1, 0)
    assert "panel" not in found.metadata["judge"]


async def test_a_choice_is_worth_what_it_is_worth_also_in_a_panel(model: ScriptedModel, settings: Settings) -> None:
    model.script(*(Says({"reasoning": "r", "choice": choice}) for choice in ("right", "wrong", "right")))
    found = await judged(settings(), votes=3, choices={"right": 1, "wrong": 0}, aggregate="majority")
    assert found.status == "pass"
    assert found.score == pytest.approx(2 / 3)


@each_row("scorer", ["llm_judge", "rubric", "trajectory_judge", "hallucination"])
def test_a_panel_is_asked_for_alike_everywhere(scorer: str) -> None:
    shared = {"model", "models", "votes", "aggregate", "temperature"} if scorer != "hallucination" else {"model"}
    assert shared <= find_scorer(scorer).options.keys()


@pytest.mark.parametrize(
    ("aggregate", "score"), [pytest.param("median", 0.8, id="median"), pytest.param("majority", 2 / 3, id="majority")]
)
async def test_the_way_is_judged_by_a_panel_too(model: ScriptedModel, settings: Settings, aggregate: str, score: float) -> None:
    model.otherwise = by_model(one=0.9, two=0.8, three=0.1)
    task = judged_by(type="trajectory_judge", models=THREE, aggregate=aggregate)
    found = await TaskScoring(task, settings()).verdict(SkillResponse(output="42", tool_calls=[ToolCall(name="add")]))
    assert found.status == "pass"
    assert found.score == pytest.approx(score)
    assert found.reasons[0].code == "TRAJECTORY_JUDGED"
    assert f"openai/three: 0.1 ({aggregate} of 3 models, agreement 0.67" in found.reasons[0].message
    assert found.metadata["judge"]["panel"]["members"]["openai/three"] == 0.1
    assert [each.where for each in found.reasons if each.code == "JUDGE_DISSENT"] == ["messages"]


@each_row(
    ("options", "path", "message"),
    [
        pytest.param({"models": []}, "models", "the list is empty", id="nobody"),
        pytest.param({"models": ["a/b", "a/b"]}, "models", "named twice", id="twice"),
        pytest.param(
            {"models": ["a/b", "a/b "]}, "models", "'a/b ' begins or ends with a space; write 'a/b'", id="twice-by-a-space"
        ),
        pytest.param(
            {"models": [None, "openai/scripted"]}, "models", "the run's model, which is 'openai/scripted'", id="twice-by-null"
        ),
        pytest.param({"models": [f"a/{number}" for number in range(26)]}, "models", "at most 25 models", id="too-many-models"),
        pytest.param({"models": ["a/b", 5]}, "models[1]", "give text; got 5", id="no-name"),
        pytest.param({"models": ["a/b"], "model": "a/c"}, "models", "exclude each other", id="both"),
        pytest.param({"models": "a/b"}, "models", 'give a list; got "a/b"', id="no-list"),
        pytest.param({"votes": 0}, "votes", "from 1 to 25", id="no-vote"),
        pytest.param({"votes": 26}, "votes", "from 1 to 25", id="too-many"),
        pytest.param({"temperature": 0.5}, "temperature", "set votes", id="temperature-of-one"),
        pytest.param({"votes": 3, "temperature": 3.0}, "temperature", "less than or equal to 2; got 3.0", id="too-hot"),
        pytest.param({"aggregate": "mean"}, "aggregate", "one vote only", id="one-vote"),
        pytest.param({"aggregate": "max"}, "aggregate", "'median', 'majority' or 'mean'; got \"max\"", id="no-such-aggregate"),
    ],
)
def test_p40_options_that_cannot_be_are_refused_when_the_task_is_read(
    settings: Settings, options: dict[str, Any], path: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        TaskScoring(judged_by(**options), settings())
    assert f"evaluator.{path}" in str(caught.value)
    assert message in str(caught.value)


def test_every_member_is_a_model_to_be_checked_before_the_run(settings: Settings) -> None:
    assert TaskScoring(judged_by(models=[None, "openai/two"]), settings()).models == (None, "openai/two")


def test_another_panel_model_or_prompt_is_another_judge(settings: Settings) -> None:
    judges = [
        TaskScoring(judged_by(**options), settings()).judge
        for options in ({}, {"model": "openai/two"}, {"models": THREE}, {"models": THREE, "aggregate": "mean"}, {"votes": 3})
    ]
    assert len(set(judges)) == len(judges)
    assert str(judges[0]) == "openai/scripted (llm_judge 1, prompt 1)"
    assert str(judges[2]).startswith("openai/one + openai/two + openai/three (median of 3 models)")


def test_votes_within_members_become_members_first() -> None:
    """Two of three votes of a member pass, none of the other's two that came: the median of the members, not of the votes."""
    panel = Panel(models=("a", "b", "c"), votes=3, aggregate="majority")

    given = {"a": [1.0, 1.0, 0.0], "b": [1.0, 1.0, 1.0], "c": [0.0, 0.0, 0.0]}
    ballots = Votes(tuple(Vote(name, vote, value) for name, votes in given.items() for vote, value in enumerate(votes)))
    found = decide(panel, ballots, lambda value: value, 0.7)
    assert found.members == {"a": pytest.approx(2 / 3), "b": 1.0, "c": 0.0}
    assert (found.value, found.agreement) == pytest.approx((2 / 3, 2 / 3))
    assert found.passed
