"""Graphs of the real LangGraph, with fake chat models: what goes in, and what counts as their answer."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import ContractError
from eval_skills.core.models import Usage
from tests.adapters.langchain_agent import Started

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("attribute", ["graph", "bound"])
def test_a_graph_answers_with_its_messages_calls_and_tokens(started: Started, attribute: str) -> None:
    response = started(attribute)("2 + 3?")
    assert response.output == "It is 5."
    assert response.usage == Usage(prompt_tokens=30, completion_tokens=7)
    assert response.messages is not None
    assert [message["role"] for message in response.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert response.messages[0] == {"role": "user", "content": "2 + 3?"}
    assert response.messages[1] == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}},
            {"id": "c2", "type": "function", "function": {"name": "divide", "arguments": '{"a": 1, "b": 0}'}},
        ],
    }
    assert response.messages[2] == {"role": "tool", "content": "5", "name": "add", "tool_call_id": "c1"}
    assert response.messages[4] == {"role": "assistant", "content": "It is 5."}


def test_each_tool_call_has_its_result_or_its_error(started: Started) -> None:
    calls = started("graph")("2 + 3?").tool_calls
    assert calls is not None
    assert [(call.name, call.arguments, call.id, call.result) for call in calls] == [
        ("add", {"a": 2, "b": 3}, "c1", "5"),
        ("divide", {"a": 1, "b": 0}, "c2", None),
    ]
    assert calls[0].error is None
    assert calls[1].error is not None
    assert "ZeroDivisionError" in calls[1].error


def test_a_graph_with_a_memory_remembers_nothing_of_another_item(started: Started) -> None:
    call = started("remembering")
    assert [len(call("hello").messages or []) for _ in range(3)] == [2, 2, 2]


def test_a_thread_of_ones_own_is_kept(started: Started) -> None:
    call = started("remembering", invokeConfig={"configurable": {"thread_id": "mine"}})
    assert [len(call("hello").messages or []) for _ in range(3)] == [2, 3, 4]  # the model's one message replaces itself


def test_the_recursion_limit_strikes(started: Started) -> None:
    with pytest.raises(RuntimeError, match="GraphRecursionError: Recursion limit of 3 reached"):
        started("limited", invokeConfig={"recursionLimit": 3})("go")


def test_a_structured_response_goes_before_the_text_and_other_parts_of_the_state_need_be_no_json(started: Started) -> None:
    response = started("structured")({"messages": [["user", "why?"]], "topic": "tides"})
    assert response.output == {"topic": "tides", "asked": ["why?"]}
    assert [message["content"] for message in response.messages or []] == ["why?", "done"]


def test_p59_the_keys_of_input_and_output_are_obeyed(started: Started) -> None:
    assert started("seen", inputKey="question")("tides").output == {"question": "tides", "answer": "about tides"}
    assert started("seen", inputKey="question", outputKey="answer")({"question": "tides"}).output == "about tides"
    assert started("structured", outputKey="topic")({"messages": [], "topic": "tides"}).output == "tides"
    with pytest.raises(RuntimeError, match=r"no 'anser' \(adapterConfig.outputKey\); it has question, answer"):
        started("seen", outputKey="anser")({"question": "tides"})


HISTORY = [{"role": "user", "content": "Bern?"}, {"role": "assistant", "content": "Bern."}, ["user", "Bern?"]]


@pytest.mark.parametrize("given", [pytest.param("Bern or Basel?", id="question"), pytest.param(HISTORY, id="earlier-answer")])
def test_what_a_graph_was_given_is_not_its_answer(started: Started, given: Any) -> None:
    with pytest.raises(ContractError, match="the answer has no message of the model"):
        started("silent")(given)


def test_a_model_may_repeat_what_it_was_given(started: Started) -> None:
    assert started("remembering")([["user", "hi"]]).output == "hi"


@pytest.mark.parametrize("call", ["ainvoke", "invoke"])
@pytest.mark.parametrize("config", [{}, {"outputKey": "answer"}])
@pytest.mark.parametrize(
    ("attribute", "wanted"),
    [
        pytest.param("waiting", "approve\\?", id="interrupt"),
        pytest.param("breaking", "it stopped before last", id="breakpoint"),
        pytest.param("breaking_before", r"it has a breakpoint \(interrupt_before\) and stopped there .*", id="without-a-state"),
        pytest.param("breaking_after", r"it has a breakpoint \(interrupt_after\) and stopped there .*", id="after-a-node"),
    ],
)
def test_a_graph_that_waits_has_no_answer(
    started: Started, attribute: str, wanted: str, config: dict[str, Any], call: str
) -> None:
    with pytest.raises(RuntimeError, match=f"^the graph waits for input: {wanted}$"):
        started(attribute, inputKey="question", call=call, **config)("Bern or Basel?")
    assert started("finishing", inputKey="question", call=call, outputKey="answer")("Bern or Basel?").output == "done"


@pytest.mark.parametrize("call", ["ainvoke", "invoke"])
def test_a_breakpoint_that_the_skill_itself_went_on_from_is_none(started: Started, call: str) -> None:
    assert started("resumed", call=call, outputKey="answer")("Bern or Basel?").output == "done"
