"""Panels and votes on a rubric, through the real client library, against a real server on loopback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.models import EvalTask, SkillResponse, ToolCall, Verdict
from eval_skills.scorers import ScoringSettings, TaskScoring
from tests.scripted_model import Asked, Says, ScriptedModel, failure

Settings = Callable[..., ScoringSettings]
THREE = ["openai/one", "openai/two", "openai/three"]
LEVELS = {"best": 1, "fair": 0.6, "poor": 0.3, "none": 0}
RUBRIC = {
    "dimensions": {
        "tone": {"weight": 1, "description": "Is it polite?", "levels": LEVELS},
        "depth": {"weight": 1, "description": "Is it deep?", "levels": LEVELS, "floor": 0.5},
    }
}


def gave(tone: str, depth: str, who: str = "it") -> dict[str, Any]:
    chosen = {"tone": tone, "depth": depth}
    return {f"{name}_verdict": {"quotes": [], "reasoning": f"{who}: {level}", "level": level} for name, level in chosen.items()}


def by_model(**given: tuple[str, str] | Says) -> Callable[[Asked], Says]:
    """Each model's levels of tone and depth; of these the reply has those that were asked for."""

    def says(asked: Asked) -> Says:
        name = asked.body["model"]
        if isinstance(found := given[name], Says):
            return found
        fields = asked.body["response_format"]["json_schema"]["schema"]["properties"]
        return Says({field: verdict for field, verdict in gave(*found, who=name).items() if field in fields})

    return says


async def judged(settings: ScoringSettings, **options: Any) -> Verdict:
    evaluator = {"type": "rubric", "rubric": RUBRIC, **options}
    task = EvalTask.model_validate({"id": "t", "inputData": {"q": 1}, "evaluator": evaluator})
    return await TaskScoring(task, settings).verdict(SkillResponse(output="42"))


@pytest.mark.parametrize("calls", ["one", "each"])
@pytest.mark.parametrize(
    ("aggregate", "depth"),
    [
        pytest.param("median", 0.6, id="median"),
        pytest.param("mean", 1.9 / 3, id="mean"),
        pytest.param("majority", 0.6, id="majority"),
    ],
)
async def test_each_dimension_gets_what_the_panel_says_of_it(
    model: ScriptedModel, settings: Settings, calls: str, aggregate: str, depth: float
) -> None:
    model.otherwise = by_model(one=("best", "fair"), two=("best", "best"), three=("best", "poor"))
    found = await judged(settings(), models=THREE, aggregate=aggregate, calls=calls)
    assert found.status == "pass"
    assert found.dimensions["rubric.depth"] == pytest.approx(depth)
    assert found.score == pytest.approx((1 + depth) / 2)
    facts = found.metadata["rubric"]["dimensions"]["depth"]["panel"]
    assert facts["members"] == {"openai/one": 0.6, "openai/two": 1, "openai/three": 0.3}
    assert (facts["agreement"], facts["spread"]) == (
        0 if aggregate == "mean" else pytest.approx(1 / 3),
        pytest.approx(0.351, abs=1e-3),
    )
    [told] = [each.message for each in found.reasons if each.where == "rubric.depth"]
    assert "depth: openai/one: fair, openai/two: best, openai/three: poor (0.6" in told
    assert found.judge_tokens == 360 * (2 if calls == "each" else 1), "the panel's cost is the sum"


