"""Reading what tools answered out of every notation: as evidence, and as failures."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.models import SkillResponse
from eval_skills.scorers.claims.evidence import evidence_text, seen_in
from eval_skills.scorers.claims.lookup import failed_tools
from tests.tables import each_row

CALL = {"id": "1", "name": "ask", "args": {}}
ASKS = {"type": "ai", "content": "", "tool_calls": [CALL]}
WRAPPED = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"]}


@each_row(
    "messages",
    [
        pytest.param([ASKS, {"type": "tool", "tool_call_id": "1", "content": "busy", "status": "error"}], id="langchain"),
        pytest.param(
            [
                {**WRAPPED, "kwargs": ASKS},
                {**WRAPPED, "kwargs": {"type": "tool", "tool_call_id": "1", "content": "busy", "status": "error"}},
            ],
            id="p92-dumpd",
        ),
        pytest.param(
            [ASKS, {"type": "tool", "data": {"tool_call_id": "1", "content": "busy", "status": "error"}}], id="messages-to-dict"
        ),
        pytest.param(
            [
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "ask", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "busy", "is_error": True}]},
            ],
            id="anthropic",
        ),
        pytest.param(
            [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "mcp_tool_use", "id": "1", "name": "ask", "input": {}},
                        {"type": "mcp_tool_result", "tool_use_id": "1", "content": "busy", "is_error": True},
                    ],
                }
            ],
            id="anthropic-server",
        ),
        pytest.param(
            [
                {"role": "model", "parts": [{"functionCall": {"name": "ask"}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "ask", "response": {"error": "busy"}}}]},
            ],
            id="gemini",
        ),
        pytest.param(
            [
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "ask", "input": {}}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": "busy", "status": "error"}}]},
            ],
            id="bedrock",
        ),
        pytest.param(
            [
                {
                    "role": "assistant",
                    "parts": [{"type": "tool-ask", "toolCallId": "1", "state": "output-error", "errorText": "busy"}],
                }
            ],
            id="vercel-chat",
        ),
    ],
)
def test_a_tool_that_failed_in_each_notation(messages: list[dict[str, Any]]) -> None:
    response = SkillResponse(messages=messages)
    assert failed_tools(response) == [("ask", "busy")]
    assert "busy" in evidence_text(seen_in(None, response))


@each_row(
    "message",
    [
        pytest.param({**WRAPPED, "kwargs": {"type": "tool", "content": "42 owls"}}, id="p92-dumpd"),
        pytest.param({"type": "tool", "data": {"content": "42 owls"}}, id="messages-to-dict"),
        pytest.param({"role": "user", "parts": [{"functionResponse": {"response": {"n": "42 owls"}}}]}, id="gemini"),
        pytest.param({"role": "user", "parts": [{"text": "42 owls"}]}, id="gemini-user"),
        pytest.param(
            {"role": "assistant", "content": [{"type": "web_search_tool_result", "content": [{"title": "42 owls"}]}]}, id="web"
        ),
        pytest.param(
            {"role": "assistant", "parts": [{"type": "tool-x", "state": "output-available", "output": "42 owls"}]},
            id="vercel-chat",
        ),
        pytest.param({"role": "tool", "content": [{"type": "tool-result", "output": {"value": "42 owls"}}]}, id="vercel"),
        pytest.param(
            {"role": "assistant", "toolInvocations": [{"toolName": "look", "result": "42 owls"}]}, id="vercel-invocations"
        ),
        pytest.param(
            {"role": "assistant", "content": [{"type": "tool-invocation", "toolInvocation": {"result": "42 owls"}}]},
            id="vercel-invocation",
        ),
    ],
)
def test_what_a_tool_answered_was_seen(message: dict[str, Any]) -> None:
    response = SkillResponse(messages=[message])
    assert "42 owls" in evidence_text(seen_in(None, response))
    assert failed_tools(response) == []


@each_row(
    "message",
    [
        {**WRAPPED, "kwargs": {"type": "ai", "content": "42 owls"}}, {"role": "model", "parts": [{"text": "42 owls"}]},
        {"type": "AIMessageChunk", "content": "42 owls"}, {"type": "ai", "data": {"content": "42 owls"}},
    ],
)  # fmt: skip
def test_the_agent_s_own_words_prove_nothing(message: dict[str, Any]) -> None:
    assert "42" not in evidence_text(seen_in(None, SkillResponse(messages=[message])))
