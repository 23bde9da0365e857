"""One request to a model through litellm; no other file imports that."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from eval_skills.core.llm import ANY_KEY, load, load_with_openai
from eval_skills.scorers.judging.errors import ProviderError, answered_within
from eval_skills.scorers.judging.prompt import Message

Form = Literal["schema", "object", "text"]
"""How the form of the reply is asked for: by JSON schema, as any JSON object, or by the words of the prompt alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A request. `api_base` None: the provider's own address; `key` None: the provider's usual variable."""

    model: str
    api_base: str | None
    key: str | None
    messages: list[Message]
    schema: dict[str, Any]
    form: Form
    temperature: float
    seed: int
    max_tokens: int

    @property
    def texts(self) -> tuple[str, ...]:
        """What the model reads."""
        return tuple(str(message["content"]) for message in self.messages)

    def in_form(self, form: Form) -> ModelCall:
        """The same request in another form."""
        return replace(self, form=form)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingCall:
    """A request for the vector of one text; `api_base` and `key` as in `ModelCall`."""

    model: str
    api_base: str | None
    key: str | None
    text: str

    max_tokens: ClassVar[int] = 0

    @property
    def texts(self) -> tuple[str, ...]:
        """What the model reads."""
        return (self.text,)


MAX_TOKENS = 10**9
"""More tokens than one request can have: what is counted beyond it is a mistake."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's answer; None is unknown. Where a count of tokens is none (negative, a fraction, absurdly large), none is
    known, nor is the cost. `finish` is the provider's reason to stop: ``stop``, ``length``, ``content_filter`` ….
    `refusal` is the text with which the model declined to reply, `has_calls` says whether it called tools, `vector` is the
    embedding where one was asked for, `headers` are those of the response.
    """

    text: str | None = None
    finish: str | None = None
    refusal: str | None = None
    has_calls: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    vector: tuple[float, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not (_is_count(self.prompt_tokens) and _is_count(self.completion_tokens)):
            for name in ("prompt_tokens", "completion_tokens", "cost_usd"):
                object.__setattr__(self, name, None)

    @property
    def tokens(self) -> int | None:
        """Read and written."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens


def _is_count(tokens: object) -> bool:
    """Whether it may be a number of tokens, or unknown."""
    return tokens is None or (isinstance(tokens, int) and not isinstance(tokens, bool) and 0 <= tokens <= MAX_TOKENS)


async def complete(call: ModelCall, timeout_s: float) -> ModelReply:
    """Make one request, once: nothing is retried here, and data that arrives slowly does not extend the time limit.

    Raises:
        ProviderError: there is no reply.
    """
    litellm = await asyncio.to_thread(load)
    return _read(await _answered(litellm.acompletion, call, _arguments(call), timeout_s), call.model)


async def embed(call: EmbeddingCall, timeout_s: float) -> ModelReply:
    """Ask once for the vector of a text; likewise.

    Raises:
        ProviderError: there is no reply, or no vector in it.
    """
    litellm = await asyncio.to_thread(load)
    arguments = {"model": call.model, "input": [call.text], "encoding_format": "float", **_address(call)}
    reply = await _answered(litellm.aembedding, call, arguments, timeout_s)
    counted = _counted(reply)
    data = getattr(reply, "data", None) or [{}]
    vector: Any = data[0].get("embedding") if isinstance(data[0], dict) else getattr(data[0], "embedding", None)
    try:
        numbers = tuple(map(float, vector))
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        raise ProviderError(f"{call.model} answered without a vector", code="JUDGE_UNAVAILABLE", again=True, reply=counted)
    return replace(counted, vector=numbers)


async def _answered(
    ask: Callable[..., Awaitable[Any]], call: ModelCall | EmbeddingCall, arguments: dict[str, Any], timeout_s: float
) -> Any:
    async with answered_within(timeout_s, call.model, call.api_base):
        return await ask(**arguments, timeout=timeout_s, max_retries=0, drop_params=True)


def list_price(model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
    """What so many tokens cost at list price, in USD; None: the price is not known."""
    try:
        prompt, completion = load().cost_per_token(model=model, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
    except Exception:  # noqa: BLE001 - it raises a bare Exception for a model that it has no price of
        return None
    return float(prompt) + float(completion)


def has_provider(model: str, api_base: str | None = None) -> bool:
    """Whether the client library finds a provider and a model in a name."""
    try:
        return bool(load().get_llm_provider(model, api_base=api_base)[0].strip())
    except Exception:  # noqa: BLE001 - any failure to read a name; nothing else is done here
        return False


def knows_schemas(model: str) -> bool:
    """Whether the model is known to hold to a JSON schema."""
    return bool(load().supports_response_schema(model=model))


@dataclass(frozen=True, slots=True)
class Transport:
    """How requests reach a model: `complete` makes one within so many seconds, once, and raises `ProviderError` where there is no
    reply; `warm_up` runs before the first, in a thread. Vectors are asked for through litellm in any case.
    """

    complete: Callable[[ModelCall, float], Awaitable[ModelReply]]
    warm_up: Callable[[], None]

    async def answer(self, call: ModelCall | EmbeddingCall, timeout_s: float) -> ModelReply:
        """The reply to either kind of request."""
        return await (embed(call, timeout_s) if isinstance(call, EmbeddingCall) else self.complete(call, timeout_s))


LITELLM = Transport(lambda call, timeout_s: complete(call, timeout_s), load_with_openai)
"""Any provider, by the name of the model; the functions are looked up when they are called."""


def _arguments(call: ModelCall) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": call.model,
        "messages": call.messages,
        "temperature": call.temperature,
        "max_tokens": call.max_tokens,
        **_address(call),
    }
    if call.form != "text":  # the plainest request is the last resort
        arguments["seed"] = call.seed
    if call.form == "schema":
        described = {"name": "verdict", "strict": True, "schema": call.schema}
        arguments["response_format"] = {"type": "json_schema", "json_schema": described}
    elif call.form == "object":
        arguments["response_format"] = {"type": "json_object"}
    return arguments


def _address(call: ModelCall | EmbeddingCall) -> dict[str, Any]:
    address = {} if call.api_base is None else {"api_base": call.api_base}
    key = call.key or (ANY_KEY if call.api_base else None)
    return address if key is None else address | {"api_key": key}


def _counted(reply: Any) -> ModelReply:
    """What was read and written, and what it cost."""
    usage = getattr(reply, "usage", None)
    prompt, completion = (getattr(usage, name, None) or 0 for name in ("prompt_tokens", "completion_tokens"))
    known = bool(prompt or completion)  # a server that does not count says zero, or nothing
    cost = reply._hidden_params.get("response_cost")
    return ModelReply(
        prompt_tokens=prompt if known else None,
        completion_tokens=completion if known else None,
        cost_usd=float(cost) if cost is not None and known else None,
        headers=reply._hidden_params.get("additional_headers") or {},
    )


def _read(reply: Any, model: str) -> ModelReply:
    counted = _counted(reply)
    if not reply.choices:
        raise ProviderError(f"{model} answered without choices", code="JUDGE_UNAVAILABLE", again=True, reply=counted)
    choice = reply.choices[0]
    return replace(
        counted,
        text=choice.message.content,
        finish=choice.finish_reason,
        refusal=_refusal(choice.message),
        has_calls=any(getattr(choice.message, name, None) for name in ("tool_calls", "function_call")),
    )


def _refusal(message: Any) -> str | None:
    """Earlier versions of the library keep it with what only some providers say."""
    fields = getattr(message, "provider_specific_fields", None) or {}
    return getattr(message, "refusal", None) or fields.get("refusal") or None
