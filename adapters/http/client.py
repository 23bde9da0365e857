"""The HTTP client of the adapters: sends requests, and maps the transport's errors to errors of an item."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx

from eval_skills.adapters.call import CALLED_NOTHING
from eval_skills.adapters.http.address import shown
from eval_skills.adapters.http.errors import connection_error, explained_error, status_error
from eval_skills.adapters.http.redirects import is_usable, redirected, refuse_circle
from eval_skills.adapters.http.request import Request, with_query
from eval_skills.adapters.sandbox.limits import too_long
from eval_skills.core.errors import ContractError, InfraError, ItemError, SkillUnavailable

ERROR_BODY_BYTES = 4_000
"""How much of an unsuccessful response's body is read, unless it is JSON: that may report what was done before."""

IDLE_S = 4.0
"""How long a connection waits for its next request. uvicorn and Node.js close one after 5 s: a request that is sent just then is
lost, and must not be sent again, for nobody knows whether it was read."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A response: status, headers (names in any case), and a body that may have been cut if the status is not a success."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    address: str
    """Where it came from, as messages may show it."""
    beyond: int = 0
    """How many bytes had come behind it that belong to nothing."""


class HttpClient:
    """Connections to one skill, kept alive; no proxies, no time limits of its own, redirects within the host only.

    `tls` says how to speak TLS, where it is spoken; by default with the public authorities. Cookies are kept where it is for one
    conversation alone.
    """

    def __init__(self, *, secure: bool, tls: ssl.SSLContext | None = None, cookies: bool = False) -> None:
        # what one item was given is nothing to the next one
        # Loading the certificate store takes tens of ms; a context without one refuses every certificate.
        self._trusted = tls or (httpx.create_ssl_context(trust_env=False) if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        policy = DefaultCookiePolicy() if cookies else DefaultCookiePolicy(allowed_domains=())
        self._client = httpx.AsyncClient(
            trust_env=False,
            follow_redirects=False,
            timeout=None,  # noqa: S113 - the adapter's deadline is the one time limit
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=IDLE_S),
            verify=self._trusted,
            headers={"Accept-Encoding": "identity"},
            cookies=CookieJar(policy),
            event_hooks={"response": [_refuse_unusable_target]},
        )

    async def send(
        self,
        request: Request,
        max_bytes: int,
        secret_query: list[tuple[str, str]],
        is_whole: Callable[[bytes], bool],
    ) -> HttpReply:
        """Send `request`, also where it is redirected to within its host, and read the response, at most `max_bytes` of it.

        `is_whole` gets each piece of a successful response as it comes, and ends the reading when it says so.
        `secret_query` joins the query on the wire only: no log, error or response of the library ever shows it.

        Raises:
            ContractError: a successful response has a longer body, or one that cannot be decoded.
            SkillUnavailable: the connection was refused, reset or broken.
            InfraError: the address is not usable (unknown host, no TLS, redirected in a circle, not an HTTP URL).
        """
        trail = [request]
        while True:
            try:
                reply = await self._exchange(trail[-1], max_bytes, secret_query, is_whole)
            except ItemError as error:
                if len(trail) > 1:  # the first of them was answered, and what was called for that is unknown
                    error.known = None
                raise
            target = redirected(trail[-1], reply.status, reply.headers.get("location"), [name for name, _ in secret_query])
            if target is None:
                return replace(reply, address=_way(trail))
            refuse_circle(trail, target)
            trail.append(target)

    async def check_redirects(self, request: Request, secret_query: list[tuple[str, str]]) -> tuple[HttpReply, str]:
        """Send GETs where `request` would go, and read no body. The last reply, and why a run would go no further ("" if it
        is not redirected there); redirects count as if `request` itself had been sent, for a POST is followed to fewer places.

        Raises:
            ItemError: as `send`.
        """
        trail = [request]
        while True:
            reply = await self._head(replace(trail[-1], method="GET", body=None), secret_query)
            try:
                target = redirected(trail[-1], reply.status, reply.headers.get("location"), [name for name, _ in secret_query])
                if target is None:
                    return reply, ""
                refuse_circle(trail, target)
            except InfraError as error:
                return reply, str(error)
            trail.append(target)

    async def _head(self, request: Request, secret_query: list[tuple[str, str]]) -> HttpReply:
        asked = self._stream(request, secret_query, RequestTrace())
        async with _errors_of(request.url, self._trusted), asked as response:
            return HttpReply(response.status_code, response.headers, b"", shown(request.url))

    async def _exchange(
        self,
        request: Request,
        max_bytes: int,
        secret_query: list[tuple[str, str]],
        is_whole: Callable[[bytes], bool],
    ) -> HttpReply:
        trace = RequestTrace()
        async with _errors_of(request.url, self._trusted), self._stream(request, secret_query, trace) as response:
            trace.response = response
            if response.is_success:
                _refuse_encoding(response)
                body = await _body(response, max_bytes, is_whole)
            else:
                body = await _beginning(response, max_bytes)
            return HttpReply(response.status_code, response.headers, body, "", trace.beyond)

    def _stream(
        self, request: Request, secret_query: list[tuple[str, str]], trace: RequestTrace
    ) -> AbstractAsyncContextManager[httpx.Response]:
        extensions: dict[str, Any] = {"trace": trace.noted}
        if secret_query:
            extensions["target"] = httpx.URL(with_query(request.url, secret_query)).raw_path
        return self._client.stream(
            request.method, request.url, content=request.body, headers=dict(request.headers), extensions=extensions
        )

    async def status_of(self, url: str) -> int:
        """The status that a GET is answered with.

        Raises:
            ItemError: as `send`.
        """
        asked = self._client.stream("GET", url, extensions={"trace": RequestTrace().noted})
        async with _errors_of(url, self._trusted), asked as response:
            return response.status_code

    async def close(self) -> None:
        """Drop all connections."""
        await self._client.aclose()


def _way(trail: list[Request]) -> str:
    here = shown(trail[-1].url)
    return here if len(trail) == 1 else f"{here} (redirected from {shown(trail[0].url)} to {trail[-1].method})"


async def _refuse_unusable_target(response: httpx.Response) -> None:
    """What is not an address of HTTP: the library would fail on it, and name neither the status nor the target."""
    location = response.headers.get("location")
    if location is not None and 300 <= response.status_code < 400 and not is_usable(location, response.request.url):
        refused = status_error(response.status_code, response.headers, "", shown(str(response.request.url)))
        assert refused is not None
        raise refused


def _refuse_encoding(response: httpx.Response) -> None:
    """We ask for plain bytes: a compressed body of some kB may unpack to gigabytes, and no limit sees them in time."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"", "identity"}:
        raise ContractError(f"the body is encoded as {encoding!r}, although Accept-Encoding asked for identity")


