from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters.answer.envelope import read_answer
from eval_skills.core.errors import ContractError
from tests.tables import each_row


@each_row(
    "answer",
    [
        pytest.param({"output": 1, "confidence": 0.9}, id="one-foreign-key"),
        pytest.param({"result": 1}, id="no-output"),
        pytest.param({"messages": []}, id="envelope-keys-without-output"),
        pytest.param({"output": 1, "tool_calls": []}, id="snake-case-is-foreign"),
        pytest.param({"output": 1, "latencyMs": 3}, id="measured-by-us-only"),
        pytest.param([{"output": 1}], id="a-list"),
        pytest.param(None, id="null"),
        pytest.param("text", id="text"),
    ],
)
def test_anything_else_is_a_bare_value(answer: Any) -> None:
    assert read_answer(answer).output == answer


def test_an_envelope_is_unwrapped_once() -> None:
    response = read_answer(
        {
            "output": {"output": 1},
            "messages": [{"role": "assistant", "content": "hi"}],
            "toolCalls": [{"name": "search", "arguments": {"q": "x"}, "duration": 3}],
            "usage": {"promptTokens": 3, "completionTokens": 4, "totalTokens": 7},
            "costUsd": 1,
            "metadata": {"model": "m"},
        }
    )
    assert response.output == {"output": 1}
    assert response.messages == [{"role": "assistant", "content": "hi"}]
    assert response.tool_calls is not None
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("search", {"q": "x"})]
    assert response.usage is not None
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (3, 4)
    assert (response.cost_usd, response.metadata) == (1.0, {"model": "m"})


def test_null_parts_are_unknown_and_a_null_output_is_an_answer() -> None:
    response = read_answer(
        {"output": None, "messages": None, "toolCalls": None, "usage": None, "costUsd": None, "metadata": None}
    )
    assert (response.output, response.messages, response.tool_calls, response.usage, response.cost_usd) == (None,) * 5
    assert response.metadata == {}


@each_row(
    ("part", "seen"),
    [
        pytest.param({"messages": "hi"}, r'messages: .*list; got "hi"', id="messages-no-list"),
        pytest.param({"messages": ["hi"]}, r'messages\[0\]: .*; got "hi"', id="message-no-object"),
        pytest.param({"toolCalls": [{"arguments": {}}]}, r"toolCalls\[0\].name: this key is required", id="call-without-name"),
        pytest.param({"usage": {"promptTokens": -3}}, r"usage.promptTokens: .*; got -3", id="negative-tokens"),
        pytest.param({"usage": {"promptTokens": "3"}}, r'usage.promptTokens: .*; got "3"', id="tokens-as-text"),
        pytest.param({"costUsd": -1}, r"costUsd: .*; got -1", id="negative-cost"),
        pytest.param({"metadata": []}, r"metadata: .*; got \[\]", id="metadata-no-object"),
    ],
)
def test_a_malformed_part_is_a_contract_error_that_shows_it(part: dict[str, Any], seen: str) -> None:
    with pytest.raises(ContractError, match=f"malformed envelope: {seen}"):
        read_answer({"output": 1, **part})
