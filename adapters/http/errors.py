"""Unsuccessful HTTP statuses and broken connections as errors of an item, sorted by whether another attempt can help."""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import Mapping
from http import HTTPStatus

from eval_skills.adapters.http.address import shown
from eval_skills.adapters.http.tls import Certificate, shown_certificate, tls_problem
from eval_skills.core.errors import (
    ContractError,
    InfraError,
    ItemError,
    SkillCrashed,
    SkillError,
    SkillThrottled,
    SkillUnavailable,
)
from eval_skills.core.llm import QUOTA
from eval_skills.core.rate_limits.headers import wait_s
from eval_skills.core.text import one_line

TRANSIENT = frozenset({408, 425, 429, 502, 503, 504, *range(520, 528), 529, 530})
"""The request was kept from the skill, by a limit of its own or by what stands before it, and may get through later. Those from
520 on are not standard: with 529 Anthropic's API says that it is overloaded, with the others Cloudflare that it cannot reach the
service behind it or understand it: it refused (521), was too late (522, 524), has no TLS (525, 526) or no name (530)."""

UNREACHED = frozenset({401, 403, 404, 405, 407, 410})
"""The address or the credentials are wrong: the skill itself was not reached."""

_NO_ANSWER = ("peer ", "illegal status line", "illegal request line", "no response line")
"""How h11 begins its message about a connection that broke off, or about something that is not HTTP at all."""

_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def status_error(status: int, headers: Mapping[str, str], body: str, url: str) -> ItemError | None:
    """The error that a response with `status` is, or None for 2xx. The status comes first, then the body's beginning.

    The `TRANSIENT` are SkillUnavailable and every other 5xx is SkillCrashed, with the wait that Retry-After asks for; a 429, and
    a 503 that asks for a wait, are SkillThrottled, unless the quota is used up for good; 3xx (one that was not followed) and the
    `UNREACHED` are InfraError; other 4xx are SkillError. None of them says that nothing was done before: many an agent passes on
    the status of its own model, 429 and 401 among them.
    """
    if 200 <= status < 300:
        return None
    said = f": {one_line(body)}" if body.strip() else ""
    if status in TRANSIENT or status >= 500:
        wait = wait_s(headers)
        is_limit = (status == 429 and not QUOTA.search(body)) or (status == 503 and wait is not None)
        kind = SkillThrottled if is_limit else SkillUnavailable if status in TRANSIENT else SkillCrashed
        return kind(f"HTTP {status} from {url}{said}", retry_after_s=wait)
    if status == HTTPStatus.NOT_MODIFIED:
        return InfraError(f"HTTP 304 from {url}: not modified, although the whole was asked for; answer with it and 200")
    if 300 <= status < 400:
        if not (target := one_line(headers.get("location", ""))):
            return InfraError(
                f"HTTP {status} from {url}, without a Location to go on to; a run needs an address that answers itself"
            )
        if _OTHER_SCHEME.match(target):
            return InfraError(
                f"HTTP {status} from {url}: redirected to {target}, which is not an address of HTTP; correct the service"
            )
        return InfraError(f"HTTP {status} from {url}: redirected to {target}, which is not followed; put the final address there")
    error = InfraError if status in UNREACHED else SkillError
    return error(f"HTTP {status} from {url}{said}")


def partial_error(headers: Mapping[str, str], body: bytes, url: str) -> ContractError:
    """The error that a part (HTTP 206) is where the whole was asked for (RFC 9110, section 15.3.7)."""
    part, seen = headers.get("content-range", "no Content-Range"), one_line(body.decode(errors="replace")) or "an empty body"
    return ContractError(
        f"HTTP 206 from {url}: a part of an answer ({part}), although all of it was asked for; "
        f"answer with the whole and 200; it was: {seen}"
    )


async def explained_error(error: Exception, url: str, trusted: ssl.SSLContext) -> ItemError:
    """As `connection_error`; of a certificate that is refused for its times or names, it says which ones it has."""
    root = _root(error)
    refused = isinstance(root, ssl.SSLCertVerificationError)
    return connection_error(error, url, await shown_certificate(url, trusted) if refused else None)


def connection_error(error: Exception, url: str, certificate: Certificate | None = None) -> ItemError:
    """What a library's `error` about the connection to `url` is for an item; `certificate` is what the server shows."""
    root = _root(error)
    if isinstance(root, ssl.SSLError) and not isinstance(root, ssl.SSLEOFError | ssl.SSLZeroReturnError | ssl.SSLSyscallError):
        return InfraError(f"TLS with {shown(url)} failed: {tls_problem(root, certificate)}")
    if getattr(root, "error_status_hint", None) == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        return ContractError(
            f"the headers of {shown(url)} never end, or are longer than the 100 kB that a response may begin with"
        )
    if isinstance(root, socket.gaierror):
        unknown = root.errno in {socket.EAI_NONAME, socket.EAI_NODATA}
        message = f"connection to {shown(url)} failed: its host is not found ({root.strerror})"
        return InfraError(message) if unknown else SkillUnavailable(message)
    if "_SWITCH_UPGRADE" in str(root):  # which is how h11 calls HTTP 101
        return InfraError(f"HTTP 101 from {shown(url)}: it switches to a protocol that was not offered; correct its address")
    if type(root).__module__.startswith("h11.") and not str(root).startswith(_NO_ANSWER):
        return ContractError(f"the answer of {shown(url)} is not valid HTTP: {root}")
    return SkillUnavailable(f"connection to {shown(url)} failed: {_cause(root, secure=url.lower().startswith('https:'))}")


def _cause(root: BaseException, *, secure: bool) -> str:
    if isinstance(root, ssl.SSLError):
        return tls_problem(root)
    was_cut = isinstance(root, BrokenPipeError | ConnectionResetError) or type(root).__name__ == "BrokenResourceError"
    if was_cut and secure:  # whether the alert that says why is read before the reset is a race
        why = "the server closed it; servers that require a client certificate do so"
        return f"{why}: set adapterConfig.tls.clientCert, or use another certificate"
    if isinstance(root, ConnectionError) and root.errno:
        return os.strerror(root.errno)
    return "the other side closed it" if was_cut else str(root) or type(root).__name__


def _root(error: BaseException) -> BaseException:
    """What began it: the libraries wrap the system's error several times, and group several attempts."""
    while not (isinstance(error, OSError) and error.errno):
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif (inner := error.__cause__ or error.__context__) is not None:
            error = inner
        else:
            break
    return error
