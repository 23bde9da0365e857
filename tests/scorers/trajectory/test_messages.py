"""Reading trajectories in every shape."""

from __future__ import annotations

from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage, messages_to_dict
from openai.types.chat import ChatCompletionMessage
from pydantic import BaseModel

from eval_skills.scorers.trajectory import create_trajectory_match_evaluator
from eval_skills.scorers.trajectory.comparison import TRAJECTORY_MODES, trajectory_mode
from eval_skills.scorers.trajectory.messages import read_reference, read_trajectory
from eval_skills.scorers.trajectory.shapes import UnreadableTrajectory
from tests.tables import each_row

CALL = {"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"q": "owl"}'}}
FLAT: Any = {"id": "c", "name": "search", "args": {"q": "owl"}}
ASKS: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [CALL]}
USER: dict[str, Any] = {"role": "user", "content": "?"}


class FunctionBlock(BaseModel):
    """A block as the clients of models make them."""

    type: str = "tool_use"
    name: str = "search"
    input: dict[str, str] = {"q": "owl"}


def roles(given: Any) -> list[str]:
    return [message.role for message in read_trajectory(given).messages]


def calls(given: Any) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in read_trajectory(given).calls]


@each_row(
    "given",
    [
        pytest.param([USER, ASKS], id="list"),
        pytest.param((USER, ASKS), id="tuple"),
        pytest.param({"messages": [USER, ASKS]}, id="wrapped"),
        pytest.param({"messages": [USER, ASKS], "remaining_steps": 3}, id="state-of-a-graph"),
        pytest.param({"output": [USER, ASKS]}, id="list-as-langsmith-wraps-it"),
        pytest.param({"output": {"messages": [USER, ASKS]}}, id="wrapped-twice"),
        pytest.param([MappingProxyType(USER), MappingProxyType(ASKS)], id="other-mappings"),
        pytest.param([HumanMessage("?"), AIMessage("", tool_calls=[FLAT])], id="langchain"),
        pytest.param([HumanMessage("?"), AIMessageChunk(content="", tool_calls=[FLAT])], id="langchain-chunk"),
        pytest.param([dumpd(HumanMessage("?")), dumpd(AIMessage("", tool_calls=[FLAT]))], id="langchain-serialised"),
        pytest.param([{"type": "human"}, {"type": "ai", "tool_calls": [FLAT]}], id="langchain-dumped"),
        pytest.param([USER, ChatCompletionMessage.model_validate(ASKS)], id="openai-object"),
        pytest.param([USER, {**ASKS, "tool_calls": ChatCompletionMessage.model_validate(ASKS).tool_calls}], id="openai-calls"),
        pytest.param([SimpleNamespace(role="user"), SimpleNamespace(**ASKS)], id="any-object-with-a-role"),
        pytest.param(messages_to_dict([HumanMessage("?"), AIMessage("", tool_calls=[FLAT])]), id="langchain-to-dict"),
        pytest.param(
            messages_to_dict([HumanMessage("?"), AIMessageChunk(content="", tool_calls=[FLAT])]), id="langchain-chunk-to-dict"
        ),
        pytest.param([USER, {"role": "assistant", "toolCalls": [FLAT]}], id="our-own-spelling"),
        pytest.param(
            [USER, {"role": "assistant", "tool_calls": [{"tool": "search", "tool_input": {"q": "owl"}}]}],
            id="action-of-langchain",
        ),
        pytest.param(
            [USER, {"role": "assistant", "tool_calls": [{"function": "search", "arguments": {"q": "owl"}}]}], id="inspect"
        ),
        pytest.param(
            [USER, {"role": "assistant", "tool_calls": ({"name": "search", "args": {"q": "owl"}},)}], id="tuple-of-calls"
        ),
        pytest.param(
            [USER, {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {"q": "owl"}}}]}], id="gemini"
        ),
        pytest.param(
            [USER, {"role": "assistant", "content": [{"toolUse": {"name": "search", "input": {"q": "owl"}}}]}], id="bedrock"
        ),
        pytest.param(
            [USER, {"role": "assistant", "content": {"type": "tool-call", "toolName": "search", "input": {"q": "owl"}}}],
            id="vercel-one-block",
        ),
        pytest.param([USER, SimpleNamespace(role="assistant", content=[FunctionBlock()])], id="objects-as-blocks"),
        pytest.param(
            [USER, {"role": "ai", "content": [{"type": "tool_use", "name": "search", "input": {"q": "owl"}}]}], id="blocks"
        ),
    ],
)
def test_every_shape_reads_the_same(given: Any) -> None:
    before = repr(given)
    assert roles(given) == ["user", "assistant"]
    assert calls(given) == [("search", {"q": "owl"})]
    assert repr(given) == before, "p92: the caller's messages have been changed"


