"""The scorer `trajectory_judge` through the real client library, against a real server on loopback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, ToolCall, Verdict
from eval_skills.scorers import ScoringSettings, TaskScoring, score_response
from tests.scripted_model import Says, ScriptedModel, failure, verdict
from tests.tables import each_row

Settings = Callable[..., ScoringSettings]
CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "owls"}'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "Why owls?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "owls see"},
    {"role": "assistant", "content": [{"type": "text", "text": "They see."}]},
]
REFERENCE = [{"role": "assistant", "tool_calls": [{"name": "lookup", "args": {"word": "owl"}}]}]


def task(reference: Any = None, **options: Any) -> EvalTask:
    return EvalTask.model_validate(
        {
            "id": "t",
            "inputData": {"q": "Why owls?"},
            "evaluator": {"type": "trajectory_judge", **options},
            "expected": {"trajectory": reference} if reference is not None else None,
        }
    )


async def judged(settings: ScoringSettings, of: EvalTask | None = None, **response: Any) -> Verdict:
    given = response or {"messages": MESSAGES}
    return await score_response(of or task(), SkillResponse(output="They see.", **given), settings)


async def test_the_way_is_judged_with_its_reasoning(model: ScriptedModel, settings: Settings) -> None:
    model.script(verdict(0.7, "straight on"))
    found = await judged(settings())
    assert (found.status, found.score, found.dimensions) == ("pass", 0.7, {"output_quality": 0.7})
    assert (found.reasons[0].code, found.reasons[0].where) == ("TRAJECTORY_JUDGED", "messages")
    assert found.reasons[0].message.endswith("gave 0.7, expected a score of at least 0.7: straight on")


async def test_below_the_threshold_it_fails(model: ScriptedModel, settings: Settings) -> None:
    model.script(verdict(0.69))
    assert (await judged(settings())).status == "fail"


async def test_the_model_sees_words_calls_and_results_in_order_between_markers(model: ScriptedModel, settings: Settings) -> None:
    await judged(settings())
    prompt = model.asked[0].prompt
    steps = prompt.partition("<<<steps of the agent ")[2]
    places = [steps.index(each) for each in ("Why owls?", '"name": "search"', '"q": "owls"', "owls see", "They see.")]
    assert places == sorted(places)
    assert "<<<reference" not in prompt
    assert "reference trajectory" not in prompt


async def test_a_reference_is_one_good_way_of_several(model: ScriptedModel, settings: Settings) -> None:
    await judged(settings(), task(REFERENCE))
    prompt = model.asked[0].prompt
    assert '"word": "owl"' in prompt.partition("<<<reference trajectory ")[2]
    assert "It does what the reference trajectory does" in prompt.partition("<<<task")[0]


@pytest.mark.parametrize("calls", [[ToolCall(name="search", result="owls see")], []])
async def test_calls_alone_are_a_way_too(model: ScriptedModel, settings: Settings, calls: list[ToolCall]) -> None:
    assert (await judged(settings(), tool_calls=calls)).status == "pass"
    assert ('"result": "owls see"' in model.asked[0].prompt) is bool(calls)


async def test_results_that_the_messages_lack_are_shown_beside_them(model: ScriptedModel, settings: Settings) -> None:
    await judged(settings(), messages=MESSAGES[:2], tool_calls=[ToolCall(name="search", result="hoot")])
    prompt = model.asked[0].prompt
    assert "hoot" in prompt.partition("<<<tool results ")[2]
    assert prompt.count('"name": "search"') == 2


async def test_where_nothing_is_known_of_the_way_it_is_not_judged(model: ScriptedModel, settings: Settings) -> None:
    found = await score_response(task(), SkillResponse(output="They see."), settings())
    assert (found.status, found.reasons[0].code, model.asked) == ("fail", "NOTHING_TO_JUDGE", [])


async def test_choices_and_scales_are_mapped(model: ScriptedModel, settings: Settings) -> None:
    model.script(Says({"reasoning": "r", "choice": "fair"}), verdict(4))
    assert (await judged(settings(), task(choices={"good": 1, "fair": 0.5}))).score == 0.5
    assert (await judged(settings(), task(scale=[1, 5]))).score == 0.75


@pytest.mark.parametrize("reply", [verdict(1.5), verdict("1"), verdict(True), Says("fine")])
async def test_p83_p86_an_unreadable_reply_is_an_error_never_a_score(
    model: ScriptedModel, settings: Settings, reply: Says
) -> None:
    model.otherwise = reply
    found = await judged(settings())
    assert (found.status, found.score, found.error_kind, len(model.asked)) == ("error", None, "judge", 3)


async def test_p13_an_outage_is_an_error(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = failure(401)
    assert (await judged(settings())).error_kind == "judge"


async def test_p75_a_forbidden_call_comes_first_and_nobody_is_asked(model: ScriptedModel, settings: Settings) -> None:
    forbidding = EvalTask.model_validate({"id": "t", "evaluator": "trajectory_judge", "expected": {"forbiddenTools": ["Search"]}})
    found = await judged(settings(), forbidding)
    assert (found.status, found.score, model.asked) == ("fail", 0, [])


async def test_criteria_are_asked_for_besides_and_a_prompt_instead(model: ScriptedModel, settings: Settings) -> None:
    await judged(settings(), task(criteria=["One call is enough."]))
    await judged(settings(), task(judgePrompt="Only the number of calls counts."))
    first, second = (asked.prompt.partition("<<<task")[0] for asked in model.asked)
    assert "A good way is like this" in first
    assert "- One call is enough." in first
    assert "A good way is like this" not in second


@each_row(
    ("options", "reference", "path"),
    [
        ({"criteria": " "}, None, "evaluator.criteria"),
        ({"judgePrompt": ""}, None, "evaluator.judgePrompt"),
        ({"judgePrompt": "a", "criteria": "b"}, None, "evaluator.judgePrompt"),
        ({"scale": [1, 1]}, None, "evaluator.scale"),
        ({"choices": {"one": 1}}, None, "evaluator.choices"),
        ({"treshold": 1}, None, "evaluator.treshold"),
        ({}, [{"role": "owl"}], "expected.trajectory: message 1"),
    ],
)
def test_p02_p60_options_are_checked_at_load(options: dict[str, Any], reference: Any, path: str) -> None:
    with pytest.raises(InputError) as caught:
        TaskScoring(task(reference, **options))
    assert caught.value.path == f"task 't': {path}"