async def test_how_far_the_members_agree_on_the_answer_is_told(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = by_model(one=("best", "best"), two=("best", "fair"), three=("none", "best"))
    found = await judged(settings(), models=THREE)
    panel = found.metadata["judge"]["panel"]
    assert panel["members"] == {"openai/one": 1, "openai/two": 0.8, "openai/three": 0.5}
    assert (panel["agreement"], panel["failed"]) == (pytest.approx(2 / 3), [])
    [told] = [each for each in found.reasons if each.code == "RUBRIC_PANEL"]
    assert told.informational
    assert "openai/three: 0.5 (median of 3 models, agreement 0.67, spread 0.25)" in told.message


async def test_p96_a_floor_is_held_against_what_the_panel_says(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = by_model(one=("best", "none"), two=("best", "best"), three=("best", "best"))
    assert (await judged(settings(), models=THREE)).status == "pass", "one member alone is below it"
    model.otherwise = by_model(one=("best", "poor"), two=("best", "poor"), three=("best", "best"))
    found = await judged(settings(no_judge_cache=True), models=THREE, threshold=0.5)
    assert (found.status, found.reasons[0].code) == ("fail", "RUBRIC_BELOW_FLOOR")
    assert found.reasons[0].message == "depth: expected at least 0.5, got 0.3"


@pytest.mark.parametrize(
    ("depths", "score"),
    [
        pytest.param(("na", "na", "poor"), None, id="most-say-so"),
        pytest.param(("na", "poor", "fair"), 0.45, id="most-judged-it"),
    ],
)
async def test_p96_a_majority_decides_that_a_dimension_cannot_be_judged(
    model: ScriptedModel, settings: Settings, depths: tuple[str, ...], score: float | None
) -> None:
    model.otherwise = by_model(**{name: ("best", depth) for name, depth in zip(("one", "two", "three"), depths, strict=True)})
    found = await judged(settings(), models=THREE)
    assert found.dimensions.get("rubric.depth") == (None if score is None else pytest.approx(score))
    assert [each.code for each in found.reasons].count("RUBRIC_NOT_SCORED") == (score is None)


async def test_a_tie_leaves_no_dimension_out(model: ScriptedModel, settings: Settings) -> None:
    """Else a member that cannot judge would undo the floor that another one holds against the answer."""
    model.otherwise = by_model(one=("best", "na"), two=("best", "none"))
    found = await judged(settings(), models=THREE[:2])
    assert (found.status, found.reasons[0].code) == ("fail", "RUBRIC_BELOW_FLOOR")


async def test_a_member_that_fails_is_missing_and_without_most_of_them_there_is_no_verdict(
    model: ScriptedModel, settings: Settings
) -> None:
    model.otherwise = by_model(one=("best", "best"), two=failure(404, "no such model"), three=("best", "fair"))
    found = await judged(settings(), models=THREE)
    assert (found.status, found.dimensions["rubric.depth"]) == ("pass", 0.8)
    panel = found.metadata["judge"]["panel"]
    assert (panel["members"]["openai/two"], [each["model"] for each in panel["failed"]]) == (None, ["openai/two"])
    assert "openai/two: no verdict" in next(each.message for each in found.reasons if each.code == "RUBRIC_PANEL")
    model.otherwise = by_model(one=("best", "best"), two=failure(404), three=failure(404))
    found = await judged(settings(no_judge_cache=True), models=THREE)
    assert (found.status, found.error_kind, found.score, found.reasons[0].code) == ("error", "judge", None, "JUDGE_MODEL")
    assert "only 1 of 3 votes of the panel were given" in found.reasons[0].message


async def test_votes_of_one_model_make_one_score(model: ScriptedModel, settings: Settings) -> None:
    model.script(*(Says(gave("best", depth)) for depth in ("poor", "best", "fair")))
    found = await judged(settings(judge_concurrency=1), votes=3, aggregate="majority")
    assert (found.status, found.dimensions["rubric.depth"]) == ("pass", 0.6)
    assert {(each.body["temperature"], each.body["seed"]) for each in model.asked} == {(0.7, 0), (0.7, 1), (0.7, 2)}
    members = found.metadata["rubric"]["dimensions"]["depth"]["panel"]["members"]
    assert sorted(members) == ["vote 1", "vote 2", "vote 3"]
    assert sorted(members.values()) == [0.3, 0.6, 1]


async def test_every_member_verifies_the_claims_by_itself(model: ScriptedModel, settings: Settings) -> None:
    def says(asked: Asked) -> Says:
        if "claims" in asked.body["response_format"]["json_schema"]["schema"]["properties"]:
            return Says({"reasoning": "r", "claims": [{"claim": "Owls see.", "importance": "major"}]})
        held = "not_found" if asked.body["model"] == "one" else "supported"
        return Says({"lookups": [{"number": 1, "evidence": "owl", "verdict": held}]})

    model.otherwise = says
    facts = {"weight": 1, "description": "Is it right?", "byClaims": True, "levels": LEVELS}
    evaluator = {"type": "rubric", "rubric": {"dimensions": {"facts": facts}}, "models": THREE}
    task = EvalTask.model_validate({"id": "t", "inputData": {"q": 1}, "evaluator": evaluator})
    answer = SkillResponse(output="Owls see.", tool_calls=[ToolCall(name="search", result="an owl")])
    found = await TaskScoring(task, settings()).verdict(answer)
    assert (found.status, found.dimensions["rubric.facts"], len(model.asked)) == ("pass", 1, 6)
    panel = found.metadata["rubric"]["dimensions"]["facts"]["panel"]
    assert panel["members"] == {"openai/one": 0, "openai/two": 1, "openai/three": 1}


def test_another_panel_is_another_judge_and_each_member_is_checked_before_the_run(settings: Settings) -> None:
    task = {"id": "t", "evaluator": {"type": "rubric", "rubric": RUBRIC, "models": [None, "openai/two"]}}
    scoring = TaskScoring(EvalTask.model_validate(task), settings())
    assert scoring.models == (None, "openai/two")
    assert str(scoring.judge).startswith("openai/scripted + openai/two (median of 2 models)")
