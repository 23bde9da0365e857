"""Judges that a caller hands over: OpenAI's real clients against a server on loopback, and LangChain's classes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel, FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from openai import AsyncOpenAI, OpenAI
from pydantic import Field

from eval_skills.core.errors import JudgeError
from eval_skills.scorers.judging.waiting import wait_for
from eval_skills.scorers.trajectory import create_async_trajectory_llm_as_judge, create_trajectory_llm_as_judge
from tests.scorers.judging.judged_trajectories import OUTPUTS, reply
from tests.scripted_model import ScriptedModel, failure
from tests.tables import each_row


class Structured(BaseChatModel):
    """A chat model that replies as `replies` say, to whoever binds a schema to it."""

    replies: list[Any]
    asked: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "structured"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("not structured"))])

    def with_structured_output(self, schema: Any, **_: Any) -> Any:
        def answer(messages: list[dict[str, Any]]) -> Any:
            self.asked.append((schema, messages))
            return self.replies.pop(0)

        return RunnableLambda(answer)


def of(model: ScriptedModel) -> dict[str, Any]:
    """How a client reaches the server."""
    return {"base_url": model.url, "api_key": "of the client", "max_retries": 0}


@pytest.fixture
def client(model: ScriptedModel) -> Iterator[OpenAI]:
    with OpenAI(**of(model)) as opened:
        yield opened


def test_openais_client_is_asked_with_its_own_key(model: ScriptedModel, client: OpenAI) -> None:
    model.script(reply())
    result = create_trajectory_llm_as_judge(judge=client, model="openai:gpt-x")(outputs=OUTPUTS)
    assert result == {
        "key": "trajectory_accuracy",
        "score": True,
        "comment": "straight on",
        "metadata": {"model": "gpt-x", "cached": False, "replies": 1, "truncated": {}},
    }
    [asked] = model.asked
    assert asked.headers["authorization"] == "Bearer of the client"
    assert asked.body.keys() == {"model", "messages", "response_format"}
    assert asked.body["model"] == "gpt-x"
    assert asked.body["response_format"]["json_schema"]["schema"]["required"] == ["reasoning", "score"]
    assert "Weather in Oslo?" in asked.prompt


async def test_the_asynchronous_client(model: ScriptedModel) -> None:
    model.script(reply(0.25))
    async with AsyncOpenAI(**of(model)) as client:
        judge = create_async_trajectory_llm_as_judge(judge=client, model="gpt-x", continuous=True)
        assert (await judge(outputs=OUTPUTS))["score"] == 0.25


def test_either_client_serves_either_factory(model: ScriptedModel) -> None:
    model.script(reply())
    client = AsyncOpenAI(**of(model))
    judge = create_trajectory_llm_as_judge(judge=client, model="gpt-x")
    assert judge(outputs=OUTPUTS)["score"] is True
    wait_for(client.close())


def test_equal_questions_are_asked_again(model: ScriptedModel, client: OpenAI) -> None:
    model.script(reply(True), reply(False))
    judge = create_trajectory_llm_as_judge(judge=client, model="gpt-x")
    assert [judge(outputs=OUTPUTS)["score"] for _ in range(2)] == [True, False]


def test_a_reply_that_does_not_fit_is_asked_for_again(model: ScriptedModel, client: OpenAI) -> None:
    model.script(reply("yes"), reply(True))
    result = create_trajectory_llm_as_judge(judge=client, model="gpt-x")(outputs=OUTPUTS)
    assert (result["score"], (result["metadata"] or {})["replies"]) == (True, 2)


def test_a_client_that_is_refused_is_an_error_and_no_score(model: ScriptedModel, client: OpenAI) -> None:
    model.script(failure(401, "bad key"))
    with pytest.raises(JudgeError, match=r"gpt-x refused access \(HTTP 401"):
        create_trajectory_llm_as_judge(judge=client, model="gpt-x")(outputs=OUTPUTS)


def test_a_server_that_knows_no_schemas_is_asked_in_a_plainer_form(model: ScriptedModel, client: OpenAI) -> None:
    model.script(failure(400, "response_format is not supported"), reply())
    assert create_trajectory_llm_as_judge(judge=client, model="gpt-x")(outputs=OUTPUTS)["score"] is True
    assert [each.body["response_format"]["type"] for each in model.asked] == ["json_schema", "json_object"]


def test_langchains_chat_models_are_bound_to_the_schema() -> None:
    chat = Structured(replies=[{"reasoning": "good", "score": True}])
    result = create_trajectory_llm_as_judge(judge=chat)(outputs=OUTPUTS)
    assert (result["score"], result["comment"], (result["metadata"] or {})["model"]) == (True, "good", "Structured")
    [(schema, messages)] = chat.asked
    assert (schema["title"], schema["required"]) == ("score", ["reasoning", "score"])
    assert "7 degrees" in messages[-1]["content"]


async def test_langchains_chat_models_asynchronously() -> None:
    chat = Structured(replies=[None, {"reasoning": "half", "score": 0.5}])  # the first reply called no tool
    judge = create_async_trajectory_llm_as_judge(judge=chat, choices=[0, 0.5, 1])
    assert (await judge(outputs=OUTPUTS))["score"] == 0.5
    assert len(chat.asked) == 2


def test_a_chat_model_without_structured_output_is_asked_in_words() -> None:
    chat = FakeListChatModel(responses=[json.dumps({"reasoning": "in words", "score": False})])
    result = create_trajectory_llm_as_judge(judge=chat)(outputs=OUTPUTS)
    assert (result["score"], result["comment"]) == (False, "in words")


SAID = '{"reasoning": "good", "score": true}'
CALL = {"name": "look", "args": {}, "id": "1"}


@each_row(
    ("message", "error"),
    [
        pytest.param({"additional_kwargs": {"refusal": "I cannot"}}, "I cannot", id="refused"),
        pytest.param(
            {"tool_calls": [CALL], "response_metadata": {"finish_reason": "tool_calls"}}, "called a tool", id="called-a-tool"
        ),
        pytest.param({"response_metadata": {"finish_reason": "length"}}, "cut off because it was too long", id="cut-off"),
    ],
)
def test_a_chat_models_verdict_beside_a_refusal_or_a_call_does_not_count(message: dict[str, Any], error: str) -> None:
    chat = FakeMessagesListChatModel(responses=[AIMessage(SAID, **message)])
    with pytest.raises(JudgeError, match=error):
        create_trajectory_llm_as_judge(judge=chat)(outputs=OUTPUTS)


@each_row(
    ("message", "finish", "error"),
    [
        pytest.param({"refusal": "I cannot"}, "stop", "I cannot", id="refused"),
        pytest.param({"tool_calls": [{"id": "1"}]}, "tool_calls", "called a tool", id="called-a-tool"),
        pytest.param({"function_call": {"name": "look"}}, "function_call", "called a tool", id="called-a-function"),
    ],
)
def test_a_clients_verdict_beside_a_refusal_or_a_call_does_not_count(message: dict[str, Any], finish: str, error: str) -> None:
    said = {"choices": [{"message": {"content": SAID, **message}, "finish_reason": finish}]}
    own = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=lambda **_: said)))
    with pytest.raises(JudgeError, match=error):
        create_trajectory_llm_as_judge(judge=own, model="mine")(outputs=OUTPUTS)


def test_a_client_that_is_done_has_given_its_verdict_also_where_the_form_was_kept_by_a_call() -> None:
    said = {"choices": [{"message": {"content": SAID, "tool_calls": [{"id": "1"}]}, "finish_reason": "stop"}]}
    own = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=lambda **_: said)))
    assert create_trajectory_llm_as_judge(judge=own, model="mine")(outputs=OUTPUTS)["score"] is True


def test_what_works_like_a_client_is_one() -> None:
    said = {"choices": [{"message": {"content": '{"score": true}'}, "finish_reason": "stop"}]}
    own = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=lambda **_: said)))
    assert create_trajectory_llm_as_judge(judge=own, model="mine", use_reasoning=False)(outputs=OUTPUTS)["score"] is True


def test_a_budget_needs_a_price(model: ScriptedModel, client: OpenAI) -> None:
    model.otherwise = reply()
    options: dict[str, Any] = {"judge": client, "model": "gpt-x"}
    with pytest.raises(JudgeError, match="the price of this model is not known"):
        create_trajectory_llm_as_judge(**options, settings={"maxJudgeCost": 1})(outputs=OUTPUTS)
    priced = {"maxJudgeCost": 1, "llm": {"inputPrice": 1, "outputPrice": 2}}
    assert create_trajectory_llm_as_judge(**options, settings=priced)(outputs=OUTPUTS)["score"] is True


@each_row(
    ("options", "message"),
    [
        pytest.param({"judge": "openai:o3-mini"}, "judge: 'openai:o3-mini' is the name of a model; give it as model=", id="name"),
        pytest.param({"judge": object()}, "judge: cannot ask 'object' objects; give a client of OpenAI's", id="object"),
        pytest.param({"judge": OpenAI(api_key="k")}, "model: the judge is a client, .* name one with model=", id="no-model"),
    ],
)
def test_p02_what_cannot_be_asked_is_refused_by_the_factory(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        create_trajectory_llm_as_judge(**options)
