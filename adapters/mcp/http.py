"""An MCP server behind a URL (streamable HTTP), and what HTTP says beside the messages: statuses, sizes, broken connections."""

from __future__ import annotations

import asyncio
import codecs
import json
import re
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import httpx2
import mcp_types
from mcp.client.streamable_http import streamable_http_client

from eval_skills.adapters.answer.envelope import parse_json
from eval_skills.adapters.http.address import shown
from eval_skills.adapters.http.client import ERROR_BODY_BYTES, IDLE_S, RequestTrace
from eval_skills.adapters.http.errors import explained_error, partial_error, status_error
from eval_skills.adapters.http.sse import EventStream
from eval_skills.adapters.mcp.schemas import readable_listing
from eval_skills.adapters.mcp.transport import SessionExpired, Transport, message_limit
from eval_skills.adapters.sandbox.limits import too_long
from eval_skills.core.errors import ContractError, ItemError
from eval_skills.core.text import one_line

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_COURTESY_S = 1.0
"""How long the server may take to accept that a request is cancelled or the session over."""

_BROKEN = (httpx2.TransportError, ssl.SSLError)
"""The latter, unwrapped, is a refusal after the handshake."""

_SESSION_HEADER, _LAST_EVENT_HEADER = "mcp-session-id", "last-event-id"
_WHATEVER_THE_BODY = frozenset({408, 425, 429, 502, 503, 504})
"""Statuses that count even if the body is a JSON-RPC error."""

_DISCOVERY = "server/discover"
_NO_DISCOVERY = frozenset({400, 404, 405, 406, 415, 422, 501})
"""How servers from before 2026 refuse the question for their protocol; the handshake follows and gives the reason."""

_HANDSHAKE, _LISTING = "initialize", "tools/list"
_TAKES_NO_POST = frozenset({404, 405})
_OLD_TRANSPORT = (
    "name the server's address of streamable HTTP, which often ends in /mcp; the older transport, HTTP with SSE, is not supported"
)


