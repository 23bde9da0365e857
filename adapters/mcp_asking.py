"""What an MCP server asks of us, which is nothing we offer: sampling, roots, elicitation."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

import mcp_types

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams
    from mcp.shared.message import SessionMessage

OFFERED = frozenset({"ping"})


class Asking:
    """Notes the requests that come from the server: it gets a refusal, and what the tool then says may not tell why."""

    def __init__(self) -> None:
        self.count = 0
        self._last: deque[str] = deque(maxlen=10)

    def since(self, mark: int) -> list[str]:
        """What was asked for after `count` was `mark`, each once; of many, the last."""
        new = min(self.count - mark, len(self._last))
        return list(dict.fromkeys(list(self._last)[len(self._last) - new :]))

    @asynccontextmanager
    async def watched(self, carrier: AbstractAsyncContextManager[TransportStreams]) -> AsyncIterator[TransportStreams]:
        """The same streams, with what is read from them looked at."""
        async with carrier as (incoming, outgoing):
            yield _Watched(incoming, self), outgoing

    def note(self, message: SessionMessage | Exception) -> None:
        """Remember what a message asks of us."""
        asked = None if isinstance(message, Exception) else message.message
        if isinstance(asked, mcp_types.JSONRPCRequest) and asked.method not in OFFERED:
            self.count += 1
            self._last.append(asked.method)


class _Watched:
    """A stream of messages; the SDK reads it as one of its own."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception], asking: Asking) -> None:
        self._stream, self._asking = stream, asking

    async def receive(self) -> SessionMessage | Exception:
        message = await self._stream.receive()
        self._asking.note(message)
        return message

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        message = await self._stream.__anext__()
        self._asking.note(message)
        return message

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)