@pytest.mark.parametrize(("given", "expected"), [(None, []), ([], []), ({"messages": []}, []), (USER, ["user"])])
def test_none_and_one_message(given: Any, expected: list[str]) -> None:
    assert roles(given) == expected


def test_every_role_by_each_of_its_names() -> None:
    given = ["assistant", "ai", "model", "user", "human", "system", "developer", "tool", "function"]
    same = ["assistant", "assistant", "assistant", "user", "user", "system", "developer", "tool", "function"]
    assert roles([{"role": role} for role in given]) == same
    assert roles([SystemMessage("x"), ToolMessage("x", tool_call_id="c")]) == ["system", "tool"]


def test_p92_every_tool_result_of_a_message_counts() -> None:
    result = {"type": "tool_result", "tool_use_id": "c", "content": "found"}
    assert roles([{"role": "user", "content": [result, result]}]) == ["tool", "tool"]
    assert roles([{"role": "user", "content": [result, {"type": "text", "text": "and?"}]}]) == ["tool", "user"]
    assert roles([{"role": "user", "content": [{"type": "text", "text": "?"}]}, {"role": "user", "content": []}]) == ["user"] * 2


def test_p92_legacy_and_invalid_calls_are_seen_once() -> None:
    assert calls({"role": "assistant", "function_call": {"name": "search", "arguments": "{}"}}) == [("search", {})]
    raw = {"id": "c", "function": {"name": "search", "arguments": "{bad"}}
    invalid = [{"id": "c", "name": "search", "args": "{bad", "error": "no JSON"}]
    message = AIMessage("", invalid_tool_calls=invalid, additional_kwargs={"tool_calls": [raw]})
    assert calls([message]) == [("search", None)]


def test_messages_to_dict_keeps_every_role_and_tells_calls_apart() -> None:
    def dumped(name: str) -> Any:
        asks = AIMessage("", tool_calls=[{"id": "c", "name": name, "args": {}}])
        return messages_to_dict([SystemMessage("!"), HumanMessage("?"), asks, ToolMessage("1", tool_call_id="c", name=name)])

    assert roles(dumped("pay")) == ["system", "user", "assistant", "tool"]
    assert roles(messages_to_dict([HumanMessage("?")])[0]) == ["user"]
    for mode in TRAJECTORY_MODES:
        evaluate = create_trajectory_match_evaluator(trajectory_match_mode=trajectory_mode(mode))
        assert evaluate(outputs=dumped("pay"), reference_outputs=dumped("pay"))["score"] is True
        assert evaluate(outputs=dumped("pay"), reference_outputs=dumped("search"))["score"] is False


