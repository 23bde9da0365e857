"""One turn of the agent's model, through litellm; besides the judges' provider no other file imports that."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from importlib import import_module
from inspect import isawaitable
from time import time
from typing import Any

from eval_skills.core.errors import InfraError, ItemError, SkillError, SkillUnavailable
from eval_skills.core.text import one_line

ANY_KEY = "none"
"""The key that a server of one's own gets where none was named: never one that the environment holds for a provider."""

REQUEST_S = 3600.0
"""How long a request may take for the client library; the time limit of the item ends it before."""

_PREFIX = re.compile(r"^(litellm\.)?\w*(Error|Exception|Timeout)\s*[:-]\s*", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit balance|payment", re.IGNORECASE)
_NOT_CONNECTED = frozenset({"ConnectError", "ConnectTimeout", "ClientConnectorError", "ClientConnectorDNSError"})
"""Exceptions of httpx and aiohttp: the library reports 500 also where no server answered."""

_SHOWN_CHARS = 240


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
    litellm = await asyncio.to_thread(load)
    key = turn.key or (ANY_KEY if turn.base_url else None)
    address = {"api_base": turn.base_url, "api_key": key}
    try:
        reply = await litellm.acompletion(
            model=turn.model,
            messages=list(turn.messages),
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


@cache
def load() -> Any:
    """litellm, imported on first use (seconds), set to fetch nothing, read no ``.env`` and print nothing."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it loads the .env of the folders above its installation
    with warnings.catch_warnings():  # where warnings are errors, one about its own types would be a failure of its first answer
        warnings.simplefilter("ignore")
        import litellm

        litellm.ModelResponse()
    import_module("openai.resources.chat")  # with which it asks every server of OpenAI's protocol
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm


async def close_clients() -> None:
    """Close the connections of the running event loop, which the client library keeps by the number of the loop."""
    if "litellm" not in sys.modules:
        return
    clients = load().in_memory_llm_clients_cache.cache_dict
    here = f"-{id(asyncio.get_running_loop())}"
    for key in [key for key in clients if str(key).endswith(here)]:
        client = clients.pop(key)
        if (close := getattr(client, "close", None)) is not None and isawaitable(closing := close()):
            await closing


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
        text=message.content or None,
        calls=calls,
        finish=reply.choices[0].finish_reason,
        message=_repeated(message, calls),
        prompt_tokens=prompt if known else None,
        completion_tokens=completion if known else None,
        cost_usd=float(cost) if cost is not None and known else None,
    )


def _repeated(message: Any, calls: Sequence[AskedCall]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": message.content or ""}
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
    said = _said(error)
    if type(error).__name__ == "ContextWindowExceededError" or status == 413:
        return SkillError(f"what was said and done is too long for {model}: {said}")
    where = turn.base_url or f"the provider of {model}"
    if _names_of_causes(error) & _NOT_CONNECTED:
        return SkillUnavailable(f"could not connect to {where}, the model of the agent")
    if status in (401, 403):
        return InfraError(f"{model} refused access (HTTP {status}: {said}); is the key in adapterConfig.apiKeyEnv right?")
    if status == 402 or (status == 429 and _QUOTA.search(said)):
        return InfraError(f"the quota of {model} is used up: {said}")
    if status == 404:
        return InfraError(f"there is no model {model} at this address (HTTP 404: {said}); check adapterConfig.model and baseUrl")
    if "LLM Provider NOT provided" in said:
        return InfraError(f"adapterConfig.model {model!r} names no provider; write PROVIDER/MODEL, such as openai/{model}")
    if status in (408, 409, 429, 529) or (status is not None and status >= 500):
        return SkillUnavailable(f"{model} is not available (HTTP {status}: {said})", retry_after_s=_retry_after(error))
    return InfraError(f"{model} does not take this request ({f'HTTP {status}: ' if status else ''}{said})")


def _names_of_causes(error: BaseException) -> set[str]:
    names, each = set[str](), error
    while each is not None and type(each).__name__ not in names:
        names.add(type(each).__name__)
        following = each.__cause__ or each.__context__
        if following is None:
            break
        each = following
    return names


def _said(error: Exception) -> str:
    text = str(getattr(error, "message", "") or error)
    while (shorter := _PREFIX.sub("", text.lstrip())) != text:
        text = shorter
    return one_line(text, _SHOWN_CHARS) or type(error).__name__


def _retry_after(error: Exception) -> float | None:
    headers = getattr(error, "litellm_response_headers", None) or getattr(getattr(error, "response", None), "headers", None) or {}
    text = str(headers.get("retry-after") or headers.get("Retry-After") or "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except ValueError:
        return None
