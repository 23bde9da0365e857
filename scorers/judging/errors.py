"""What can go wrong between us and a model's provider, and whether another attempt can help."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from socket import gaierror
from typing import TYPE_CHECKING

from eval_skills.core.errors import JudgeError, causes_of
from eval_skills.core.llm import (
    QUOTA,
    SHOWN_CHARS,
    connection_problem,
    distrust_of,
    is_declined,
    is_too_long,
    response_headers,
    said_by,
)
from eval_skills.core.rate_limits.headers import wait_s
from eval_skills.core.text import one_line

if TYPE_CHECKING:
    from eval_skills.scorers.judging.provider import ModelReply

_NO_KEY = re.compile(r"missing credentials|api_key client option must be set|missing .*api key", re.IGNORECASE)
_NO_PROVIDER = re.compile(r"LLM Provider NOT provided", re.IGNORECASE)
_NO_COMPLETION = re.compile(
    r"invalid response from LLM endpoint|'choices' that is not a list|a response with no 'choices'", re.IGNORECASE
)

_NO_JSON = frozenset({"JSONDecodeError", "UnicodeDecodeError", "BadStatusLine"})
_PAGE = re.compile(r"(?:\A|\bReceived: ['\"])(?:\s|\\[nrt])*<(?:!doctype\s+html|html|head)\b", re.IGNORECASE)
"""How a web page begins: alone, or in the words of the client library about an answer that it cannot use."""
_TITLE = re.compile(r"<title[^>]*>([^<]+)", re.IGNORECASE)
_TITLE_CHARS = 80
_UNREADABLE = re.compile(r"invalid response object", re.IGNORECASE)
"""How the client library begins its traceback where a completion has a part of another form, such as a list as its content."""


NOT_ASKED = "not asked"
"""How the error of a question begins that was not asked because of what others met."""


def was_not_asked(message: str) -> bool:
    """Whether an error, or that of a whole panel, says so."""
    return message.startswith(NOT_ASKED) or f"; {NOT_ASKED}" in message


def number(amount: float) -> str:
    """As people write it: 0.25, 7.98, 3600."""
    return f"{amount:.0f}" if amount >= 100 else f"{amount:.3g}"


class ProviderError(JudgeError):
    """A request to a model failed.

    `again`: another attempt can help, not before `retry_after_s` where the provider said so. `ends_judging`: no request to this
    model will ever succeed (key, model, address, quota), so none should be made. `sent`: the request left this machine.
    `billed`: it may have cost something. `asks_for_less`: the provider gets too many requests. `is_page`: it is a web page.
    `reply` is an answer that holds nothing but the count of its tokens.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        again: bool = False,
        ends_judging: bool = False,
        sent: bool = True,
        billed: bool = False,
        is_page: bool = False,
        retry_after_s: float | None = None,
        reply: ModelReply | None = None,
    ) -> None:
        super().__init__(message, code=code, retry_after_s=retry_after_s)
        self.reply, self.is_page = reply, is_page
        self.asks_for_less = code == "JUDGE_RATE_LIMIT" or (code == "JUDGE_UNAVAILABLE" and retry_after_s is not None)
        self.again, self.ends_judging, self.sent, self.billed = again, ends_judging, sent, billed


@asynccontextmanager
async def answered_within(timeout_s: float, model: str, api_base: str | None = None) -> AsyncIterator[None]:
    """Inside, a model is asked, and answers in time.

    Raises:
        ProviderError: it does not, or anything else goes wrong.
    """
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        message = f"{model} did not answer within {number(timeout_s)} s"
        raise ProviderError(message, code="JUDGE_TIMEOUT", again=True, billed=True) from None
    except ProviderError:
        raise
    except Exception as error:
        raise provider_error(error, model, api_base) from error


def provider_error(error: Exception, model: str, api_base: str | None = None) -> ProviderError:
    """What an exception of the client library means; decided by the HTTP status, since its classes are not reliable.

    It reports 500 also where no server answered, and where the answer is not what it expects: the causes tell these apart. What
    was answered (HTTP 200) may have been paid, whatever is wrong with the answer.
    """
    found = _meaning(error, model, api_base)
    found.billed = found.billed or _was_answered(error)
    return found


def _was_answered(error: Exception) -> bool:
    """Whether there is an answer, and the client library could not use it: it raises a bare exception then, or one of JSON."""
    causes = {type(each).__name__ for each in causes_of(error)}
    return "HTTPStatusError" not in causes and bool(causes & {"Exception", *_NO_JSON} or _NO_COMPLETION.search(said_by(error)))