class HttpTransport(Transport):
    """Connections to one URL; no proxies, no compression, no time limits of their own."""

    def __init__(self, url: str, headers: Mapping[str, str], max_output_bytes: int, tls: ssl.SSLContext | None = None) -> None:
        super().__init__()
        self._tls = tls
        self.trusted = tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # without authorities it refuses every certificate
        self._url, self._headers, self._max_output_bytes = url, headers, max_output_bytes

    @property
    def lost(self) -> bool:
        return False

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[TransportStreams]:
        """Get ready to post; leaving ends the session on the server."""
        if self._tls is None and self._url.startswith("https:"):  # loading the public authorities takes tens of ms
            self.trusted = httpx2.create_ssl_context(trust_env=False)
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=IDLE_S)
        transport = _CheckedResponses(httpx2.AsyncHTTPTransport(verify=self.trusted, trust_env=False, limits=limits), self)
        headers = {"Accept-Encoding": "identity", **self._headers}
        size = message_limit(self._max_output_bytes)
        async with (
            httpx2.AsyncClient(
                transport=transport, headers=headers, timeout=None
            ) as client,  # the deadline of the call is the limit
            streamable_http_client(self._url, http_client=client, max_sse_event_size=size) as streams,
        ):
            yield streams

    async def describe_end(self, when: str) -> str:
        return f"the connection to {shown(self._url)} was lost {when}"

    @property
    def url(self) -> str:
        """The address as messages may show it."""
        return shown(self._url)

    @property
    def max_output_bytes(self) -> int:
        """How long an answer may be."""
        return self._max_output_bytes


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a request posts: a JSON-RPC method ('' for none), and the id that an answer has to have."""

    method: str
    id: Any

    @classmethod
    async def of(cls, request: httpx2.Request) -> _Asked:
        message = json.loads(await request.aread()) if request.method == "POST" else {}
        return cls(message.get("method", ""), message.get("id"))


class _CheckedResponses(httpx2.AsyncBaseTransport):
    """Where responses come in. What went wrong over HTTP with a tool's call becomes that call's error, and with anything else
    the link's: the SDK keeps neither the status nor Retry-After, and ends the whole session when one connection breaks.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, transport: HttpTransport) -> None:
        self._inner, self._transport = inner, transport
        self._last_ids: dict[_Asked, str] = {}

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        asked = await _Asked.of(request)
        if request.method == "DELETE" or asked.method == "notifications/cancelled":
            return await self._sent_as_courtesy(request)
        try:
            return await self._checked(request, asked)
        except ItemError as error:
            if asked.method == "tools/call":
                return self._reply(request, asked, error)
            self._note(request, error)
            raise httpx2.RequestError(str(error), request=request) from None

    async def _sent_as_courtesy(self, request: httpx2.Request) -> httpx2.Response:
        try:
            async with asyncio.timeout(_COURTESY_S):
                return await self._sent(request)
        except (TimeoutError, ItemError, *_BROKEN):
            return httpx2.Response(202, request=request)

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        trace = RequestTrace()
        request.extensions = {**request.extensions, "trace": trace.noted}
        trace.response = response = await self._inner.handle_async_request(request)
        return response

    async def _checked(self, request: httpx2.Request, asked: _Asked) -> httpx2.Response:
        """The response as it is while it streams events; else with its whole body, if that is no longer than allowed."""
        try:
            response = await self._sent(request)
            await _refuse_encoding(response)
            if request.method == "POST" and response.status_code == HTTPStatus.PARTIAL_CONTENT:
                raise partial_error(response.headers, await self._body(response), self._transport.url)
            if _streams_events(response):
                if asked.method == _LISTING:
                    return self._listing(response, request)
                call = asked if asked.method == "tools/call" else self._resumed(request)
                return self._events(response, request, call) if call is not None else response
            body = await self._body(response)
        except _BROKEN as error:
            raise await explained_error(error, str(request.url), self._transport.trusted) from None
        if (refusal := self._refusal(request, response, body)) is not None:
            if asked.method == "tools/call":
                raise refusal
            if asked.method == _HANDSHAKE and response.status_code in _TAKES_NO_POST:
                refusal = type(refusal)(f"{refusal}; {_OLD_TRANSPORT}")
            if asked.method != _DISCOVERY or response.status_code not in _NO_DISCOVERY:
                self._note(request, refusal)  # what it means for the connection, the SDK knows
        elif asked.method == "tools/call" and response.status_code < 300:
            body = _answer_to(asked, response, body)
        elif asked.method == _LISTING:
            body = readable_listing(body)
        kept = {name: value for name, value in response.headers.items() if name not in {"content-length", "transfer-encoding"}}
        return httpx2.Response(response.status_code, headers=kept, content=body, request=request)

    def _events(self, response: httpx2.Response, request: httpx2.Request, asked: _Asked) -> httpx2.Response:
        """The response with its events, of which one that answers another request becomes the call's error; the id of the last
        one is kept until the answer is there, for the stream may break and be asked for again by it."""
        limit = message_limit(self._transport.max_output_bytes)

        def judged(block: bytes) -> bytes:
            for found in _EVENT_ID.finditer(block):
                self._last_ids[asked] = found.group(1).decode(errors="replace")
            try:
                for event in EventStream().feed(block):
                    if event.name == "message" and _is_answer(asked, response.status_code, event.data):
                        self._last_ids.pop(asked, None)
            except ContractError as error:
                self._last_ids.pop(asked, None)
                return b"data: " + self._reply(request, asked, error).content + b"\n\n"
            return block

        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code, headers=response.headers, stream=_Blocks(response.stream, judged, limit), request=request
        )

    def _listing(self, response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
        """The response with its events, and in their lists of tools a mark for each tool that cannot be read."""

        def made_readable(block: bytes) -> bytes:
            for event in EventStream().feed(block):
                if (readable := readable_listing(event.data)) is not event.data:
                    return b"data: " + readable + b"\n\n"
            return block

        assert isinstance(response.stream, httpx2.AsyncByteStream)
        blocks = _Blocks(response.stream, made_readable, message_limit(self._transport.max_output_bytes))
        return httpx2.Response(response.status_code, headers=response.headers, stream=blocks, request=request)

    def _resumed(self, request: httpx2.Request) -> _Asked | None:
        """The call whose stream of events a GET goes on with; None: it is none's, or several streams had this event's id.

        The SDK takes any answer in it for the one to that call, whatever its id.
        """
        last = request.headers.get(_LAST_EVENT_HEADER)
        calls = [asked for asked, event_id in self._last_ids.items() if event_id == last]
        return calls[0] if len(calls) == 1 else None

    def _note(self, request: httpx2.Request, error: ItemError) -> None:
        if request.method == "POST":  # a server need not offer the GET that listens
            self._transport.broken = error

    async def _body(self, response: httpx2.Response) -> bytes:
        limit, received = message_limit(self._transport.max_output_bytes), bytearray()
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        try:
            async for chunk in response.stream:
                received += chunk
                if len(received) > limit:
                    raise too_long("the answer", self._transport.max_output_bytes)
        finally:
            await response.aclose()
        return bytes(received)

    def _refusal(self, request: httpx2.Request, response: httpx2.Response, body: bytes) -> ItemError | None:
        """What the status says, where it says something that the messages do not."""
        status, text = response.status_code, body[:ERROR_BODY_BYTES].decode(errors="replace")
        if status < 300 or _is_followed(request, response):
            return None
        if _SESSION_HEADER in request.headers and (status == 404 or (status == 400 and "session" in text.lower())):
            return SessionExpired(f"HTTP {status} from {self._transport.url}: the server does not know the session any more")
        if status not in _WHATEVER_THE_BODY and _is_error_reply(body):
            return None
        return status_error(status, response.headers, text, self._transport.url)

    def _reply(self, request: httpx2.Request, asked: _Asked, error: ItemError) -> httpx2.Response:
        failure = {"code": mcp_types.INTERNAL_ERROR, "message": str(error), "data": self._transport.keep(error)}
        return httpx2.Response(200, json={"jsonrpc": "2.0", "id": asked.id, "error": failure}, request=request)


class _Blocks(httpx2.AsyncByteStream):
    """A stream of events that passes on each as `judged` has it, once it is whole; one beyond `limit` bytes as it comes."""

    def __init__(self, inner: httpx2.AsyncByteStream, judged: Callable[[bytes], bytes], limit: int) -> None:
        self._inner, self._judged, self._limit = inner, judged, limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held = bytearray()
        async for chunk in self._inner:
            looked_at = max(0, len(held) - len(b"\r\n\r"))
            held += chunk
            while (end := _BLOCK_END.search(held, looked_at)) is not None:
                block, looked_at = bytes(held[: end.end()]), 0
                del held[: end.end()]
                yield self._judged(block)
            if len(held) > self._limit:
                yield bytes(held)
                held.clear()
        yield bytes(held)

    async def aclose(self) -> None:
        await self._inner.aclose()


_EVENT_ID = re.compile(rb"^id: ?([^\r\n\0]+)", re.MULTILINE)
_BLOCK_END = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")


async def _refuse_encoding(response: httpx2.Response) -> None:
    """We ask for plain bytes: compressed ones, of events too, may unpack to gigabytes, and no limit sees them in time."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"", "identity"}:
        await response.aclose()
        raise ContractError(f"the body is encoded as {encoding!r}, although Accept-Encoding asked for identity")


def _answer_to(asked: _Asked, response: httpx2.Response, body: bytes) -> bytes:
    """The body as the SDK takes it for the answer to what was asked: for one with another id it would wait in vain.

    An error without an id (null) is the answer, for it came in the response to this very request.

    Raises:
        ContractError: it is not an answer to it.
    """
    status, kind = response.status_code, response.headers.get("content-type", "")
    if not kind.lower().startswith("application/json"):
        said = f"its content type is {one_line(kind)!r}" if kind else "it has no content type"
        raise _not_an_answer(status, f"{said}, and application/json or text/event-stream was asked for", body)
    return _answer_in(asked, status, body)


def _is_answer(asked: _Asked, status: int, data: bytes) -> bool:
    """Whether an event is the answer; empty events, and the server's own requests and notifications, are not.

    Raises:
        ContractError: it answers another request, or cannot be read.
    """
    try:
        is_other = not data or "method" in parse_json(data)
    except (ValueError, TypeError):
        is_other = False
    if not is_other:
        _answer_in(asked, status, data)
    return not is_other


def _answer_in(asked: _Asked, status: int, body: bytes) -> bytes:
    try:
        message = parse_json(body)
    except ValueError as problem:
        raise _not_an_answer(status, str(problem), body) from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not {"result", "error"} & message.keys():
        raise _not_an_answer(status, "not a JSON-RPC 2.0 answer", body)
    answered = message.get("id")
    if answered is None and isinstance(message.get("error"), dict):
        return json.dumps({**message, "id": asked.id}).encode()
    if str(answered) != str(asked.id):
        raise _not_an_answer(status, f"its id is {json.dumps(answered)} and {json.dumps(asked.id)} was asked", body)
    return body.removeprefix(codecs.BOM_UTF8)


def _not_an_answer(status: int, problem: str, body: bytes) -> ContractError:
    seen = one_line(body[:ERROR_BODY_BYTES].decode(errors="replace")) or "an empty body"
    return ContractError(f"HTTP {status} with an unreadable answer: {problem}; it was: {seen}")


def _streams_events(response: httpx2.Response) -> bool:
    return response.status_code < 300 and response.headers.get("content-type", "").lower().startswith("text/event-stream")


def _is_followed(request: httpx2.Request, response: httpx2.Response) -> bool:
    """Whether the SDK follows a redirect: within the origin, and to the same method, which 301 to 303 would make a GET."""
    kept = response.status_code in {307, 308} or (request.method == "GET" and response.status_code in {301, 302, 303})
    if not kept or not (location := response.headers.get("location")):
        return False
    try:
        target = request.url.join(location)
    except httpx2.InvalidURL:
        return False
    return (target.scheme, target.host, target.port) == (request.url.scheme, request.url.host, request.url.port)


def _is_error_reply(body: bytes) -> bool:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and isinstance(message.get("error"), dict)
