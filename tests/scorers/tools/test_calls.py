"""Reading tool calls out of every notation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval_skills.core.messages.tool_results import results_of
from eval_skills.core.models import EvalTask, SkillResponse, ToolCall
from eval_skills.scorers import score_response_sync
from eval_skills.scorers.tools.calls import calls_disagree, calls_of_messages, known_calls, unknown_calls, with_tool_calls
from eval_skills.scorers.tools.forbidden import ForbiddenTools
from tests.tables import each_row

NESTED = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
FLAT = {"name": "search", "args": {}}
CUSTOM = {"type": "custom", "custom": {"name": "search", "input": "owls"}}


@each_row(
    "message",
    [
        pytest.param({"role": "assistant", "tool_calls": [NESTED]}, id="openai"),
        pytest.param({"role": "ai", "tool_calls": [{"name": "search", "args": {}}]}, id="flat"),
        pytest.param({"type": "ai", "additional_kwargs": {"tool_calls": [NESTED]}}, id="additional-kwargs"),
        pytest.param({"role": "assistant", "function_call": {"name": "search", "arguments": "{}"}}, id="p92-function-call"),
        pytest.param({"role": "assistant", "invalid_tool_calls": [{"name": "search", "args": "{"}]}, id="p92-invalid"),
        pytest.param({"role": "assistant", "content": [{"type": "tool_use", "name": "search", "input": {}}]}, id="tool-use"),
        pytest.param({"role": "assistant", "content": {"type": "tool_use", "name": "search", "input": {}}}, id="one-block"),
        pytest.param({"role": "assistant", "content": [{"type": "server_tool_use", "name": "search"}]}, id="server-tool-use"),
        pytest.param({"role": "assistant", "content": [{"type": "mcp_tool_use", "name": "search"}]}, id="mcp-tool-use"),
        pytest.param(
            {"role": "assistant", "content": [{"type": "tool_call", "name": "search", "args": {}}]}, id="langchain-block"
        ),
        pytest.param({"role": "assistant", "content": [{"type": "function_call", "name": "search"}]}, id="function-call-block"),
        pytest.param({"role": "assistant", "content": [{"type": "tool-call", "toolName": "search", "args": {}}]}, id="vercel"),
        pytest.param({"role": "assistant", "content": [{"toolUse": {"name": "search", "input": {}}}]}, id="bedrock"),
        pytest.param({"role": "model", "parts": [{"text": "?"}, {"functionCall": {"name": "search"}}]}, id="gemini"),
        pytest.param({"role": "model", "parts": [{"text": None, "function_call": {"name": "search"}}]}, id="gemini-snake"),
        pytest.param({"role": "assistant", "tool_calls": [CUSTOM]}, id="custom-tool"),
        pytest.param({"role": "assistant", "content": [{"tool_call": {"tool_name": "search", "arguments": {}}}]}, id="haystack"),
        pytest.param(
            {"role": "assistant", "content": [{"type": "toolCall", "name": "search", "arguments": {}}]}, id="camel-case"
        ),
        pytest.param({"role": "assistant", "content": [NESTED]}, id="openai-in-content"),
        pytest.param({"role": "assistant", "tool_calls": [{"tool_call": NESTED}]}, id="openinference"),
        pytest.param({"role": "assistant", "content": {"parts": [{"functionCall": {"name": "search"}}]}}, id="parts-in-content"),
        pytest.param({"role": "assistant", "content": "?", "tool": "search", "tool_input": "{}"}, id="crewai"),
        pytest.param({"role": "assistant", "content": [{"id": "1", "name": "search", "input": {}}]}, id="without-a-type"),
        pytest.param({"role": "assistant", "toolCalls": [{"name": "search", "arguments": {}}]}, id="our-own-spelling"),
        pytest.param({"type": "ai", "data": {"type": "ai", "content": "", "tool_calls": [FLAT]}}, id="messages-to-dict"),
        pytest.param({"type": "ai", "data": {"content": "", "tool_calls": [FLAT]}}, id="messages-to-dict-type-outside"),
        pytest.param(
            {"role": "assistant", "tool_calls": [NESTED], "additional_kwargs": {"tool_calls": [NESTED]}}, id="said-twice"
        ),
    ],
)
def test_one_call_in_each_notation(message: dict[str, Any]) -> None:
    answer = SkillResponse(messages=[{"role": "user", "content": "?"}, message])
    assert [call.name for call in known_calls(answer) or []] == ["search"]
    assert unknown_calls(answer) is None


@each_row(
    ("block", "identity"),
    [
        pytest.param({"type": "mcp_tool_use", "id": "c", "name": "pay", "input": {"n": 5}}, "c", id="anthropic"),
        pytest.param({"toolUse": {"toolUseId": "c", "name": "pay", "input": {"n": 5}}}, "c", id="bedrock"),
        pytest.param({"type": "tool-call", "toolCallId": "c", "toolName": "pay", "args": {"n": 5}}, "c", id="vercel-args"),
        pytest.param({"type": "tool-call", "toolCallId": "c", "toolName": "pay", "input": {"n": 5}}, "c", id="vercel-input"),
        pytest.param({"type": "tool-pay", "toolCallId": "c", "state": "x", "input": {"n": 5}}, "c", id="vercel-chat"),
        pytest.param({"type": "dynamic-tool", "toolCallId": "c", "toolName": "pay", "input": {"n": 5}}, "c", id="vercel-dynamic"),
        pytest.param(
            {"type": "tool-invocation", "toolInvocation": {"toolCallId": "c", "toolName": "pay", "args": {"n": 5}}},
            "c",
            id="vercel-invocation",
        ),
        pytest.param({"type": "tool_invocation", "toolName": "pay", "args": {"n": 5}}, None, id="an-invocation-itself"),
        pytest.param({"functionCall": {"name": "pay", "args": {"n": 5}}}, None, id="gemini"),
        pytest.param({"toolCall": {"toolType": "pay", "id": "c", "args": {"n": 5}}}, "c", id="gemini-of-its-own"),
        pytest.param({"type": "tool", "tool": "pay", "callID": "c", "state": {"input": {"n": 5}}}, "c", id="opencode"),
        pytest.param({"toolRequest": {"name": "pay", "input": {"n": 5}}}, None, id="genkit"),
        pytest.param(
            {"part_kind": "tool-call", "tool_name": "pay", "args": {"n": 5}, "tool_call_id": "c"}, "c", id="pydantic-ai"
        ),
        pytest.param({"block_type": "tool_call", "tool_name": "pay", "tool_kwargs": {"n": 5}}, None, id="llama-index"),
        pytest.param({"type": "tool_call", "tool_call": {"id": "c", "name": "pay", "args": {"n": 5}}}, "c", id="librechat"),
        pytest.param({"type": "brand_new_call", "id": "c", "name": "pay", "arguments": {"n": 5}}, "c", id="openai-to-come"),
        pytest.param({"type": "function_call", "call_id": "c", "name": "pay", "arguments": {"n": 5}}, "c", id="openai"),
        pytest.param({"type": "tool_call", "id": "c", "name": "pay", "args": {"n": 5}}, "c", id="langchain"),
    ],
)
def test_a_block_says_which_call_with_which_arguments(block: dict[str, Any], identity: str | None) -> None:
    [call] = calls_of_messages([{"role": "assistant", "content": ["text", block, {"type": "text", "text": "?"}]}])
    assert (call.name, call.arguments, call.id) == ("pay", {"n": 5}, identity)


def test_a_message_of_older_chats_lists_its_invocations() -> None:
    invoked = {"state": "result", "toolCallId": "c", "toolName": "pay", "args": {"n": 5}, "result": "paid"}
    [call] = calls_of_messages([{"role": "assistant", "content": "", "toolInvocations": [invoked]}])
    assert (call.name, call.arguments, call.id) == ("pay", {"n": 5}, "c")


def test_the_text_of_a_custom_tool_is_its_input() -> None:
    [call] = calls_of_messages([{"role": "assistant", "tool_calls": [CUSTOM]}])
    assert (call.arguments, call.id) == ({"input": "owls"}, None)


@pytest.mark.slow
@each_row(
    "said",
    [
        pytest.param({"tool_calls": [{"function": {"arguments": "{}"}}]}, id="no-name"),
        pytest.param({"tool_calls": [{"function": {"name": None, "arguments": "{}"}}]}, id="null"),
        pytest.param({"tool_calls": [NESTED, {"name": 7}]}, id="a-number-beside-a-readable-one"),
        pytest.param({"tool_calls": [{"name": " "}]}, id="blank"),
        pytest.param({"tool_calls": ["pay"]}, id="text"),
        pytest.param({"tool_calls": [None]}, id="nothing"),
        pytest.param({"tool_calls": NESTED}, id="no-list"),
        pytest.param({"content": "?", "toolRequests": [FLAT]}, id="requests"),
        pytest.param({"tool_calls": '[{"name": "pay"}]'}, id="json-text"),
        pytest.param({"toolCalls": "pay"}, id="own-spelling-no-list"),
        pytest.param({"invalid_tool_calls": [{"name": None, "args": "{"}]}, id="invalid"),
        pytest.param({"additional_kwargs": {"tool_calls": {"name": "pay"}}}, id="additional-kwargs"),
        pytest.param({"function_call": "pay"}, id="function-call-text"),
        pytest.param({"tool_calls": [NESTED], "function_call": {"arguments": "{}"}}, id="second-notation"),
        pytest.param({"content": [{"type": "tool_use", "input": {}}]}, id="tool-use"),
        pytest.param({"content": {"type": "tool_use", "name": None}}, id="one-block"),
        pytest.param({"content": [{"type": "tool-call", "toolName": None}]}, id="vercel"),
        pytest.param({"content": [{"toolUse": {}}]}, id="bedrock"),
        pytest.param({"parts": [{"functionCall": "pay"}]}, id="gemini"),
        pytest.param({"content": [{"tool_call": {"tool_kwargs": {}}}]}, id="haystack"),
    ],
)
@each_row("reported", [None, [], ["search"]])
def test_a_call_that_names_no_tool_makes_them_unknown(said: dict[str, Any], reported: list[str] | None) -> None:
    calls = None if reported is None else [ToolCall(name=name) for name in reported]
    answer = SkillResponse(tool_calls=calls, messages=[{"role": "user", "content": "?"}, {"role": "assistant", **said}])
    found = unknown_calls(answer)
    assert found is not None
    assert (found.code, found.where, known_calls(answer)) == ("TOOL_CALLS_UNKNOWN", "messages[1]", None)
    for expected in ({"forbiddenTools": ["pay"]}, {"tools": ["search"]}, {"toolSequence": ["search"]}):
        verdict = score_response_sync(EvalTask.model_validate({"id": "t", "expected": expected}), answer)
        assert (verdict.status, verdict.reasons[0].where) == ("fail", "messages[1]")


@pytest.mark.parametrize("key", ["blocks", "_content", "delta"])
def test_what_stands_in_the_place_of_content_may_be_calls(key: str) -> None:
    said = {"role": "assistant", key: [{"block_type": "tool_call", "tool_name": "pay"}], "additional_kwargs": {"n": 1}}
    found = unknown_calls(SkillResponse(output="done", messages=[said]))
    assert found is not None
    assert found.message == f'expected the message\'s content, got "{key}" in an unknown notation'
    assert unknown_calls(SkillResponse(tool_calls=[ToolCall(name="ls")], messages=[said])) is None, "they are reported"


@each_row(
    "message",
    [
        pytest.param({"role": "assistant", "tool_calls": None, "function_call": None, "content": None}, id="nulls"),
        pytest.param({"role": "assistant", "audio": {"id": "1"}, "additional_kwargs": {"refusal": "no"}}, id="audio"),
        pytest.param({"role": "assistant", "tool_calls": [], "additional_kwargs": {}, "content": []}, id="empty"),
        pytest.param({"role": "model", "parts": [{"text": "hi", "function_call": None}]}, id="gemini-text"),
        pytest.param({"role": "user", "tool_calls": ["pay"]}, id="not-the-assistant"),
        pytest.param({"type": "human", "data": {"type": "human", "content": "?"}}, id="messages-to-dict"),
        pytest.param({"role": "assistant", "content": [5, {"type": ["x"]}, {"type": "text", "text": "tool_use"}]}, id="blocks"),
    ],
)
def test_a_message_without_calls_leaves_them_known(message: dict[str, Any]) -> None:
    assert known_calls(SkillResponse(messages=[message])) == []
    assert unknown_calls(SkillResponse(messages=[message])) is None


@each_row(
    "message",
    [
        pytest.param({"role": "user", "tool_calls": [NESTED]}, id="not-the-assistant"),
        pytest.param({"role": "assistant", "content": "search"}, id="text"),
        pytest.param({"role": "assistant", "tool_calls": None, "content": None, "additional_kwargs": None}, id="nulls"),
        pytest.param({"role": "assistant", "tool_calls": [None, 5, {}, {"name": 7}, {"function": {}}]}, id="unreadable"),
        pytest.param({"role": "assistant", "tool_calls": "search"}, id="no-list"),
    ],
)
def test_what_is_no_call(message: dict[str, Any]) -> None:
    assert calls_of_messages([message]) == []


def use(name: str, identity: str = "2") -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": {}}


@each_row(
    ("beside", "names"),
    [
        pytest.param({"content": [use("pay")]}, ["search", "pay"], id="block"),
        pytest.param({"content": [use("search")]}, ["search", "search"], id="block-of-the-same-tool-with-another-id"),
        pytest.param({"content": [use("search", "c")]}, ["search"], id="block-with-the-same-id"),
        pytest.param({"content": [use("search", "c"), use("pay")]}, ["search", "pay"], id="one-of-two-blocks"),
        pytest.param({"function_call": {"name": "pay"}}, ["search", "pay"], id="function-call"),
        pytest.param({"function_call": {"name": "search"}}, ["search"], id="function-call-of-the-same-tool"),
        pytest.param(
            {"additional_kwargs": {"tool_calls": [{**NESTED, "id": "2"}]}}, ["search", "search"], id="additional-kwargs"
        ),
        pytest.param({"parts": [{"functionCall": {"name": "pay"}}]}, ["search", "pay"], id="gemini"),
        pytest.param({"toolInvocations": [{"toolCallId": "2", "toolName": "pay"}]}, ["search", "pay"], id="vercel"),
        pytest.param(
            {"content": [{"type": "function_call", "id": "fc_1", "call_id": "c", "name": "search"}]}, ["search"], id="responses"
        ),
    ],
)
def test_calls_of_one_message_in_two_notations_are_all_of_them_each_once(beside: dict[str, Any], names: list[str]) -> None:
    answer = SkillResponse(output="x", messages=[{"role": "assistant", "tool_calls": [NESTED], **beside}])
    assert [call.name for call in known_calls(answer) or ()] == names
    exact = {"toolSequence": names, "sequenceMode": "exact"}
    assert score_response_sync(EvalTask.model_validate({"id": "t", "expected": exact}), answer).passed
    reference = [{"role": "assistant", "tool_calls": [{"name": "search", "args": {}}]}]
    task = {"id": "t", "expected": {"trajectory": reference}, "evaluator": {"type": "trajectory_match", "mode": "subset"}}
    assert score_response_sync(EvalTask.model_validate(task), answer).passed is (names == ["search"])


def test_where_both_sources_disagree_the_messages_count_and_it_is_said() -> None:
    messages: list[dict[str, Any]] = [{"role": "assistant", "tool_calls": [NESTED]}]
    for own in (["ls"], []):
        answer = SkillResponse(tool_calls=[ToolCall(name=name) for name in own], messages=messages)
        assert [call.name for call in known_calls(answer) or []] == ["search"]
        said = calls_disagree(answer)
        assert said is not None
        assert (said.code, said.informational) == ("TOOL_CALLS_DISAGREE", True)
    same = SkillResponse(tool_calls=[ToolCall(name="search", result="found")], messages=messages)
    assert calls_disagree(same) is None
    assert known_calls(same) == same.tool_calls, "the list knows results as well"
    talk = SkillResponse(tool_calls=[ToolCall(name="ls")], messages=[{"role": "user", "content": "hi"}])
    assert (calls_disagree(talk), known_calls(talk)) == (None, talk.tool_calls)


@pytest.mark.parametrize("role", [{"role": "asistant"}, {"role": None}, {}])
def test_calls_of_nobody_known_are_unknown_not_none(role: dict[str, Any]) -> None:
    answer = SkillResponse(messages=[{"role": "user"}, {**role, "tool_calls": [NESTED]}])
    said = unknown_calls(answer)
    assert said is not None
    assert (said.code, said.where, known_calls(answer)) == ("TOOL_CALLS_UNKNOWN", "messages[1]", None)
    assert said.message.startswith("unknown role ")
    listed = SkillResponse(tool_calls=[ToolCall(name="ls")], messages=[{"role": "critic", "content": "fine"}])
    assert unknown_calls(listed) is None, "it calls nothing, and the list says what was called"


@pytest.mark.parametrize("role", ["Assistant", "AIMessageChunk", "ai"])
def test_a_role_has_many_names(role: str) -> None:
    assert len(calls_of_messages([{"type": role, "tool_calls": [NESTED]}])) == 1
    serialised = {"lc": 1, "type": "constructor", "kwargs": {"type": role, "tool_calls": [NESTED]}}
    assert len(calls_of_messages([serialised])) == 1


def test_own_tool_calls_come_before_those_of_the_messages() -> None:
    messages: list[dict[str, Any]] = [{"role": "assistant", "tool_calls": [NESTED]}]
    own = SkillResponse(tool_calls=[ToolCall(name="ls")], messages=messages)
    assert with_tool_calls(own) is own
    read = SkillResponse(messages=messages)
    assert [call.name for call in with_tool_calls(read).tool_calls or []] == ["search"]
    assert read.tool_calls is None


def test_without_calls_and_messages_they_are_unknown() -> None:
    assert with_tool_calls(SkillResponse(output="x")).tool_calls is None
    assert with_tool_calls(SkillResponse(messages=[])).tool_calls == []


@each_row(
    "parts",
    [
        pytest.param(
            {"parts": [{"executableCode": {"language": "PYTHON", "code": "6*7"}}, {"codeExecutionResult": {"output": "42"}}]},
            id="gemini",
        ),
        pytest.param(
            {"parts": [{"text": None, "executable_code": {"language": "PYTHON", "code": "6*7"}}, {"text": "It is 42."}]},
            id="gemini-snake",
        ),
        pytest.param(
            {
                "content": [
                    {"type": "executable_code", "executable_code": "6*7", "language": "PYTHON"},
                    {"type": "code_execution_result", "code_execution_result": "42", "outcome": 1},
                ]
            },
            id="langchain",
        ),
    ],
)
def test_code_that_gemini_runs_is_a_call(parts: dict[str, Any]) -> None:
    answer = SkillResponse(messages=[{"role": "user", "content": "?"}, {"role": "model", **parts}])
    [call] = known_calls(answer) or []
    assert (call.name, call.arguments["code"]) == ("code_execution", "6*7")
    forbidden = EvalTask.model_validate({"id": "t", "expected": {"forbiddenTools": ["code_execution"]}})
    assert [each.code for each in score_response_sync(forbidden, answer).reasons] == ["FORBIDDEN_TOOL_CALLED"]


def test_what_came_of_code_that_gemini_ran_is_a_result_and_proves_a_call() -> None:
    outcome = {"role": "model", "parts": [{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42"}}]}
    assert [(each.name, each.content) for each in results_of(outcome, "model")] == [("code_execution", "42")]
    answer = SkillResponse(messages=[{"role": "user", "content": "?"}, outcome])
    assert [call.name for call in known_calls(answer) or ()] == ["code_execution"]


def asks(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls)}


AT_ONCE: dict[str, Any] = {"tool_uses": [{"recipient_name": "functions.pay", "parameters": {"eur": 5}}, {"recipient_name": "ls"}]}


@each_row(
    "answer",
    [
        pytest.param({"tool_calls": [{"name": "multi_tool_use.parallel", "arguments": AT_ONCE}]}, id="reported"),
        pytest.param({"messages": [asks({"name": "multi_tool_use_parallel", "args": AT_ONCE, "id": "c1"})]}, id="langchain"),
        pytest.param(
            {"messages": [asks({"function": {"name": "multi_tool_use.parallel", "arguments": json.dumps(AT_ONCE)}})]}, id="text"
        ),
    ],
)
def test_calls_that_one_call_makes_at_once_are_calls(answer: dict[str, Any]) -> None:
    response = SkillResponse.model_validate(answer)
    assert [(call.name, call.arguments) for call in known_calls(response) or ()] == [("pay", {"eur": 5}), ("ls", {})]
    for forbidden in ("pay", "multi_tool_use.parallel"):
        assert [each.code for each in ForbiddenTools(tools=(forbidden,)).violations_of(response)] == ["FORBIDDEN_TOOL_CALLED"]
    expected: Any = {"trajectory": [asks({"name": "ls", "args": {}}, {"name": "pay", "args": {"eur": 5}})]}
    evaluator = {"type": "trajectory_match", "mode": "unordered"}
    task = EvalTask.model_validate({"id": "t", "expected": expected, "evaluator": evaluator})
    assert score_response_sync(task, response).passed


@pytest.mark.parametrize("arguments", ['{"tool_uses": [', {}, {"tool_uses": [{"parameters": {}}]}, {"tool_uses": [7]}, None])
def test_calls_at_once_that_cannot_be_read_are_unknown(arguments: Any) -> None:
    call = {"name": "multi_tool_use.parallel", "arguments": arguments}
    for answer in (SkillResponse.model_validate({"tool_calls": [call]}), SkillResponse(messages=[asks(call)])):
        assert known_calls(answer) is None
        assert "that name their tool" in getattr(unknown_calls(answer), "message", "")


@each_row(
    "evaluator",
    [
        pytest.param({"type": "forbidden_tools", "tools": ["pay"]}, id="forbidden"),
        pytest.param({"type": "sequence", "expected": ["search"]}, id="sequence"),
        pytest.param({"type": "trajectory_match", "mode": "subset"}, id="trajectory"),
    ],
)
def test_an_evaluator_does_not_take_the_calls_that_can_be_read_for_all(evaluator: dict[str, Any]) -> None:
    hidden = {"role": "assistant", "blocks": [{"text": "?"}]}
    reference = {"trajectory": [{"role": "assistant", "tool_calls": [NESTED]}]}
    expected = {"expected": reference} if evaluator["type"] == "trajectory_match" else {}
    task = EvalTask.model_validate({"id": "t", "inputData": {}, "evaluator": evaluator, **expected})
    verdict = score_response_sync(task, SkillResponse(messages=[{"role": "assistant", "tool_calls": [NESTED]}, hidden]))
    assert ([reason.code for reason in verdict.reasons], verdict.passed) == (["TOOL_CALLS_UNKNOWN"], False)
