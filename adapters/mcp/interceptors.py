"""Messages between the SDK and a server, seen on their way and changed in place where needed.

`Handshake` offers an older protocol version to a server that refuses the newest; `ServerRequests` notes what a server asks of us
(sampling, roots, elicitation) that no script answers; `ToolChanges` whether it reported a change of its tools.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import mcp_types
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams, WriteStream
    from mcp.shared.message import SessionMessage

S = TypeVar("S", bound="ReadStream[Any] | WriteStream[Any]")


class MessageInterceptor:
    """Sees every message, in both directions, before the SDK and the server do; this one changes nothing."""

    def on_sent(self, message: mcp_types.JSONRPCMessage) -> None:
        """A message on its way to the server."""

    def on_received(self, message: mcp_types.JSONRPCMessage) -> None:
        """A message on its way from the server."""


@asynccontextmanager
async def intercepted(
    carrier: AbstractAsyncContextManager[TransportStreams], interceptors: Sequence[MessageInterceptor]
) -> AsyncIterator[TransportStreams]:
    """The streams of `carrier`, with the interceptors looking on."""
    async with carrier as (incoming, outgoing):
        yield _Incoming(incoming, interceptors), _Outgoing(outgoing, interceptors)


class _Stream(Generic[S]):
    """What the SDK's two kinds of stream have in common."""

    def __init__(self, stream: S, interceptors: Sequence[MessageInterceptor]) -> None:
        self._stream, self._interceptors = stream, interceptors

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)


class _Outgoing(_Stream["WriteStream[SessionMessage]"]):
    async def send(self, item: SessionMessage, /) -> None:
        for interceptor in self._interceptors:
            interceptor.on_sent(item.message)
        await self._stream.send(item)


class _Incoming(_Stream["ReadStream[SessionMessage | Exception]"]):
    async def receive(self) -> SessionMessage | Exception:
        return self._intercepted(await self._stream.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._intercepted(await self._stream.__anext__())

    def _intercepted(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if not isinstance(item, Exception):
            for interceptor in self._interceptors:
                interceptor.on_received(item.message)
        return item


_TOOLS_CHANGED = "notifications/tools/list_changed"
_VERSION = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_ABOUT_VERSIONS = re.compile(r"protocol.?version", re.IGNORECASE)


class Handshake(MessageInterceptor):
    """Offers what the SDK does until `step_back` says otherwise.

    By the specification a server that does not know the version it is offered answers with one that it does know. Some answer
    with an error instead, at best with a list of what they know.
    """

    def __init__(self) -> None:
        self._offer: str | None = None
        self._request_id: str | int | None = None
        self._refusal: mcp_types.ErrorData | None = None

    def on_sent(self, message: mcp_types.JSONRPCMessage) -> None:
        """Put the older version into the handshake, where there is one to offer."""
        if isinstance(message, mcp_types.JSONRPCRequest) and message.method == "initialize":
            self._request_id = message.id
            if self._offer is not None and message.params is not None:
                message.params["protocolVersion"] = self._offer

    def on_received(self, message: mcp_types.JSONRPCMessage) -> None:
        """Note that the handshake is refused."""
        if isinstance(message, mcp_types.JSONRPCError) and message.id is not None and message.id == self._request_id:
            self._refusal = message.error

    def step_back(self) -> bool:
        """Offer an older version from now on, if one was refused and none was offered before; whether to begin again."""
        refusal, self._refusal = self._refusal, None
        if refusal is None or self._offer is not None or not _is_about_the_version(refusal):
            return False
        self._offer = _older(refusal)
        return True


def _is_about_the_version(refusal: mcp_types.ErrorData) -> bool:
    return refusal.code == mcp_types.INVALID_PARAMS or _ABOUT_VERSIONS.search(refusal.message) is not None


def _older(refusal: mcp_types.ErrorData) -> str:
    """The newest version that the server names beside the one it refused; the oldest of all if it names none that we know."""
    older = HANDSHAKE_PROTOCOL_VERSIONS[:-1]
    named = set(_VERSION.findall(f"{refusal.message} {refusal.data}"))
    return next((version for version in reversed(older) if version in named), older[0])


OFFERED = frozenset({"ping"})


class ServerRequests(MessageInterceptor):
    """Notes the requests that come from the server and are not among the `answered` ones: they are refused, and what the tool
    then says may not mention it."""

    def __init__(self, answered: frozenset[str] = frozenset()) -> None:
        self._answered = OFFERED | answered
        self.count = 0
        self._last: deque[str] = deque(maxlen=10)

    def since(self, mark: int) -> list[str]:
        """What was asked for after `count` was `mark`, each once; of many, the last."""
        new = min(self.count - mark, len(self._last))
        return list(dict.fromkeys(list(self._last)[len(self._last) - new :]))

    def on_received(self, message: mcp_types.JSONRPCMessage) -> None:
        """Remember what a message asks of us."""
        if isinstance(message, mcp_types.JSONRPCRequest) and message.method not in self._answered:
            self.count += 1
            self._last.append(message.method)


class ToolChanges(MessageInterceptor):
    """Whether the server reported a change of its list of tools since `reported` was last set to False."""

    def __init__(self) -> None:
        self.reported = False

    def on_received(self, message: mcp_types.JSONRPCMessage) -> None:
        """Remember the notification."""
        self.reported |= isinstance(message, mcp_types.JSONRPCNotification) and message.method == _TOOLS_CHANGED
