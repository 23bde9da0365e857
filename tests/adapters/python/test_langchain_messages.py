"""What a graph is given, and its messages as everybody else writes them."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters.python.langchain import as_openai, calls_of, graph_input, openai_message, response_of, usage_of
from eval_skills.core.messages.blocks import text_of
from eval_skills.core.models import SkillResponse, ToolCall, Usage
from tests.tables import each_row


@each_row(
    ("value", "key", "channels", "passed"),
    [
        pytest.param("hi", None, ["messages"], {"messages": [{"role": "user", "content": "hi"}]}, id="text"),
        pytest.param({"prompt": "hi"}, None, ["messages"], {"messages": [{"role": "user", "content": "hi"}]}, id="only-text"),
        pytest.param({"topic": "hi"}, None, ["messages", "topic"], {"topic": "hi"}, id="part-of-the-state"),
        pytest.param({"a": "x", "b": "y"}, None, ["messages"], {"a": "x", "b": "y"}, id="two-texts"),
        pytest.param({"n": 1}, None, ["messages"], {"n": 1}, id="no-text"),
        pytest.param([{"role": "user"}], None, ["messages"], {"messages": [{"role": "user"}]}, id="list"),
        pytest.param({"messages": "hi"}, None, ["messages"], {"messages": "hi"}, id="state"),
        pytest.param("hi", None, [], "hi", id="no-graph"),
        pytest.param({"input": "hi"}, None, ["question"], {"input": "hi"}, id="graph-without-messages"),
        pytest.param("hi", "messages", [], {"messages": [{"role": "user", "content": "hi"}]}, id="asked-for"),
        pytest.param(
            {"a": "é", "b": 2}, "messages", [], {"messages": [{"role": "user", "content": '{"a": "é", "b": 2}'}]}, id="json"
        ),
        pytest.param(5, "messages", [], {"messages": [{"role": "user", "content": "5"}]}, id="number"),
        pytest.param("hi", "question", ["messages"], {"question": "hi"}, id="key"),
        pytest.param({"question": "hi", "x": 1}, "question", [], {"question": "hi", "x": 1}, id="has-the-key"),
    ],
)
def test_the_input_of_a_graph(value: Any, key: str | None, channels: list[str], passed: Any) -> None:
    assert graph_input(value, key, channels) == passed


REFUSES: dict[str, Any] = {"type": "ai", "content": "", "additional_kwargs": {"refusal": "I will not."}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}


@each_row(
    ("message", "spoken"),
    [
        pytest.param(
            {"type": "human", "content": "x", "name": "bob"}, {"role": "user", "content": "x", "name": "bob"}, id="human"
        ),
        pytest.param(
            {"type": "AIMessageChunk", "content": ["a", {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": "ab"},
            id="chunk",
        ),
        pytest.param({"type": "chat", "role": "critic", "content": "x"}, {"role": "critic", "content": "x"}, id="chat"),
        pytest.param({"type": "human", "content": [IMAGE]}, {"role": "user", "content": [IMAGE]}, id="image"),
        pytest.param({"role": "user", "content": "x"}, {"role": "user", "content": "x"}, id="already"),
        pytest.param(REFUSES, {"role": "assistant", "content": "", "refusal": "I will not."}, id="refusal"),
    ],
)
def test_messages_become_openai_ones(message: dict[str, Any], spoken: dict[str, Any]) -> None:
    assert openai_message(message) == spoken


def test_a_refusal_is_the_answer_and_why_the_model_stopped_is_known() -> None:
    said = {**REFUSES, "response_metadata": {"finish_reason": "content_filter"}}
    response = response_of({"messages": [{"type": "human", "content": "x"}, said], "given": 1, "usages": []})
    assert (response.output, response.finish_reason) == ("I will not.", "content_filter")


def test_calls_without_an_id_take_no_result_of_another() -> None:
    calls = calls_of(
        [
            {"type": "ai", "content": "", "tool_calls": [{"name": "a", "args": {}, "id": None}]},
            {"type": "tool", "content": "of nobody"},
        ]
    )
    assert [(call.name, call.result) for call in calls] == [("a", None)]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(
            [
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "owls"}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]},
            ],
            id="anthropic",
        ),
        pytest.param(
            [
                {"type": "server_tool_call", "id": "s", "name": "web_search", "args": {"query": "owls"}},
                {"type": "server_tool_result", "tool_call_id": "s", "status": "success", "output": [{"url": "u"}]},
            ],
            id="langchain",
        ),
        pytest.param(
            [{"type": "web_search_call", "id": "s", "action": {"query": "owls"}, "results": [{"url": "u"}]}], id="openai"
        ),
    ],
)
def test_what_the_model_s_service_called_itself_is_called_too(content: list[dict[str, Any]]) -> None:
    own = {"name": "add", "args": {"a": 1}, "id": "1"}
    repeated = {"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1}}
    said = {"type": "text", "text": "Owls."}
    message = {"type": "ai", "content": [*content, said, repeated], "tool_calls": [own]}
    spoken = openai_message(message)
    assert (spoken["content"], [call["function"]["name"] for call in spoken["tool_calls"]]) == ("Owls.", ["web_search", "add"])
    searched, added = calls_of([message, {"type": "tool", "tool_call_id": "1", "content": "no", "status": "error"}])
    assert (searched.name, searched.arguments, searched.id, searched.error) == ("web_search", {"query": "owls"}, "s", None)
    assert searched.result == [{"url": "u"}]
    assert (added.name, added.result, added.error) == ("add", None, "no")


@each_row(
    "parts",
    [
        pytest.param({"additional_kwargs": {"function_call": {"name": "pay", "arguments": '{"n": 5}'}}}, id="openai-of-old"),
        pytest.param(
            {
                "additional_kwargs": {
                    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "pay", "arguments": '{"n": 5}'}}]
                }
            },
            id="openai",
        ),
        pytest.param({"content": [{"type": "tool_use", "id": "1", "name": "pay", "input": {"n": 5}}]}, id="anthropic"),
        pytest.param({"content": [{"toolUse": {"toolUseId": "1", "name": "pay", "input": {"n": 5}}}]}, id="bedrock"),
        pytest.param({"content": [{"functionCall": {"name": "pay", "args": {"n": 5}}}]}, id="gemini"),
        pytest.param(
            {"content": [{"type": "function_call", "call_id": "1", "name": "pay", "arguments": '{"n": 5}'}]}, id="responses"
        ),
        pytest.param({"content": [{"type": "custom_tool_call", "call_id": "1", "name": "pay", "input": "5"}]}, id="custom"),
        pytest.param({"content": [{"type": "tool_call", "id": "1", "name": "pay", "args": {"n": 5}}]}, id="langchain"),
        pytest.param({"type": "chat", "role": "assistant", "content": [{"type": "tool_use", "name": "pay"}]}, id="chat"),
    ],
)
def test_a_call_in_the_provider_s_own_notation_is_one_and_is_not_counted_twice(parts: dict[str, Any]) -> None:
    message = {"type": "ai", "content": "done", **parts}
    spoken = openai_message(message)
    assert [call["function"]["name"] for call in spoken["tool_calls"]] == ["pay"]
    assert [call.name for call in calls_of([message])] == ["pay"]
    repeated = message | {"tool_calls": [{"name": "pay", "args": {"n": 5}, "id": "1"}]}
    assert [call.name for call in calls_of([repeated])] == ["pay"]
    two = message | {"tool_calls": [{"name": "search", "args": {}, "id": "2"}]}
    assert [call.name for call in calls_of([two])] == ["pay", "search"]


PENDING = {"type": "ai", "content": "", "tool_calls": [{"name": "pay", "args": {"n": 5}, "id": "1"}]}


def test_what_an_error_tells_is_translated_as_an_answer_is() -> None:
    metadata = {"input_tokens": 3, "output_tokens": 4}
    known = as_openai(SkillResponse(messages=[{"type": "human", "content": "pay"}, PENDING | {"usage_metadata": metadata}]))
    assert [message["role"] for message in known.messages or []] == ["user", "assistant"]
    assert [(call.name, call.arguments) for call in known.tool_calls or []] == [("pay", {"n": 5})]
    assert known.usage == Usage(prompt_tokens=3, completion_tokens=4)
    told = SkillResponse(messages=[PENDING], tool_calls=[ToolCall(name="own")], usage=Usage(prompt_tokens=1), cost_usd=0.5)
    assert as_openai(told) == told.model_copy(update={"messages": [openai_message(PENDING)]})


@each_row(
    "message",
    [
        {"role": "assistant", "content": "x"},
        {"type": 3},
        {"type": "tool", "tool_call_id": ["unhashable"]},
        {"type": "ai", "tool_calls": [{"name": "a", "id": 7}]},
    ],
)
def test_what_cannot_be_translated_stays(message: dict[str, Any]) -> None:
    known = SkillResponse(messages=[message], cost_usd=0.5)
    assert as_openai(known) == known


@pytest.mark.parametrize("known", [SkillResponse(cost_usd=0.5), SkillResponse(messages=[]), SkillResponse(tool_calls=[])])
def test_an_error_without_messages_tells_of_no_calls(known: SkillResponse) -> None:
    assert as_openai(known) == known


def test_sums_and_texts_of_nothing() -> None:
    assert usage_of([None, {}]) is None
    not_counts = ({"input_tokens": -1}, {"output_tokens": 10**30}, {"input_tokens": "5"}, {"input_tokens": True}, "5")
    assert [usage_of([{"input_tokens": 1, "output_tokens": 1}, usage]) for usage in not_counts] == [None] * 5  # type: ignore[list-item]
    assert usage_of([{"input_tokens": 1}, {"output_tokens": 2}]) == Usage(prompt_tokens=1, completion_tokens=2)
    assert (text_of(None), text_of([]), text_of([IMAGE])) == ("", "", "")
