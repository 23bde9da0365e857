"""A request to a judging model as a span, and what it took as metrics, where traces are on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from eval_skills.core.telemetry import conventions as named
from eval_skills.core.telemetry.spans import Attributes, Telemetry, telemetry
from eval_skills.scorers.judging.errors import ProviderError
from eval_skills.scorers.judging.provider import EmbeddingCall, ModelCall, ModelReply

if TYPE_CHECKING:
    from eval_skills.scorers.judging.budget import RunLimits

_PROVIDERS = {
    "azure": "azure.ai.openai", "azure_ai": "azure.ai.inference", "bedrock": "aws.bedrock", "gemini": "gcp.gemini",
    "mistral": "mistral_ai", "vertex_ai": "gcp.vertex_ai", "xai": "x_ai", "gpt": "openai", "claude": "anthropic",
}  # fmt: skip
"""What the conventions call a provider, where they do not call it as its models are named."""


@contextmanager
def request_span(call: ModelCall | EmbeddingCall, limits: RunLimits) -> Iterator[list[ModelReply]]:
    """One request; put its reply, priced, into the list. A `ProviderError` is what it ended in."""
    replies: list[ModelReply] = []
    if (to := telemetry()) is None:
        yield replies
        return
    about = _about(call)
    names: dict[str, Any] = {name: about.get(name) for name in (named.OPERATION, named.PROVIDER, named.MODEL)}
    asked = _messages("user", call.texts, to, limits)
    span = to.start(f"{about[named.OPERATION]} {call.model}", {**about, named.INPUT_MESSAGES: asked}, kind="client")
    began, failed = perf_counter(), None
    try:
        with span.current():
            yield replies
    except ProviderError as error:
        failed = error.code
        replies += [error.reply] if error.reply is not None else []
        span.fail(failed, limits.clean(str(error)) if to.captures else None)
        raise
    except BaseException:
        failed = "interrupted"
        span.fail(failed)
        raise
    finally:
        for reply in replies:
            span.set(_of(reply, to, limits))
            _measure(to, reply, names)
        to.measure(named.OPERATION_DURATION, perf_counter() - began, {**names, named.ERROR_TYPE: failed})
        span.end()


def _about(call: ModelCall | EmbeddingCall) -> dict[str, Any]:
    address = urlsplit(call.api_base or "")
    about: dict[str, Any] = {
        named.OPERATION: "embeddings" if isinstance(call, EmbeddingCall) else "chat",
        named.PROVIDER: _provider(call.model),
        named.MODEL: call.model.partition("/")[2] or call.model,
        named.SERVER: address.hostname,
        named.PORT: address.port,
    }
    if isinstance(call, ModelCall):
        about |= {named.TEMPERATURE: call.temperature, named.MAX_TOKENS: call.max_tokens, named.SEED: call.seed}
    return about


def _provider(model: str) -> str:
    provider, slash, _ = model.partition("/")
    first = provider if slash else model.partition("-")[0]
    return _PROVIDERS.get(first, first)


def _of(reply: ModelReply, to: Telemetry, limits: RunLimits) -> Attributes:
    return {
        named.FINISH_REASONS: [reply.finish] if reply.finish else None,
        named.INPUT_TOKENS: reply.prompt_tokens,
        named.OUTPUT_TOKENS: reply.completion_tokens,
        named.COST: reply.cost_usd,
        named.OUTPUT_MESSAGES: _messages("assistant", [reply.text] if reply.text else [], to, limits),
    }


def _measure(to: Telemetry, reply: ModelReply, names: dict[str, Any]) -> None:
    for of, count in (("input", reply.prompt_tokens), ("output", reply.completion_tokens)):
        if count is not None:
            to.measure(named.TOKENS, count, {**names, named.TOKEN_TYPE: of})
    if reply.cost_usd:
        to.measure(named.SPENT, reply.cost_usd, {named.MODEL: names[named.MODEL], named.PAID_FOR: "judge"})


def _messages(role: str, texts: Any, to: Telemetry, limits: RunLimits) -> str | None:
    """The texts in the form of the conventions, where contents are captured."""
    if not to.captures or not texts:
        return None
    parts = [{"type": "text", "content": limits.clean(text)} for text in texts]
    return json.dumps([{"role": role, "parts": parts}], ensure_ascii=False)
