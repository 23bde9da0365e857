"""What was meant as an envelope and is none by one slip is refused, with the calls that it tells of; the rest is a bare value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.adapters.answer.envelope import read_answer
from eval_skills.core.errors import ContractError
from eval_skills.core.models import Skill, SkillResponse
from tests.adapters.wire import PATIENCE_S
from tests.tables import each_row

MakeSkill = Callable[..., Skill]

CALLS = [{"name": "pay", "arguments": {"n": 5}}]
MESSAGES = [{"role": "assistant", "content": "paying"}]


def names_of(known: SkillResponse | None) -> list[str]:
    return [call.name for call in (known and known.tool_calls) or []]


@pytest.mark.parametrize("key", ["tool_calls", "toolCals", "toolcalls", "ToolCalls", "tool-calls", "toolCall"])
@pytest.mark.parametrize("output", [{"output": "paid"}, {}], ids=["output", "no-output"])
def test_misspelt_calls_are_refused_and_known(key: str, output: dict[str, Any]) -> None:
    with pytest.raises(ContractError, match=rf"^unknown key '{key}' of an envelope \(did you mean 'toolCalls'\?\)$") as caught:
        read_answer({**output, key: CALLS, "costUsd": 0.5})
    assert names_of(caught.value.known) == ["pay"]
    assert caught.value.known is not None
    assert caught.value.known.cost_usd == 0.5


@each_row(
    ("answer", "meant"),
    [
        ({"output": 1, "message": MESSAGES}, "messages"),
        ({"output": 1, "cost_usd": 0.5}, "costUsd"),
        ({"output": 1, "costUSD": 1}, "costUsd"),
        ({"output": 1, "usages": {"promptTokens": 1}}, "usage"),
        ({"output": 1, "meta_data": {}}, "metadata"),
        ({"ouput": 1, "toolCalls": CALLS}, "output"),
        ({"Output": 1, "messages": MESSAGES}, "output"),
        ({"output": 1, "tool_calls": [{"tool": "pay"}]}, "toolCalls"),
    ],
)
def test_any_key_of_an_envelope_may_be_the_misspelt_one(answer: dict[str, Any], meant: str) -> None:
    with pytest.raises(ContractError, match=rf"of an envelope \(did you mean '{meant}'\?\)$"):
        read_answer(answer)


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        ({"toolCalls": CALLS}, "toolCalls"),
        ({"messages": MESSAGES, "usage": None}, "messages"),
        ({"messages": MESSAGES, "toolCalls": CALLS, "metadata": {}}, "toolCalls and messages"),
    ],
)
def test_calls_or_messages_without_an_output_are_refused(answer: dict[str, Any], seen: str) -> None:
    with pytest.raises(ContractError, match=rf"^the answer has {seen} but no output; .*null where there is none") as caught:
        read_answer(answer)
    assert caught.value.known is not None
    assert (names_of(caught.value.known), caught.value.known.messages) == (
        ["pay"] if "toolCalls" in answer else [],
        answer.get("messages"),
    )


def test_calls_under_both_spellings_are_all_known() -> None:
    with pytest.raises(ContractError, match="'tool_calls'") as caught:
        read_answer({"output": 1, "toolCalls": [{"name": "look"}], "tool_calls": CALLS})
    assert names_of(caught.value.known) == ["look", "pay"]


@each_row(
    "answer",
    [
        {"output": 3, "message": "ok"},
        {"output": 3, "message": [{"text": "ok"}]},
        {"output": 3, "outputs": 4},
        {"output": 3, "cost_usd": "much"},
        {"output": 3, "cost_usd": True},
        {"output": 3, "tool_calls": 2},
        {"output": 3, "tool_calls": []},
        {"output": 3, "tools": [{"name": "hammer"}]},
        {"output": 3, "tool_calls": CALLS, "confidence": 0.9},
        {"result": 3, "toolCalls": CALLS},
        {"outputs": 3, "usage": {}},
        {"usage": {}, "metadata": {}},
        {"toolCalls": [], "messages": []},
        {"toolCalls": "none", "messages": ["hi"]},
        {"messages": [{"to": "bob", "text": "hi"}]},
        {},
    ],
)
def test_what_is_no_slip_stays_a_bare_value(answer: dict[str, Any]) -> None:
    assert read_answer(answer) == SkillResponse(output=answer)


async def test_a_skill_with_a_misspelt_key_ends_in_an_error_that_knows_its_calls(python_skill: MakeSkill) -> None:
    code = "def run(value):\n    return {'output': value, 'tool_calls': [{'name': 'pay'}]}\n"
    async with open_adapter(python_skill(code)) as adapter:
        with pytest.raises(ContractError, match="'tool_calls'") as caught:
            await adapter.call(1, PATIENCE_S)
    assert names_of(caught.value.known) == ["pay"]
