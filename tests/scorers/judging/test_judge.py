"""How a model is asked: its client, the form of its reply, and its turn."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.errors import JudgeError
from eval_skills.core.llm import load
from eval_skills.core.rate_limits.services import Caller, Turn
from eval_skills.scorers.judging import provider
from tests.scorers.judging.asking import PRICED, Settings, asked, code_of, question
from tests.scripted_model import Says, ScriptedModel, failure, verdict


async def test_a_model_that_does_not_know_schemas_is_asked_in_words_from_then_on(
    model: ScriptedModel, settings: Settings
) -> None:
    model.script(failure(400, "response_format: json_schema is not supported"), failure(400, "nor json_object"))
    judges = settings().judges
    await asked(judges)
    await asked(judges, "43")
    forms = [request.body.get("response_format", {}).get("type") for request in model.asked]
    assert forms == ["json_schema", "json_object", None, None]
    assert '"score"' in model.asked[-1].prompt, "the words say what form the reply has"


CALLED = {"name": "verdict", "arguments": '{"reasoning": "r", "score": 1}'}
VERDICT = '{"reasoning": "r", "score": 1}'


@pytest.mark.parametrize("content", [None, VERDICT])
@pytest.mark.parametrize(
    "calls", [{"tool_calls": [{"id": "1", "type": "function", "function": CALLED}]}, {"function_call": CALLED}], ids=list
)
async def test_p86_a_call_of_a_tool_is_no_verdict(
    model: ScriptedModel, settings: Settings, content: str | None, calls: dict[str, Any]
) -> None:
    message = {"role": "assistant", "content": content, **calls}
    model.otherwise = Says(body=json.dumps({"choices": [{"message": message, "finish_reason": next(iter(calls))}]}).encode())
    assert (await code_of(settings().judges), len(model.asked)) == ("JUDGE_UNREADABLE", 3)
    assert "it called a tool" in model.asked[-1].prompt


async def test_without_a_call_the_reason_to_stop_changes_nothing(model: ScriptedModel, settings: Settings) -> None:
    model.otherwise = Says(VERDICT, finish="tool_calls")
    assert (await asked(settings().judges)).reply.reasoning == "r"


def test_a_refusal_is_found_where_earlier_versions_of_the_library_keep_it() -> None:
    message = load().Message(content="x", provider_specific_fields={"refusal": "I cannot"})
    assert provider._refusal(message) == "I cannot"


@pytest.mark.parametrize("content", [None, VERDICT])
async def test_a_refusal_is_told_in_the_models_words_and_not_asked_for_again(
    model: ScriptedModel, settings: Settings, content: str | None
) -> None:
    message = {"role": "assistant", "content": content, "refusal": "I cannot help with that"}
    model.otherwise = Says(body=json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode())
    with pytest.raises(JudgeError, match="refused to reply: I cannot help with that") as caught:
        await asked(settings().judges)
    assert (caught.value.code, len(model.asked)) == ("JUDGE_REFUSED", 1)


async def test_a_model_without_a_provider_is_told_how_to_be_written(settings: Settings) -> None:
    with pytest.raises(JudgeError, match="write PROVIDER/MODEL, such as openai/nonsense"):
        await settings({"model": "nonsense"}).judges.judge().ask(question())


async def test_every_request_waits_for_its_turn_at_the_rate_limit(model: ScriptedModel, settings: Settings) -> None:
    waited: list[str] = []

    async def turn(name: str) -> None:
        waited.append(name)

    judges = settings().judges
    judges.before_request = turn
    model.script(verdict(7))
    await asked(judges)
    assert waited == ["openai/scripted"] * 2


async def test_waiting_for_a_turn_after_a_reply_that_cannot_be_read_takes_no_time_from_the_question(
    model: ScriptedModel, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    until: list[object] = []

    async def turn(caller: Caller, is_over: Callable[[], bool] | None = None) -> Turn:
        until.append(is_over)
        return Turn(caller, 0.0, waited=False)

    monkeypatch.setattr(Caller, "turn", turn)
    model.script(verdict(7))
    await asked(settings().judges)
    assert until == [None, None]


@pytest.mark.parametrize(
    ("read", "written"),
    [
        pytest.param(-1_000_000, -20, id="negative"),
        pytest.param(100, -20, id="one-of-them"),
        pytest.param(10**30, 20, id="absurd"),
    ],
)
async def test_tokens_that_are_none_leave_the_cost_unknown(
    model: ScriptedModel, settings: Settings, read: int, written: int
) -> None:
    usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    model.otherwise = Says({"reasoning": "as asked", "score": 1.0}, usage=usage)
    judges = settings(PRICED, max_judge_cost=1.0).judges
    assert (await asked(judges)).reply.reasoning == "as asked"
    assert (judges.total.asked, judges.total.tokens, judges.total.cost_usd) == (1, None, None)
    assert judges.budget.spent_usd == pytest.approx(0.1), "all that was reserved"
