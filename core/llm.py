"""The client library for language models, litellm: how it is loaded and closed, and what its errors say.

Models judge (`scorers.judging`), and one is the mind of our own agent (`adapters.agent.builtin`); both ask through this.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from inspect import isawaitable
from typing import Any, Literal

from eval_skills.core.rate_limits import headers as rate_limits
from eval_skills.core.text import one_line

ANY_KEY = "none"
"""The key that a server of one's own gets where none was named: never one that the environment holds for a provider."""

QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit balance|payment", re.IGNORECASE)
"""What providers say where nothing is left to pay with."""

_PREFIX = re.compile(r"^(litellm\.)?\w*(Error|Exception|Timeout)\s*[:-]\s*", re.IGNORECASE)
SHOWN_CHARS = 240
"""So much is shown of what a provider says."""

_NEVER_AWAITED = r"coroutine '(\w+\.)?a(sync_)?(completion|embedding)' was never awaited"
"""What Python says of a request that litellm had made and not begun when the call was interrupted."""


@cache
def load() -> Any:
    """litellm, imported on first use (seconds), set to fetch nothing, read no ``.env`` and print nothing."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it loads the .env of the folders above its installation
    with warnings.catch_warnings():  # where warnings are errors, one about its own types would be a failure of its first answer
        warnings.simplefilter("ignore")
        import litellm

        litellm.ModelResponse()
        with suppress(ImportError):  # what a first request imports; earlier versions do not have it
            import_module("litellm.llms.github_copilot.per_user_auth")
    warnings.filterwarnings("ignore", _NEVER_AWAITED, RuntimeWarning)
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm


@cache
def load_with_openai() -> Any:
    """The same, with the client by which it asks every server of OpenAI's protocol, and after what its first request would import
    and do before it is sent: that counts in no model's time. Not for the thread of a running event loop; it takes one of its own.
    """
    import_module("openai.resources.chat.completions")
    question = [{"role": "user", "content": "Reply with: OK"}]
    nobody: dict[str, Any] = {"api_key": ANY_KEY, "mock_response": "OK"}
    asyncio.run(load().acompletion(model="openai/gpt-4o-mini", messages=question, **nobody))
    return load()


async def close_clients() -> None:
    """Close the connections of the running event loop; to be called before it ends.

    The client library keeps some 200 of them, for ten minutes, under keys that end with what stands for their loop: its id in
    earlier versions, which a later loop may have again, a number of its own in later ones.
    """
    if "litellm" not in sys.modules:
        return
    kept = load().in_memory_llm_clients_cache
    clients, here = kept.cache_dict, kept.update_cache_key_with_event_loop("")
    for key in [key for key in clients if str(key).endswith(here)]:
        client = clients.pop(key)
        if (close := getattr(client, "close", None)) is not None and isawaitable(closing := close()):
            await closing


def said_by(error: Exception) -> str:
    """What an error of the library says, in a line, without the names of classes before it."""
    text = str(getattr(error, "message", "") or error)
    while (shorter := _PREFIX.sub("", text.lstrip())) != text:
        text = shorter
    return one_line(text, SHOWN_CHARS) or type(error).__name__


def is_too_long(error: Exception) -> bool:
    """Whether the prompt does not fit into the model, by the class of the error, its code or its HTTP status."""
    is_large = getattr(error, "status_code", None) == 413
    return is_large or bool(_class_and_code(error) & {"ContextWindowExceededError", "context_length_exceeded"})


def is_declined(error: Exception) -> bool:
    """Whether the provider's rules forbid the prompt or the reply.

    The library looks for the code in the words of an error, which no longer have it since version 3 of OpenAI's client.
    """
    return bool(_class_and_code(error) & {"ContentPolicyViolationError", "content_policy_violation", "content_filter"})


def _class_and_code(error: Exception) -> set[str]:
    return {type(error).__name__, str(getattr(error, "code", None))}


_NOT_CONNECTED = frozenset(
    {
        "ClientConnectorError", "ClientConnectorDNSError", "ClientConnectorSSLError", "ClientConnectorCertificateError",
        "ConnectTimeout",
    }
)  # fmt: skip
_CLOSED = frozenset(
    {
        "ReadError", "WriteError", "RemoteProtocolError", "ServerDisconnectedError", "ClientPayloadError", "ClientOSError",
        "ClientConnectionResetError",
    }
)  # fmt: skip
"""Exceptions of aiohttp and httpx, with which the client library makes its requests. What aiohttp says counts: the library
repeats a reset connection as a `ConnectError` of httpx.
"""


def connection_problem(causes: Sequence[BaseException]) -> Literal["untrusted", "unconnected", "closed"] | None:
    """What happened to the connection, by an error of the library and its causes: the server's certificate is not trusted, nobody
    was reached, or the server closed it before it had answered; None: something else went wrong. The library reports HTTP 500 in
    each case.
    """
    names = {type(each).__name__ for each in causes}
    if _DISTRUSTED in names:
        return "untrusted"
    if names & _NOT_CONNECTED or ("ConnectError" in names and not names & _CLOSED):
        return "unconnected"
    return "closed" if names & _CLOSED else None


_DISTRUSTED = "SSLCertVerificationError"
_UNKNOWN_AUTHORITY = frozenset({2, 18, 19, 20, 21})
"""OpenSSL's numbers of the refusals against which the file of an authority helps."""


def distrust_of(causes: Sequence[BaseException]) -> str:
    """Why the certificate of a server is not trusted, and what helps, of an ``untrusted`` connection."""
    refused = next(each for each in causes if type(each).__name__ == _DISTRUSTED)
    said = str(getattr(refused, "verify_message", "") or refused).rstrip(".")
    helps = getattr(refused, "verify_code", 0) in _UNKNOWN_AUTHORITY
    hint = "; if its authority is yours, name a file of it and the public ones in the variable SSL_CERT_FILE" if helps else ""
    return f"its certificate is not trusted: {said}{hint}"


def response_headers(error: Exception) -> dict[str, str]:
    """The headers of the response behind an error of the library; empty where there was none."""
    found = getattr(error, "litellm_response_headers", None) or getattr(getattr(error, "response", None), "headers", None) or {}
    return {str(name).lower(): str(value) for name, value in dict(found).items()}


def retry_after_s(error: Exception) -> float | None:
    """Seconds of ``Retry-After``, in either of its notations; None: there is none."""
    return rate_limits.retry_after_s(response_headers(error).get("retry-after"))
