"""The one place that speaks HTTP: requests out, and the transport's errors as errors of an item."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import httpx

from eval_skills.adapters.address import shown
from eval_skills.adapters.request import Request, with_query
from eval_skills.core.errors import ContractError, InfraError, ItemError, SkillUnavailable

ERROR_BODY_BYTES = 4_000
"""How much of an unsuccessful response's body is read."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A response: status, headers (names in any case), and a body that may have been cut if it was no success."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpClient:
    """Connections to one skill, kept alive; no proxies, no redirects, no time limits of its own."""

    def __init__(self, *, secure: bool) -> None:
        self._client = httpx.AsyncClient(
            trust_env=False,
            follow_redirects=False,
            timeout=None,  # noqa: S113 - the adapter's deadline is the one time limit
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=100),
            # Loading the certificate store takes tens of ms; a context without one refuses every certificate.
            verify=True if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            headers={"Accept-Encoding": "identity"},
        )

    async def send(self, request: Request, max_bytes: int, secret_query: list[tuple[str, str]]) -> HttpReply:
        """Send `request` and read the response, at most `max_bytes` of it.

        `secret_query` joins the query on the wire only: no log, error or response of the library ever shows it.

        Raises:
            ContractError: a successful response has a longer body, or one that cannot be decoded.
            SkillUnavailable: the connection was refused, reset or broken.
            InfraError: the address is not usable (unknown host, bad certificate, not an HTTP URL).
        """
        with _errors_of(request.url):
            hidden = {"target": httpx.URL(with_query(request.url, secret_query)).raw_path} if secret_query else {}
            async with self._client.stream(
                request.method, request.url, content=request.body, headers=dict(request.headers), extensions=hidden
            ) as response:
                if not response.is_success:
                    return HttpReply(response.status_code, response.headers, await _beginning(response))
                _refuse_encoding(response)
                received = bytearray()
                async for chunk in response.aiter_raw():
                    received += chunk
                    if len(received) > max_bytes:
                        raise ContractError(f"the body has more than {max_bytes:,} bytes (maxOutputBytes)")
                return HttpReply(response.status_code, response.headers, bytes(received))

    async def status_of(self, url: str) -> int:
        """The status that a GET is answered with.

        Raises:
            ItemError: as `send`.
        """
        with _errors_of(url):
            async with self._client.stream("GET", url) as response:
                return response.status_code

    async def close(self) -> None:
        """Drop all connections."""
        await self._client.aclose()


def _refuse_encoding(response: httpx.Response) -> None:
    """We ask for plain bytes: a compressed body of some kB may unpack to gigabytes, and no limit sees them in time."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"", "identity"}:
        raise ContractError(f"the body is encoded as {encoding!r}, although Accept-Encoding asked for identity")


async def _beginning(response: httpx.Response) -> bytes:
    received = bytearray()
    with suppress(httpx.HTTPError):  # the status is what matters: a body that breaks off must not hide it
        async for chunk in response.aiter_raw():
            received += chunk
            if len(received) >= ERROR_BODY_BYTES:
                break
    return bytes(received[:ERROR_BODY_BYTES])


@contextmanager
def _errors_of(url: str) -> Iterator[None]:
    try:
        yield
    except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
        raise InfraError(f"cannot send to {shown(url)}: {error}") from None
    except httpx.DecodingError as error:
        raise ContractError(f"the body cannot be decoded: {error}") from None
    except httpx.TransportError as error:
        raise connection_error(error, url) from None


def connection_error(error: Exception, url: str) -> ItemError:
    """What a library's `error` about the connection to `url` is for an item."""
    root = _root(error)
    cause = os.strerror(root.errno) if isinstance(root, ConnectionError) and root.errno else str(root) or type(root).__name__
    message = f"connection to {shown(url)} failed: {cause}"
    unknown_host = isinstance(root, socket.gaierror) and root.errno in {socket.EAI_NONAME, socket.EAI_NODATA}
    if unknown_host or isinstance(root, ssl.SSLCertVerificationError):
        return InfraError(message)
    return SkillUnavailable(message)


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
