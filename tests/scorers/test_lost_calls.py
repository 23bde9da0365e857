"""A tool's result proves a call: without it the tool is the one that the result names, or it is not known what was called."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from eval_skills.core.models import EvalTask, SkillResponse, ToolCall, TurnResponse, Verdict
from eval_skills.scorers import score_response_sync
from eval_skills.scorers.tools.calls import known_calls, unknown_calls
from tests.tables import each_row

USER: dict[str, Any] = {"role": "user", "content": "go"}
DONE: dict[str, Any] = {"role": "assistant", "content": "done"}
ASKS: dict[str, Any] = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "search", "args": {}}]}
SEARCH = {"name": "search", "args": {}}
EXPECTED: list[dict[str, Any]] = [USER, {"role": "assistant", "content": "", "tool_calls": [SEARCH]}, DONE]


def verdict(messages: list[dict[str, Any]], calls: list[ToolCall] | None = None, **task: Any) -> Verdict:
    asked = EvalTask.model_validate({"id": "t", "inputData": "go", **task})
    return score_response_sync(asked, SkillResponse(output="done", messages=messages, tool_calls=calls))


def user(block: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [block]}


@each_row(
    "result",
    [
        pytest.param({"role": "tool", "tool_call_id": "c9", "content": "ok"}, id="openai"),
        pytest.param({"role": "tool", "content": "ok"}, id="without-an-id"),
        pytest.param({"type": "tool", "data": {"tool_call_id": "c9", "content": "ok"}}, id="langchain"),
        pytest.param({"type": "function_call_output", "call_id": "c9", "output": "ok"}, id="responses"),
        pytest.param(user({"type": "tool_result", "tool_use_id": "c9", "content": "ok"}), id="anthropic"),
        pytest.param(user({"toolResult": {"toolUseId": "c9", "content": []}}), id="bedrock"),
        pytest.param(user({"type": "tool-result", "toolCallId": "c9", "output": "ok"}), id="vercel"),
        pytest.param(
            {**DONE, "content": [{"type": "mcp_tool_result", "tool_use_id": "c9", "content": "ok"}]}, id="anthropic-mcp"
        ),
        pytest.param(
            {**DONE, "content": [{"type": "code_execution_tool_result", "tool_use_id": "c9", "content": {}}]}, id="anthropic-code"
        ),
    ],
)
@each_row(
    "task",
    [
        pytest.param({"expected": {"forbiddenTools": ["pay"]}}, id="gate"),
        pytest.param({"expected": {"tools": ["search"]}}, id="tools"),
        pytest.param({"expected": {"toolSequence": ["search"], "sequenceMode": "exact"}}, id="sequence"),
        pytest.param({"evaluator": {"type": "forbidden_tools", "tools": ["pay"]}}, id="forbidden-tools"),
        pytest.param({"evaluator": {"type": "bfcl", "category": "irrelevance"}}, id="bfcl"),
        *(
            pytest.param({"expected": {"trajectory": EXPECTED}, "evaluator": {"type": "trajectory_match", "mode": mode}}, id=mode)
            for mode in ("strict", "unordered", "subset", "superset")
        ),
    ],
)
def test_a_result_without_its_call_leaves_open_what_was_called(result: dict[str, Any], task: dict[str, Any]) -> None:
    found = verdict([USER, result, DONE], **task)
    assert found.status == "fail"
    assert [(each.code, each.where) for each in found.reasons] == [("TOOL_CALLS_UNKNOWN", "messages[1]")]


@each_row(("mode", "passes"), [("strict", False), ("unordered", False), ("subset", False), ("superset", True)])
def test_only_a_mode_that_allows_further_calls_holds_beside_a_lost_one(mode: str, passes: bool) -> None:
    lost = {"role": "tool", "tool_call_id": "c9", "content": "ok"}
    told = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    expected = {"trajectory": [USER, ASKS, told, lost, DONE]}
    found = verdict([USER, ASKS, told, lost, DONE], expected=expected, evaluator={"type": "trajectory_match", "mode": mode})
    assert (found.passed, [each.code for each in found.reasons]) == (passes, [] if passes else ["TOOL_CALLS_UNKNOWN"])


@each_row(
    "result",
    [
        pytest.param({"role": "tool", "name": "pay", "tool_call_id": "c9", "content": "ok"}, id="openai"),
        pytest.param({"role": "function", "name": "pay", "content": "ok"}, id="openai-legacy"),
        pytest.param({"role": "user", "parts": [{"functionResponse": {"name": "pay", "response": {}}}]}, id="gemini"),
        pytest.param(user({"type": "tool-result", "toolCallId": "c9", "toolName": "pay", "output": "ok"}), id="vercel"),
    ],
)
def test_a_result_that_names_its_tool_is_a_call_everywhere(result: dict[str, Any]) -> None:
    messages = [USER, ASKS, {"role": "tool", "tool_call_id": "c1", "content": "ok"}, result, DONE]
    assert [call.name for call in known_calls(SkillResponse(messages=messages)) or ()] == ["search", "pay"]
    assert verdict(messages, expected={"tools": ["pay", "search"]}).passed
    exact = verdict(messages, expected={"toolSequence": ["search"], "sequenceMode": "exact"})
    assert [each.code for each in exact.reasons][:1] == ["SEQUENCE_EXTRA"]
    assert not verdict([USER, result, DONE], evaluator={"type": "bfcl", "category": "irrelevance"}).passed
    for mode in ("strict", "unordered", "subset"):
        compared: dict[str, Any] = {
            "expected": {"trajectory": [USER, ASKS, DONE]},
            "evaluator": {"type": "trajectory_match", "mode": mode},
        }
        assert not verdict([USER, ASKS, result, DONE], **compared).passed


def test_a_result_that_names_its_tool_counts_beside_reported_calls() -> None:
    result = {"role": "tool", "name": "pay", "content": "ok"}
    answer = SkillResponse(messages=[USER, result, DONE], tool_calls=[ToolCall(name="search")])
    assert [call.name for call in known_calls(answer) or ()] == ["search", "pay"]
    found = verdict([USER, result, DONE], [ToolCall(name="search")], expected={"tools": ["pay", "search"]})
    assert (found.passed, [each.code for each in found.reasons]) == (True, ["TOOL_CALLS_DISAGREE"])
    subset: dict[str, Any] = {"expected": {"trajectory": EXPECTED}, "evaluator": {"type": "trajectory_match", "mode": "subset"}}
    assert not verdict([USER, result, DONE], [ToolCall(name="search", arguments={})], **subset).passed


@each_row(
    "messages",
    [
        pytest.param([ASKS, {"role": "tool", "tool_call_id": "c1", "content": "ok"}], id="by-id"),
        pytest.param(
            [ASKS, {"role": "tool", "tool_call_id": "c1"}, {"role": "tool", "tool_call_id": "c1"}], id="two-results-of-one"
        ),
        pytest.param([ASKS, {"role": "tool", "content": "ok"}], id="result-without-an-id"),
        pytest.param([ASKS, {"role": "tool", "name": "Search", "tool_call_id": "other"}], id="another-id-and-the-name"),
        pytest.param(
            [{"role": "assistant", "tool_calls": [SEARCH]}, {"role": "tool", "tool_call_id": "c9"}], id="call-without-an-id"
        ),
        pytest.param(
            [
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
            ],
            id="responses",
        ),
        pytest.param(
            [
                {"role": "assistant", "function_call": {"name": "search", "arguments": "{}"}},
                {"role": "function", "name": "search", "content": "ok"},
            ],
            id="openai-legacy",
        ),
        pytest.param(
            [
                {"role": "model", "parts": [{"functionCall": {"name": "search"}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "search", "response": {}}}]},
            ],
            id="gemini",
        ),
        pytest.param(
            [{"type": "mcp_list_tools", "error": "busy"}, ASKS, {"role": "tool", "tool_call_id": "c1"}], id="list-of-tools-failed"
        ),
        pytest.param(
            [
                {
                    "role": "assistant",
                    "parts": [{"type": "tool-search", "toolCallId": "c", "state": "output-available", "output": 1}],
                }
            ],
            id="result-with-its-call",
        ),
    ],
)
def test_a_result_whose_call_is_there_adds_none(messages: list[dict[str, Any]]) -> None:
    answer = SkillResponse(messages=[USER, *messages, DONE])
    assert unknown_calls(answer) is None
    assert [call.name for call in known_calls(answer) or ()] == ["search"]


def test_results_belong_to_the_calls_that_are_reported_beside_messages_without_any() -> None:
    results = [{"role": "tool", "tool_call_id": "c1", "content": "ok"}, {"role": "tool", "tool_call_id": "c2", "content": "ok"}]
    reported = [ToolCall(name="search"), ToolCall(name="book", id="c2")]
    answer = SkillResponse(messages=[USER, *results, DONE], tool_calls=reported)
    assert known_calls(answer) == reported
    assert unknown_calls(answer.model_copy(update={"tool_calls": reported[:1]})) is not None
    beside = SkillResponse(messages=[USER, ASKS, *results, DONE], tool_calls=reported)
    assert [call.name for call in known_calls(beside) or ()] == ["search", "book"]


@pytest.mark.parametrize(("identity", "passes"), [("c1", True), ("c9", False)])
def test_in_a_turn_the_result_of_an_earlier_turn_s_call_is_no_other_call(identity: str, passes: bool) -> None:
    turns = [{"input": "a"}, {"input": "b", "expected": {"forbiddenTools": ["pay"], "toolSequence": ["look"]}}]
    second = [{"role": "tool", "tool_call_id": identity, "content": "ok"}, {**ASKS, "tool_calls": [{"id": "c2", "name": "look"}]}]
    answers = [
        TurnResponse(output="x", messages=[USER, ASKS]),
        TurnResponse(output="y", messages=[*second, {"role": "tool", "tool_call_id": "c2", "content": "ok"}, DONE]),
    ]
    found = score_response_sync(EvalTask.model_validate({"id": "t", "turns": turns}), SkillResponse.of_turns(answers))
    assert found.passed is passes
    assert [each.code for each in found.reasons] == ([] if passes else ["TOOL_CALLS_UNKNOWN"])


def test_a_result_names_its_tool_in_any_spelling() -> None:
    asks = {"role": "assistant", "tool_calls": [{"name": "Web-Search", "args": {}}]}
    known = known_calls(
        SkillResponse(output="done", messages=[USER, asks, {"role": "tool", "name": "web_search", "content": "ok"}])
    )
    assert known is not None
    assert [call.name for call in known] == ["Web-Search"]


def test_a_call_has_one_result() -> None:
    asks = {"role": "assistant", "tool_calls": [{"name": "search", "args": {}}]}
    results = [{"role": "tool", "content": "ok"}, {"role": "tool", "name": "search", "content": "ok"}]
    known = known_calls(SkillResponse(output="done", messages=[USER, asks, *results, DONE]))
    assert known is not None
    assert [call.name for call in known] == ["search", "search"]


@pytest.mark.slow
def test_a_long_record_is_gone_through_once() -> None:
    count = 4_000
    asks = {"role": "assistant", "tool_calls": [{"name": f"tool{number}", "args": {}} for number in range(count)]}
    results = [{"role": "tool", "name": f"tool{number}", "content": "ok"} for number in range(count, 0, -1)]
    began = process_time()
    known = known_calls(SkillResponse(output="done", messages=[USER, asks, *results, DONE]))
    assert process_time() - began < 3
    assert known is not None
    assert [call.name for call in known] == [f"tool{number}" for number in range(count + 1)]
