"""One turn of the agent's model, through litellm."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eval_skills.core.errors import InfraError, ItemError, SkillError, SkillUnavailable, causes_of
from eval_skills.core.llm import (
    ANY_KEY,
    QUOTA,
    connection_problem,
    distrust_of,
    is_too_long,
    load_with_openai,
    retry_after_s,
    said_by,
)
from eval_skills.core.messages.blocks import as_dict, refusal_in
from eval_skills.core.text import encodable

REQUEST_S = 3600.0
"""How long a request may take for the client library; the time limit of the item ends it before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A request. `base_url` None: the provider's own address; `key` None: the provider's usual variable."""

    model: str
    base_url: str | None
    key: str | None
    messages: Sequence[dict[str, Any]]
    tools: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call of a tool that the model asks for; `arguments` is JSON text, or was meant to be."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said; None is unknown. `message` is how it is repeated to it with the next turn."""

    text: str | None
    calls: tuple[AskedCall, ...]
    finish: str | None
    message: dict[str, Any]
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


async def ask(turn: Turn) -> Reply:
    """Make one request, once.

    Raises:
        ItemError: there is no reply; SkillUnavailable where another attempt may get one.
    """
    litellm = await asyncio.to_thread(load_with_openai)
    key = turn.key or (ANY_KEY if turn.base_url else None)
    address = {"api_base": turn.base_url, "api_key": key}
    try:
        reply = await litellm.acompletion(
            model=turn.model,
            messages=[_encodable(message) for message in turn.messages],
            tools=list(turn.tools),
            timeout=REQUEST_S,
            max_retries=0,
            drop_params=True,
            **{name: value for name, value in address.items() if value is not None},
        )
        return _read(reply, turn.model)
    except ItemError:
        raise
    except Exception as error:
        raise _error(error, turn) from error


def _encodable(part: Any) -> Any:
    """The message without halves of surrogate pairs, which a request cannot hold: they come of names of files that are not UTF-8,
    and of the model's own words."""
    if isinstance(part, str):
        return encodable(part)
    if isinstance(part, dict):
        return {name: _encodable(value) for name, value in part.items()}
    return [_encodable(each) for each in part] if isinstance(part, list) else part


def _read(reply: Any, model: str) -> Reply:
    if not reply.choices:
        raise SkillUnavailable(f"{model} answered without choices")
    message, usage = reply.choices[0].message, getattr(reply, "usage", None)
    calls = tuple(
        AskedCall(call.id or f"call-{index}", call.function.name or "", call.function.arguments or "")
        for index, call in enumerate(message.tool_calls or (), start=1)
    )
    prompt, completion = (getattr(usage, name, None) or 0 for name in ("prompt_tokens", "completion_tokens"))
    known = bool(prompt or completion)  # a server that does not count says zero, or nothing
    cost = reply._hidden_params.get("response_cost")
    return Reply(
        text=_words(message) or None,
        calls=calls,
        finish=reply.choices[0].finish_reason,
        message=_repeated(message, calls),
        prompt_tokens=prompt if known else None,
        completion_tokens=completion if known else None,
        cost_usd=float(cost) if cost is not None and known else None,
    )


def _words(message: Any) -> str:
    """What the model said, or with which words it refuses: models of OpenAI's say them beside the content."""
    return message.content or refusal_in(as_dict(message))


def _repeated(message: Any, calls: Sequence[AskedCall]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": _words(message)}
    if calls:
        said["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments or "{}"}}
            for call in calls
        ]
    if thoughts := getattr(message, "thinking_blocks", None):  # without them a provider refuses what follows
        said["thinking_blocks"] = thoughts
    return said


def _error(error: Exception, turn: Turn) -> ItemError:
    """What an exception of the client library means; decided by the HTTP status, since its classes are not reliable."""
    status, model = getattr(error, "status_code", None), turn.model
    said = said_by(error)
    if is_too_long(error):
        return SkillError(f"what was said and done is too long for {model}: {said}")
    where = turn.base_url or f"the provider of {model}"
    causes = list(causes_of(error))
    problem = connection_problem(causes)
    if problem == "untrusted":
        return InfraError(f"TLS with {where}, the model of the agent, failed: {distrust_of(causes)}")
    if problem == "unconnected":
        return SkillUnavailable(f"could not connect to {where}, the model of the agent")
    if problem == "closed":
        return SkillUnavailable(f"{where}, the model of the agent, closed the connection before it had answered")
    if status in (401, 403):
        return InfraError(f"{model} refused access (HTTP {status}: {said}); is the key in adapterConfig.apiKeyEnv right?")
    if status == 402 or (status == 429 and QUOTA.search(said)):
        return InfraError(f"the quota of {model} is used up: {said}")
    if status == 404:
        return InfraError(f"there is no model {model} at this address (HTTP 404: {said}); check adapterConfig.model and baseUrl")
    if "LLM Provider NOT provided" in said:
        return InfraError(f"adapterConfig.model {model!r} names no provider; write PROVIDER/MODEL, such as openai/{model}")
    if status in (408, 409, 429, 529) or (status is not None and status >= 500):
        return SkillUnavailable(f"{model} is not available (HTTP {status}: {said})", retry_after_s=retry_after_s(error))
    return InfraError(f"{model} does not take this request ({f'HTTP {status}: ' if status else ''}{said})")
