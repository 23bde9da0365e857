"""A judge that a caller hands over: a client of OpenAI's, a chat model of LangChain's, or what works like one of them."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from eval_skills.core.config.judging import JudgeOptions
from eval_skills.core.errors import InputError
from eval_skills.scorers.judging.budget import RunLimits
from eval_skills.scorers.judging.errors import ProviderError, answered_within
from eval_skills.scorers.judging.judge import Judge
from eval_skills.scorers.judging.model import JudgeModel
from eval_skills.scorers.judging.provider import Form, ModelCall, ModelReply, Transport
from eval_skills.scorers.judging.waiting import somebody_waits

_SCHEMA_NAME = "score"
_DESCRIPTION = "How the trajectory was judged, and why"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenModel(JudgeModel):
    """The model behind a caller's object: its address, key and temperature are the object's own, its list price is unknown."""

    @property
    def names_its_provider(self) -> bool:
        return True

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        if self.input_price is None or self.output_price is None:
            return None
        return (prompt_tokens * self.input_price + completion_tokens * self.output_price) / 1_000_000

    def first_form(self) -> Form:
        return "schema"


def given_judge(judge: object, model: str | None, options: JudgeOptions) -> Judge:
    """A judge that asks the object: whatever has ``chat.completions.create`` (OpenAI's clients, synchronous or not; `model` is
    then needed) or ``with_structured_output`` and ``invoke`` (LangChain's chat models).

    Retries, time limit and prices are those of `options`; nothing is cached, since it is not known what the object depends on.

    Raises:
        InputError: it is neither, or a client comes without the name of a model.
    """
    ask = _asker(judge)
    named = model or _own_name(judge)
    if ask is _ask_client and model is None:
        raise InputError("the judge is a client, and a client has many models; name one with model=", path="model")
    llm = options.llm
    asked = GivenModel(name=named, timeout_s=llm.timeout_ms / 1000, input_price=llm.input_price, output_price=llm.output_price)

    async def complete(call: ModelCall, timeout_s: float) -> ModelReply:
        async with answered_within(timeout_s, call.model):
            return await ask(judge, call)

    limits = RunLimits(options.model_copy(update={"no_judge_cache": True}))
    return Judge(limits, asked, Transport(complete, lambda: None))


def _asker(judge: object) -> Callable[[Any, ModelCall], Awaitable[ModelReply]]:
    if callable(getattr(getattr(getattr(judge, "chat", None), "completions", None), "create", None)):
        return _ask_client
    if callable(getattr(judge, "with_structured_output", None)) and callable(getattr(judge, "invoke", None)):
        return _ask_chat_model
    known = "give a client of OpenAI's, a chat model of LangChain's, or what works like one of them"
    if isinstance(judge, str):
        raise InputError(f"{judge!r} is the name of a model; give it as model=, or hand over an object", path="judge")
    raise InputError(f"cannot ask {type(judge).__name__!r} objects; {known}", path="judge")


def _own_name(judge: object) -> str:
    """The model's name as LangChain's classes have it, else that of the class."""
    names = (getattr(judge, attribute, None) for attribute in ("model_name", "model"))
    return next((name for name in names if isinstance(name, str) and name), type(judge).__name__)


async def _ask_client(judge: Any, call: ModelCall) -> ModelReply:
    arguments: dict[str, Any] = {"model": call.model, "messages": call.messages}
    if call.form == "schema":
        described = {"name": _SCHEMA_NAME, "strict": True, "schema": call.schema}
        arguments["response_format"] = {"type": "json_schema", "json_schema": described}
    elif call.form == "object":
        arguments["response_format"] = {"type": "json_object"}
    reply = await _called(judge.chat.completions.create, **arguments)
    choices = _part(reply, "choices")
    if not choices:
        raise ProviderError(f"{call.model} answered without choices", code="JUDGE_UNAVAILABLE", again=True)
    message, usage = _part(choices[0], "message"), _part(reply, "usage")
    return ModelReply(
        text=_text(_part(message, "content")),
        finish=_text(_part(choices[0], "finish_reason")),
        refusal=_text(_part(message, "refusal")),
        has_calls=any(_part(message, name) for name in ("tool_calls", "function_call")),
        prompt_tokens=_count(_part(usage, "prompt_tokens")),
        completion_tokens=_count(_part(usage, "completion_tokens")),
    )


async def _ask_chat_model(judge: Any, call: ModelCall) -> ModelReply:
    if call.form != "schema":
        return _message_of(await _invoked(judge, call))
    described = {"title": _SCHEMA_NAME, "description": _DESCRIPTION, **call.schema}
    try:
        bound = judge.with_structured_output(described)
    except NotImplementedError as error:  # then the words of the prompt ask for the form
        raise ProviderError(str(error), code="JUDGE_REQUEST", sent=False) from None
    return _message_of(await _invoked(bound, call))


async def _invoked(model: Any, call: ModelCall) -> Any:
    """What the model returns; whoever waits on a thread has it asked on one, as the connections of the two ways differ."""
    asynchronous = getattr(model, "ainvoke", None)
    if asynchronous is None or somebody_waits():
        return await _called(model.invoke, call.messages)
    return await asynchronous(call.messages)


async def _called(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    result = await asyncio.to_thread(function, *arguments, **named)
    return await result if inspect.isawaitable(result) else result


def _message_of(reply: Any) -> ModelReply:
    """The reply of a chat model: an object of the schema (None where it gave none), or a message."""
    if reply is None:
        return ModelReply()
    if isinstance(reply, Mapping) and "content" not in reply:
        return ModelReply(text=json.dumps(reply, default=str))
    if (content := _part(reply, "content")) is None and callable(dump := getattr(reply, "model_dump_json", None)):
        return ModelReply(text=dump())
    usage = _part(reply, "usage_metadata")
    read, written = _count(_part(usage, "input_tokens")), _count(_part(usage, "output_tokens"))
    return ModelReply(
        text=_text(content),
        finish=_text(_part(_part(reply, "response_metadata"), "finish_reason")),
        refusal=_text(_part(_part(reply, "additional_kwargs"), "refusal")),
        has_calls=bool(_part(reply, "tool_calls")),
        prompt_tokens=read,
        completion_tokens=written,
    )


def _part(whole: Any, name: str) -> Any:
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name, None)


def _text(value: Any) -> str | None:
    """A text, or the texts of a list of blocks."""
    if isinstance(value, list):
        return "".join(block if isinstance(block, str) else str(_part(block, "text") or "") for block in value)
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