def test_a_custom_tool_is_called_with_its_text() -> None:
    message = {"role": "assistant", "tool_calls": [{"type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}]}
    assert calls([message]) == [("sql", {"input": "SELECT 1"})]
    assert len(read_reference([message]).calls) == 1


@pytest.mark.parametrize("listed", [{"name": "search"}, '[{"name": "search"}]', 5])
def test_what_is_no_list_of_calls_is_a_call_that_matches_nothing(listed: Any) -> None:
    assert calls([{"role": "assistant", "content": "", "tool_calls": listed}]) == [("", None)]


def test_results_of_bedrock_and_gemini_are_a_tools() -> None:
    result = {"toolResult": {"toolUseId": "c", "content": []}}
    assert roles([{"role": "user", "content": [result, result]}]) == ["tool", "tool"]
    response = {"functionResponse": {"name": "search", "response": {}}}
    assert roles([{"role": "user", "parts": [response, {"text": "and?"}]}]) == ["tool", "user"]


def test_calls_of_anybody_else_do_not_count() -> None:
    assert calls([{"role": role, "tool_calls": [CALL]} for role in ("user", "tool", "system")]) == []


@each_row(
    ("arguments", "read"),
    [
        pytest.param('{"q": 1}', {"q": 1}, id="text"),
        pytest.param(' \n{"q": 1}\t ', {"q": 1}, id="blanks-around"),
        pytest.param({"q": 1}, {"q": 1}, id="object"),
        pytest.param(MappingProxyType({"q": 1}), {"q": 1}, id="mapping"),
        pytest.param("", {}, id="empty-text"),
        pytest.param("  ", {}, id="blank-text"),
        pytest.param("{bad", None, id="no-json"),
        pytest.param('{"q": 1} x', None, id="something-after-it"),
        pytest.param('{"q": NaN}', None, id="nan-is-not-json"),
        pytest.param("[1]", None, id="array-text"),
        pytest.param("null", None, id="null-text"),
        pytest.param([1], None, id="array"),
        pytest.param(None, None, id="null"),
        pytest.param(5, None, id="number"),
        pytest.param('{"q": ' * 100_000, None, id="deeper-than-can-be-read"),
        pytest.param('{"q": ' + "9" * 5_000 + "}", None, id="longer-than-a-number-can-be"),
    ],
)
def test_arguments(arguments: Any, read: Any) -> None:
    message = {"role": "assistant", "tool_calls": [{"name": "search", "arguments": arguments}]}
    assert calls([message]) == [("search", read)]
    if read is None:
        with pytest.raises(UnreadableTrajectory, match="message 1 has a call with arguments that are not a JSON object: search"):
            read_reference([message])


def test_a_call_without_arguments_has_none() -> None:
    assert calls([{"role": "assistant", "tool_calls": [{"name": "search"}]}]) == [("search", {})]


@each_row("call", [{}, {"name": None}, {"name": ""}, {"function": {"arguments": "{}"}}, 5, None, {"name": ["x"]}])
def test_a_call_without_a_name_is_kept_and_matches_nothing(call: Any) -> None:
    assert calls([{"role": "assistant", "tool_calls": [call]}]) == [("", None)]
    with pytest.raises(UnreadableTrajectory, match="has a call with no name"):
        read_reference([{"role": "assistant", "tool_calls": [call]}])


@each_row(
    ("given", "said"),
    [
        pytest.param("text", 'expected a list of messages.*got "text"', id="text"),
        pytest.param(5, "expected a list of messages.*got 5", id="number"),
        pytest.param({"foo": 1}, r"an object with the keys \[\"foo\"\]", id="object"),
        pytest.param({}, r"an object with the keys \[\]", id="empty-object"),
        pytest.param({"messages": "text"}, 'got "text"', id="text-as-messages"),
        pytest.param({"output": "text"}, 'got "text"', id="text-as-output"),
        pytest.param([5], "message 1: expected a message with a role, got 5", id="no-message"),
        pytest.param([USER, ("user", "?")], r"message 2: expected a message with a role, got \[\"user\"", id="pair"),
        pytest.param([USER, {"role": "asistant"}], "message 2: unknown role \"asistant\" .did you mean 'assistant'", id="role"),
        pytest.param([{"content": "?"}], "message 1: unknown role null", id="no-role"),
        pytest.param([{"role": ["user"]}], "message 1: unknown role", id="role-is-no-text"),
        pytest.param([{"role": {"user"}}], "message 1: unknown role", id="role-cannot-be-shown"),
    ],
)
def test_what_is_no_trajectory_is_refused(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"outputs: {said}|outputs: expected.*{said}"):
        read_trajectory(given)
