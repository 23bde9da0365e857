"""Faithfulness, answer relevance, context precision and recall, by a scripted model on loopback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.errors import InputError, ScorerError
from eval_skills.core.models import EvalTask, SkillResponse, ToolCall, Verdict
from eval_skills.scorers import ScoringSettings, TaskScoring
from eval_skills.scorers.rag.contexts import contexts_of
from eval_skills.scorers.rag.retrieval import average_precision
from tests.scripted_model import Says, ScriptedModel
from tests.tables import each_row

Settings = Callable[..., ScoringSettings]
CONTEXTS = ["Bern is the capital.", "Zurich is larger."]
NEED_CONTEXTS = ["faithfulness", "context_recall", "context_precision"]


def claims(*texts: str) -> Says:
    return Says({"reasoning": "read it", "claims": [{"claim": each, "importance": "major"} for each in texts]})


def lookups(*found: tuple[str, str]) -> Says:
    listed = [{"number": at, "evidence": quote, "verdict": verdict} for at, (verdict, quote) in enumerate(found, 1)]
    return Says({"lookups": listed})


def verdicts(*holds: bool, first: int = 1) -> Says:
    return Says({"verdicts": [{"number": at, "reasoning": "because", "holds": each} for at, each in enumerate(holds, first)]})


async def judged(settings: ScoringSettings, name: str, output: Any = "Bern. It is old.", **more: Any) -> Verdict:
    task = {"id": "t", "inputData": "What is the capital?", "evaluator": {"type": name, **more.pop("options", {})}}
    if name.startswith("context"):
        task["expectedOutput"] = {"value": "Bern, on the Aare"}
    response = {"output": output, "metadata": {"contexts": CONTEXTS}, **more}
    return await TaskScoring(EvalTask.model_validate(task), settings).verdict(SkillResponse.model_validate(response))


async def test_faithfulness_is_the_share_of_claims_that_the_contexts_support(model: ScriptedModel, settings: Settings) -> None:
    model.script(claims("Bern is the capital", "Bern is old"), lookups(("supported", "Bern is the capital"), ("not_found", "")))
    verdict = await judged(settings(), "faithfulness")
    assert (verdict.status, verdict.score, verdict.judge_requests) == ("fail", 0.5, 2)
    assert verdict.reasons[0].message == 'claim "Bern is old" is not found in what the agent was given'
    shown = model.asked[1].prompt
    assert "<<<context 1 " in shown
    assert "<<<context 2 " in shown
    assert "What is the capital?" not in shown, "the task is no source"


async def test_a_claim_called_supported_without_a_quotation_from_a_context_does_not_count(
    model: ScriptedModel, settings: Settings
) -> None:
    model.script(claims("Bern is the capital"), lookups(("supported", "as everybody knows")))
    assert (await judged(settings(), "faithfulness")).score == 0


async def test_context_recall_looks_up_the_claims_of_the_reference(model: ScriptedModel, settings: Settings) -> None:
    model.script(claims("It is Bern", "It lies on the Aare"), lookups(("supported", "Bern is the capital"), ("not_found", "")))
    verdict = await judged(settings(), "context_recall", "something else", options={"threshold": 0.5})
    assert (verdict.status, verdict.score) == ("pass", 0.5)
    assert "Bern, on the Aare" in model.asked[0].prompt
    assert "something else" not in model.asked[0].prompt


@each_row(
    ("useful", "value"),
    [
        ((True, True), 1.0),
        ((True, False), 1.0),
        ((False, True), 0.5),
        ((False, False), 0.0),
        ((True, False, True), (1 + 2 / 3) / 2),
        ((False, True, True), (1 / 2 + 2 / 3) / 2),
        ((), 0.0),
    ],
)
def test_average_precision(useful: tuple[bool, ...], value: float) -> None:
    assert average_precision(useful) == pytest.approx(value)


async def test_context_precision_weighs_ranks(model: ScriptedModel, settings: Settings) -> None:
    model.script(verdicts(False, True))
    verdict = await judged(settings(), "context_precision")
    assert (verdict.status, verdict.score) == ("fail", 0.5)
    assert [each.code for each in verdict.reasons] == ["CONTEXT_NOT_USEFUL", "CONTEXTS_JUDGED"]
    assert "at ranks 2" in verdict.reasons[1].message


async def test_many_contexts_are_asked_about_in_several_questions(model: ScriptedModel, settings: Settings) -> None:
    def reply(asked: Any) -> Says:
        return verdicts(*[True] * 20) if "<<<context 1 " in asked.prompt else verdicts(False, False, first=21)

    model.otherwise = reply
    verdict = await judged(settings(), "context_precision", metadata={"contexts": [f"text {n}" for n in range(22)]})
    assert (verdict.score, len(model.asked)) == (1, 2)


async def test_answer_relevance_is_the_share_of_claims_that_help(model: ScriptedModel, settings: Settings) -> None:
    model.script(claims("It is Bern", "Cats sleep a lot", "It became that in 1848"), verdicts(True, False, True))
    verdict = await judged(settings(), "answer_relevance", metadata={}, options={"threshold": 2 / 3})
    assert verdict.status == "pass"
    assert verdict.score == pytest.approx(2 / 3)
    assert verdict.reasons[0].message == 'claim "Cats sleep a lot": because'


@pytest.mark.parametrize("name", NEED_CONTEXTS)
async def test_without_contexts_there_is_nothing_to_score(model: ScriptedModel, settings: Settings, name: str) -> None:
    none: list[dict[str, Any]] = [{}, {"contexts": []}, {"contexts": ["", {}]}]
    for metadata in none:
        verdict = await judged(settings(), name, metadata=metadata)
        assert (verdict.status, verdict.score, verdict.error_kind) == ("error", None, "scorer")
        assert "nothing to score: no retrieved contexts" in verdict.reasons[0].message
    assert model.asked == []


@pytest.mark.parametrize("name", ["faithfulness", "answer_relevance", "context_recall"])
async def test_where_nothing_is_claimed_there_is_nothing_to_score(model: ScriptedModel, settings: Settings, name: str) -> None:
    model.script(claims())
    verdict = await judged(settings(), name)
    assert (verdict.status, verdict.score, verdict.error_kind) == ("error", None, "scorer")
    assert "nothing to score" in verdict.reasons[0].message


@pytest.mark.parametrize("name", ["faithfulness", "answer_relevance"])
async def test_an_answer_without_text_is_0_and_no_model_is_asked(model: ScriptedModel, settings: Settings, name: str) -> None:
    verdict = await judged(settings(), name, " ")
    assert (verdict.status, verdict.score, model.asked) == ("fail", 0, [])


@pytest.mark.parametrize(
    ("name", "replies"),
    [
        pytest.param("faithfulness", [claims("a"), *[lookups()] * 3], id="claim-left-out"),
        pytest.param("context_precision", [verdicts(True)] * 3, id="context-left-out"),
        pytest.param("context_precision", [verdicts(True, True, first=2)] * 3, id="made-up-number"),
        pytest.param("answer_relevance", [claims("a", "b"), *[verdicts(True)] * 3], id="statement-left-out"),
    ],
)
async def test_an_incomplete_reply_is_asked_for_again_and_then_an_error(
    model: ScriptedModel, settings: Settings, name: str, replies: list[Says]
) -> None:
    model.script(*replies)
    verdict = await judged(settings(), name)
    assert (verdict.status, verdict.score, verdict.reasons[0].code) == ("error", None, "JUDGE_UNREADABLE")


@pytest.mark.parametrize("name", ["context_precision", "context_recall"])
def test_without_a_reference_the_task_is_refused(name: str) -> None:
    for task in ({}, {"expectedOutput": {"value": " "}}, {"expectedOutput": {"value": "a"}, "reference": "b"}):
        evaluator = {"type": name} | ({"reference": task.pop("reference")} if "reference" in task else {})
        with pytest.raises(InputError) as caught:
            TaskScoring(EvalTask.model_validate({"id": "t", "evaluator": evaluator, **task}))
        assert "reference" in caught.value.path


def task_with(**metadata: Any) -> EvalTask:
    return EvalTask.model_validate({"id": "t", "evaluator": "exact", "metadata": metadata})


TOOL = {"role": "tool", "tool_call_id": "1", "content": '["c", "d"]'}


@each_row(
    ("metadata", "response", "contexts"),
    [
        pytest.param({"contexts": ["x"]}, {"metadata": {"contexts": ["a", {"text": "b"}]}}, ("a", "b"), id="the-answers-own"),
        pytest.param({"contexts": "x"}, {"output": "y"}, ("x",), id="the-tasks"),
        pytest.param({}, {"tool_calls": [ToolCall(name="s", result=["a", "b"])]}, ("a", "b"), id="a-list-of-a-tool"),
        pytest.param({}, {"tool_calls": [ToolCall(name="s", result="a"), ToolCall(name="s", error="no")]}, ("a",), id="errors"),
        pytest.param({"contexts": ["", "x"]}, {"output": "y"}, ("", "x"), id="one-without-text-has-its-rank"),
        pytest.param({}, {"tool_calls": [ToolCall(name="w", result=" "), ToolCall(name="s", result="a")]}, ("a",), id="none"),
        pytest.param({}, {"messages": [TOOL], "tool_calls": [ToolCall(name="s")]}, ("c", "d"), id="messages"),
    ],
)
def test_where_contexts_come_from(metadata: dict[str, Any], response: dict[str, Any], contexts: tuple[str, ...]) -> None:
    assert contexts_of(task_with(**metadata), SkillResponse(**response)) == contexts


def test_an_own_answer_is_no_context() -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    with pytest.raises(ScorerError):
        contexts_of(task_with(), SkillResponse(output="b", messages=messages))