async def _body(response: httpx.Response, max_bytes: int, is_whole: Callable[[bytes], bool]) -> bytes:
    received = bytearray()
    async for chunk in response.aiter_raw():
        received += chunk
        if len(received) > max_bytes:
            raise too_long("the body", max_bytes)
        if is_whole(chunk):
            break
    return bytes(received)


async def _beginning(response: httpx.Response, max_bytes: int) -> bytes:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    received, limit = bytearray(), max_bytes if kind.endswith(("/json", "+json")) else ERROR_BODY_BYTES
    with suppress(httpx.HTTPError):  # the status is what matters: a body that breaks off must not hide it
        async for chunk in response.aiter_raw():
            received += chunk
            if len(received) >= limit:
                break
    return bytes(received[:limit])


@asynccontextmanager
async def _errors_of(url: str, trusted: ssl.SSLContext) -> AsyncIterator[None]:
    try:
        yield
    except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
        raise InfraError(f"cannot send to {shown(url)}: {error}", known=CALLED_NOTHING) from None
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        refused = await explained_error(error, url, trusted)
        refused.known = CALLED_NOTHING
        raise refused from None
    except httpx.DecodingError as error:
        raise ContractError(f"the body cannot be decoded: {error}") from None
    except (httpx.TransportError, ssl.SSLError) as error:  # the latter, unwrapped, is a refusal after the handshake
        raise connection_error(error, url) from None


class RequestTrace:
    """What one request, by httpx or by httpx2, which the SDK of MCP speaks, does to its connection.

    It closes the one under a TLS handshake that is cut at the deadline, which the library leaves to the garbage collector.

    It drops a connection on which more had come than the `response`, such as the end of a body that is longer than announced: the
    library would read that as the answer to the next request. `beyond` is how many bytes it was.

    And it refuses a response that was there before its request was sent: a service that sent more than it had announced, or
    answered twice, would have every later call on that connection answered by the one before. Such bytes wait in the library's
    buffer, so the headers are complete without a turn of the event loop, which every reading from a socket takes.
    """

    def __init__(self) -> None:
        self._stream: Any = None
        self._turned = True
        self.response: Any = None
        self.beyond = 0

    async def noted(self, event: str, info: Mapping[str, Any]) -> None:
        """Called at the beginning and the end of every step.

        Raises:
            SkillUnavailable: the response is not the answer to this request; the connection is dropped.
        """
        if event == "connection.connect_tcp.complete":
            self._stream = info["return_value"]
        elif event == "connection.start_tls.failed" and self._stream is not None:
            await self._stream.aclose()
        elif event == "http11.response_closed.started" and self.response is not None:
            self.beyond = _bytes_beyond(self.response)
            if self.beyond:
                await self.response.extensions["network_stream"].aclose()
        elif event == "http11.receive_response_headers.started":
            self._turned = False
            asyncio.get_running_loop().call_soon(self._turn)
        elif event == "http11.receive_response_headers.complete" and not self._turned:
            raise SkillUnavailable("the service had sent more than its answer to the call before, so this connection was dropped")

    def _turn(self) -> None:
        self._turned = True


_TO_THE_PARSER = ("_stream", "_httpcore_stream", "_stream", "_connection", "_h11_state")


def _bytes_beyond(response: Any) -> int:
    """How many bytes the parser holds behind a response that was read to its end.

    The libraries have no door to it. Should the way change, nothing is seen, and the next request has what may come of it.
    """
    part: Any = response.stream
    for name in _TO_THE_PARSER:
        part = getattr(part, name, part)
    is_read = str(getattr(part, "their_state", "")) == "DONE"
    return len(part.trailing_data[0]) if is_read else 0
