"""Factual accuracy by the claims of an answer: the part of the scorer `rubric` that verifies them one by one."""

from __future__ import annotations

import pytest

from eval_skills.core.models import ToolCall
from tests.scorers.judging.rubrics import Settings, claims_model, judged
from tests.scripted_model import Says, ScriptedModel


async def test_factual_accuracy_is_the_share_of_claims_that_hold(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = claims_model("supported", "not_found", "supported", importance=("major", "minor", "major"))
    verdict = await judged(settings(), tool_calls=[ToolCall(name="search", result="an owl")])
    assert verdict.dimensions["rubric.factual_accuracy"] == pytest.approx(4 / 5), "a major claim counts twice"
    assert verdict.dimensions["rubric.completeness"] == 0.8
    assert 'claim "claim 2" is not found in what the agent was given' in "\n".join(each.message for each in verdict.reasons)
    assert any(
        "factual_accuracy: 2 of 3 claims (0.8, weight 0.3): 0 major and 1 minor do not hold" in each.message
        for each in verdict.reasons
    )
    assert len(model.asked) == 3
    levels_asked = [asked for asked in model.asked if "The rubric." in asked.prompt]
    assert "factual_accuracy" not in levels_asked[0].prompt


async def test_claims_are_verified_against_the_reference_too(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = claims_model("supported", evidence="Owls hear")
    verdict = await judged(settings(), {"reference": "Owls hear."})
    assert verdict.dimensions["rubric.factual_accuracy"] == 1
    [verifying] = [asked for asked in model.asked if "<<<claims " in asked.prompt]
    assert "Owls hear." in verifying.prompt


async def test_p88_a_quotation_that_stands_nowhere_supports_nothing(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = claims_model("supported", evidence="because")
    verdict = await judged(settings(), {"reference": "Owls hear."})
    assert verdict.dimensions["rubric.factual_accuracy"] == 0
    assert any("the quotation is not in the material" in each.message for each in verdict.reasons)


async def test_p87_claims_that_nothing_supports_fail_the_floor(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = claims_model("contradicted", "not_found")
    verdict = await judged(settings(), {"reference": "Owls hear."})
    assert (verdict.status, verdict.dimensions["rubric.factual_accuracy"], verdict.reasons[0].code) == (
        "fail",
        0,
        "RUBRIC_BELOW_FLOOR",
    )


async def test_an_answer_that_claims_nothing_is_not_scored_for_facts(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = claims_model()
    verdict = await judged(settings(), {"reference": "Owls hear."}, "I do not know.")
    assert "rubric.factual_accuracy" not in verdict.dimensions
    assert "claims nothing" in verdict.reasons[0].message


async def test_a_judge_that_cannot_verify_is_an_error_never_a_share(model: ScriptedModel, settings: Settings) -> None:
    good = claims_model("supported")
    model.otherwise = lambda asked: Says("sure") if "<<<claims " in asked.prompt else good(asked)
    verdict = await judged(settings(), {"reference": "Owls hear."})
    assert (verdict.status, verdict.error_kind, verdict.reasons[0].code) == ("error", "judge", "JUDGE_UNREADABLE")


# --- calls, own rubrics ---