def _meaning(error: Exception, model: str, api_base: str | None) -> ProviderError:
    status, said = getattr(error, "status_code", None), said_by(error)
    if not isinstance(status, int):  # the body of an answer may have set it
        status = None
    if is_too_long(error):
        return ProviderError(f"the prompt is too long for {model}: {said}", code="JUDGE_CONTEXT")
    if is_declined(error):
        return ProviderError(f"{model} refused to reply: {said}", code="JUDGE_REFUSED")
    if _NO_KEY.search(said):
        message = (
            f"{model} needs a key; set its usual variable, or name the variable that holds it with llm.apiKeyEnv "
            "(in Python settings={'llm': {'apiKeyEnv': …}})"
        )
        return ProviderError(message, code="JUDGE_AUTH", ends_judging=True, sent=False)
    if status in (401, 403):
        hint = "is its key right? llm.apiKeyEnv names the variable that holds it"
        return ProviderError(f"{model} refused access ({_status(status)}{said}); {hint}", code="JUDGE_AUTH", ends_judging=True)
    if status == 402 or (status == 429 and QUOTA.search(said)):
        return ProviderError(f"the quota of {model} is used up: {said}", code="JUDGE_QUOTA", ends_judging=True)
    if status == 404 or _NO_PROVIDER.search(said):
        return ProviderError(_no_model(model, status, said), code="JUDGE_MODEL", ends_judging=True, sent=status == 404)
    if (broken := _connection_error(error, model, api_base)) is not None:
        return broken
    causes = {type(each).__name__ for each in causes_of(error)}
    if causes & _NO_JSON or _NO_COMPLETION.search(said):
        page = _page_in(error)
        message = f"{model} {_not_a_completion(api_base, page)}"
        return ProviderError(message, code="JUDGE_UNAVAILABLE", again=True, is_page=page is not None)
    if _UNREADABLE.search(said):
        message = f"{model} answered a completion of another form than OpenAI's API has, in its content or its count of tokens"
        return ProviderError(message, code="JUDGE_UNAVAILABLE", again=True)
    if _was_answered(error):
        return _error_in_answer(status, model, said)
    return _passing(status, model, said, error)


def _error_in_answer(status: int | None, model: str, said: str) -> ProviderError:
    """An answer (HTTP 200) that is an error; `status` is the code in its body, 422 where there is none."""
    again = status == 429 or (status is not None and status >= 500)
    code = "JUDGE_RATE_LIMIT" if status == 429 else "JUDGE_UNAVAILABLE" if again else "JUDGE_REQUEST"
    return ProviderError(f"{model} answered with an error: {said}", code=code, again=again)


def _connection_error(error: Exception, model: str, api_base: str | None) -> ProviderError | None:
    """What happened to the connection; None: something else went wrong.

    Of a request that was sent, nobody here knows whether the provider dealt with it, and takes money for it.
    """
    where = f"{api_base} (llm.apiBase)" if api_base else f"the provider of {model}"
    causes = list(causes_of(error))
    problem = connection_problem(causes)
    if problem == "untrusted":
        message = f"TLS with {where} failed: {distrust_of(causes)}"
        return ProviderError(message, code="JUDGE_UNAVAILABLE", ends_judging=True, sent=False)
    if problem == "unconnected":
        message = f"could not connect to {where}{_system_reason(causes)}"
        return ProviderError(message, code="JUDGE_UNAVAILABLE", again=True, sent=False)
    if problem == "closed":
        message = f"{where} closed the connection before it had answered"
        return ProviderError(message, code="JUDGE_DISCONNECTED", again=True, billed=True)
    return None


def _system_reason(causes: list[BaseException]) -> str:
    """``: Connection refused``, where the operating system said it."""
    failed = next((each for each in causes if type(each) in (ConnectionRefusedError, gaierror)), None)
    if not isinstance(failed, OSError) or failed.errno is None:
        return ""
    return f": {os.strerror(failed.errno) if failed.errno > 0 else failed.strerror}"


def _page_in(error: Exception) -> str | None:
    """The title of the web page that was answered, which may be empty; None: it was none."""
    texts = (str(getattr(each, "doc", "") or each) for each in causes_of(error))
    if (page := next(filter(_PAGE.search, texts), None)) is None:
        return None
    title = _TITLE.search(page)
    return one_line(title.group(1).replace("\\n", " "), _TITLE_CHARS) if title else ""


def _not_a_completion(api_base: str | None, page: str | None) -> str:
    answered, questions = "something that is not a chat completion", []
    if page is not None:
        answered = f"a web page{f' ({page})' if page else ''}, not a chat completion"
        questions.append("is there a proxy or a login in between")
    if api_base:
        questions.append(f"does llm.apiBase, {api_base}, end as its server expects, such as in /v1")
    return f"answered {answered}" + (f"; {', or '.join(questions)}?" if questions else "")


def _passing(status: int | None, model: str, said: str, error: Exception) -> ProviderError:
    wait = wait_s(response_headers(error))
    if status == 429:
        return ProviderError(f"{model} limits the request rate: {said}", code="JUDGE_RATE_LIMIT", again=True, retry_after_s=wait)
    if status in (408, 504):
        return ProviderError(f"{model} did not answer in time: {said}", code="JUDGE_TIMEOUT", again=True, billed=True)
    if status in (409, 529) or (status is not None and status >= 500):
        message = f"{model} is not available ({_status(status)}{said})"
        return ProviderError(message, code="JUDGE_UNAVAILABLE", again=True, retry_after_s=wait)
    if status is None:
        return ProviderError(f"{model} could not be asked: {type(error).__name__}: {said}", code="JUDGE_UNAVAILABLE")
    return ProviderError(f"{model} does not take this request ({_status(status)}{said})", code="JUDGE_REQUEST")


def no_provider(model: str) -> str:
    """What is wrong with a model's name that lacks the provider or the model."""
    shown, name = one_line(model, SHOWN_CHARS), one_line(model.rpartition("/")[2], SHOWN_CHARS)
    if not name:
        return f"{shown!r} names no model; write PROVIDER/MODEL, such as openai/gpt-4o-mini"
    return f"{shown!r} names no provider; write PROVIDER/MODEL, such as openai/{name} or ollama/{name}"


def _no_model(model: str, status: int | None, said: str) -> str:
    if status != 404:
        return no_provider(model)
    return f"there is no model {model} at this address ({_status(status)}{said})"


def _status(status: int | None) -> str:
    return f"HTTP {status}: " if status else ""
