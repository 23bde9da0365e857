"""What passes between the SDK and a server, looked at on its way, and mended in place where that is needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

if TYPE_CHECKING:
    import mcp_types
    from mcp.client._transport import ReadStream, TransportStreams, WriteStream
    from mcp.shared.message import SessionMessage

S = TypeVar("S", bound="ReadStream[Any] | WriteStream[Any]")


class Watcher:
    """Is told of every message, in both directions, before anybody else; here: does nothing about it."""

    def sent(self, message: mcp_types.JSONRPCMessage) -> None:
        """A message on its way to the server."""

    def came(self, message: mcp_types.JSONRPCMessage) -> None:
        """A message on its way from the server."""


@asynccontextmanager
async def watched(
    carrier: AbstractAsyncContextManager[TransportStreams], watchers: Sequence[Watcher]
) -> AsyncIterator[TransportStreams]:
    """The streams of `carrier`, with the watchers looking on."""
    async with carrier as (incoming, outgoing):
        yield _Incoming(incoming, watchers), _Outgoing(outgoing, watchers)


class _Stream(Generic[S]):
    """What the SDK's two kinds of stream have in common."""

    def __init__(self, stream: S, watchers: Sequence[Watcher]) -> None:
        self._stream, self._watchers = stream, watchers

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
        for watcher in self._watchers:
            watcher.sent(item.message)
        await self._stream.send(item)


class _Incoming(_Stream["ReadStream[SessionMessage | Exception]"]):
    async def receive(self) -> SessionMessage | Exception:
        return self._looked_at(await self._stream.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._looked_at(await self._stream.__anext__())

    def _looked_at(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if not isinstance(item, Exception):
            for watcher in self._watchers:
                watcher.came(item.message)
        return item
