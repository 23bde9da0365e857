"""Items of OpenAI's Responses API as the messages that they make together."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_skills.core.messages.responses_items import in_turns, item_role
from eval_skills.core.messages.roles import last_words, role_in
from tests.tables import each_row

USER = {"role": "user", "content": "?"}
THINKS = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "xyz"}
SAYS = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "4"}
SEARCH = {"type": "web_search_call", "id": "ws", "action": {"type": "search", "query": "q"}}


def kinds(messages: list[dict[str, Any]]) -> list[Any]:
    """Role and types of the content's blocks, by message."""
    return [
        (each["role"], [block["type"] for block in content] if isinstance(content := each.get("content"), list) else content)
        for each in in_turns(messages)
    ]


@each_row(
    ("items", "turns"),
    [
        pytest.param([USER, SAYS], [("user", "?"), ("assistant", ["output_text"])], id="messages-stay"),
        pytest.param(
            [USER, THINKS, CALL, RESULT, SAYS],
            [("user", "?"), ("assistant", ["reasoning", "function_call"]), ("tool", "4"), ("assistant", ["output_text"])],
            id="one-call",
        ),
        pytest.param([CALL, {**CALL, "call_id": "c2"}, RESULT, RESULT], [
            ("assistant", ["function_call", "function_call"]), ("tool", "4"), ("tool", "4"),
        ], id="calls-at-once"),
        pytest.param([THINKS, SEARCH, SAYS], [("assistant", ["reasoning", "web_search_call", "output_text"])], id="built-in"),
        pytest.param([SAYS, CALL, RESULT], [("assistant", ["output_text", "function_call"]), ("tool", "4")], id="words-first"),
        pytest.param([SEARCH, SAYS, SAYS], [
            ("assistant", ["web_search_call", "output_text"]), ("assistant", ["output_text"]),
        ], id="two-messages-are-two"),
        pytest.param([{"role": "assistant", "content": "x"}, CALL], [("assistant", ["output_text", "function_call"])], id="text"),
        pytest.param([{"type": "mcp_approval_response", "approve": True, "reason": "ok"}], [("user", "ok")], id="approval"),
        pytest.param([CALL, {"role": "assistant", "content": "", "tool_calls": []}], [
            ("assistant", ["function_call"]), ("assistant", ""),
        ], id="a-message-with-calls-stays"),
        pytest.param([{"role": "assistant", "content": "x", "tool_calls": [{"name": "a"}]}, CALL], [
            ("assistant", "x"), ("assistant", ["function_call"]),
        ], id="p92-calls-beside-the-content-are-not-joined"),
        pytest.param([{"role": "assistant", "content": "x", "refusal": None, "tool_calls": None}, CALL], [
            ("assistant", ["output_text", "function_call"]),
        ], id="empty-keys-of-a-client"),
    ],
)  # fmt: skip
def test_items_make_turns(items: list[dict[str, Any]], turns: list[Any]) -> None:
    before = json.dumps(items)
    assert kinds(items) == turns
    assert json.dumps(items) == before, "p92: nothing of the caller's is changed"
    assert kinds(in_turns(items)) == turns


def test_a_result_names_its_call_and_secret_reasoning_is_left_out() -> None:
    thought, answered = in_turns([THINKS, RESULT])
    assert thought["content"] == [{"type": "reasoning", "id": "rs", "summary": []}]
    assert answered["tool_call_id"] == "call_1"


@each_row(
    ("kind", "role"),
    [
        ("function_call", "assistant"), ("web_search_call", "assistant"), ("mcp_call", "assistant"), ("program", "assistant"),
        ("reasoning", "assistant"), ("mcp_list_tools", "assistant"), ("mcp_approval_request", "assistant"),
        ("function_call_output", "tool"), ("shell_call_output", "tool"), ("tool_search_output", "tool"),
        ("program_output", "tool"), ("mcp_approval_response", "user"), ("item_reference", None), ("compaction", None),
        ("critic", None), ("tv_program", None), (None, None), (7, None),
    ],
)  # fmt: skip
def test_whose_turn_an_item_is(kind: Any, role: str | None) -> None:
    assert item_role({"type": kind}) == role == role_in({"type": kind})
    assert item_role({"type": kind, "role": "x"}) is None


@each_row(
    ("messages", "words"),
    [
        pytest.param([USER, CALL, RESULT, SAYS], "4", id="items"),
        pytest.param([SAYS, CALL], "4", id="words-before-a-call-are-of-its-turn"),
        pytest.param([SAYS, USER, CALL], "", id="a-turn-of-calls-alone"),
        pytest.param([USER], None, id="nobody"),
        pytest.param(
            [{"role": "model", "parts": [{"text": "a", "thought": True}, {"text": "b"}, {"text": "c"}]}], "bc", id="gemini"
        ),
        pytest.param([{"role": "assistant", "content": [{"text": "b"}, {"toolUse": {"name": "x"}}]}], "b", id="bedrock"),
        pytest.param(
            [{"role": "assistant", "parts": [{"type": "reasoning", "content": "a"}, {"type": "text", "content": "b"}]}],
            "b",
            id="opentelemetry",
        ),
        pytest.param([{"role": "assistant", "parts": [{"part_kind": "text", "content": "b"}]}], "b", id="pydantic-ai"),
        pytest.param([{"type": "ai", "data": {"content": "b"}}], "b", id="messages-to-dict"),
        pytest.param([{"lc": 1, "type": "constructor", "kwargs": {"type": "ai", "content": "b"}}], "b", id="dumpd"),
        pytest.param([{"type": "assistant", "message": {**SAYS, "role": "assistant"}}], "4", id="claude-code-line"),
    ],
)
def test_the_last_words_of_the_assistant(messages: list[dict[str, Any]], words: str | None) -> None:
    assert last_words(messages) == words


def _chat_and_items(steps: list[Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """One conversation in both formats: for each step a text of the user, or the names of tools that are called at once."""
    chat: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    for number, step in enumerate(steps):
        if isinstance(step, str):
            chat += [{"role": "user", "content": step}, {"role": "assistant", "content": "well"}]
            items += [{"role": "user", "content": step}, {**SAYS, "content": [{"type": "output_text", "text": "well"}]}]
            continue
        ids = [f"{number}-{place}" for place in range(len(step))]
        flat = [{"id": each, "name": name, "args": {}} for each, name in zip(ids, step, strict=True)]
        chat += [{"role": "user", "content": "go"}, {"role": "assistant", "content": "", "tool_calls": flat}]
        chat += [{"role": "tool", "tool_call_id": each, "content": "x"} for each in ids]
        calls = [{**CALL, "call_id": each, "name": name} for each, name in zip(ids, step, strict=True)]
        items += [{"role": "user", "content": "go"}, THINKS, *calls, *({**RESULT, "call_id": each} for each in ids)]
    return chat, items


@given(st.lists(st.one_of(st.just("hi"), st.lists(st.sampled_from("abc"), min_size=1, max_size=3)), max_size=5))
@settings(max_examples=60, deadline=None)
def test_p92_a_conversation_has_the_same_turns_in_both_formats(steps: list[Any]) -> None:
    chat, items = _chat_and_items(steps)
    turns = in_turns(items)
    assert [each["role"] for each in turns] == [each["role"] for each in chat]
    assert in_turns(turns) == turns
    assert in_turns(chat) == chat
    assert last_words(items) == last_words(chat)
