"""Reading tool calls out of every notation."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.models import SkillResponse, ToolCall
from eval_skills.scorers.reasons import is_remark
from eval_skills.scorers.tool_calls import calls_disagree, calls_of_messages, known_calls, unknown_calls, with_tool_calls

NESTED = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"role": "assistant", "tool_calls": [NESTED]}, id="openai"),
        pytest.param({"role": "ai", "tool_calls": [{"name": "search", "args": {}}]}, id="flat"),
        pytest.param({"type": "ai", "additional_kwargs": {"tool_calls": [NESTED]}}, id="additional-kwargs"),
        pytest.param({"role": "assistant", "function_call": {"name": "search", "arguments": "{}"}}, id="p92-function-call"),
        pytest.param({"role": "assistant", "invalid_tool_calls": [{"name": "search", "args": "{"}]}, id="p92-invalid"),
        pytest.param({"role": "assistant", "content": [{"type": "tool_use", "name": "search", "input": {}}]}, id="tool-use"),
        pytest.param(
            {"role": "assistant", "tool_calls": [NESTED], "additional_kwargs": {"tool_calls": [NESTED]}}, id="said-twice"
        ),
    ],
)
def test_one_call_in_each_notation(message: dict[str, Any]) -> None:
    assert [call.name for call in calls_of_messages([message])] == ["search"]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"role": "user", "tool_calls": [NESTED]}, id="not-the-assistant"),
        pytest.param({"role": "tool", "name": "search", "content": "found"}, id="tool-result"),
        pytest.param({"role": "assistant", "content": "search"}, id="text"),
        pytest.param({"role": "assistant", "tool_calls": None, "content": None, "additional_kwargs": None}, id="nulls"),
        pytest.param({"role": "assistant", "tool_calls": [None, 5, {}, {"name": 7}, {"function": {}}]}, id="unreadable"),
        pytest.param({"role": "assistant", "tool_calls": "search"}, id="no-list"),
    ],
)
def test_what_is_no_call(message: dict[str, Any]) -> None:
    assert calls_of_messages([message]) == []


def test_where_both_sources_disagree_the_messages_count_and_it_is_said() -> None:
    messages: list[dict[str, Any]] = [{"role": "assistant", "tool_calls": [NESTED]}]
    for own in (["ls"], []):
        answer = SkillResponse(tool_calls=[ToolCall(name=name) for name in own], messages=messages)
        assert [call.name for call in known_calls(answer) or []] == ["search"]
        said = calls_disagree(answer)
        assert said is not None
        assert (said.code, is_remark(said)) == ("TOOL_CALLS_DISAGREE", True)
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
