"""A server that keeps every byte it is sent, and one question to a skill behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.core.errors import ItemError
from eval_skills.core.models import Skill, SkillResponse

PATIENCE_S = 60.0
Ask = Callable[..., Any]


@dataclass
class Wire:
    """A server that keeps the bytes of every request, and answers with the bytes it is given."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    answer: bytes = b'{"ok": true}'
    head: str = "HTTP/1.1 200 OK\r\nContent-Type: application/json"
    answers: dict[str, str] = field(default_factory=dict)
    """Other heads, by path."""
    keep_open: bool = False
    tail: bytes = b""
    """What is sent after the answer, as if it belonged to it."""
    connections: int = 0

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def line(self) -> str:
        """The first line of the last request."""
        return self.requests[-1].split(b"\r\n", 1)[0].decode()

    def headers(self) -> dict[str, str]:
        """Its headers, by their names in lower case; none may be there twice."""
        lines = self.requests[-1].split(b"\r\n\r\n", 1)[0].decode().split("\r\n")[1:]
        pairs = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines)]
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    def body(self) -> bytes:
        """Its body."""
        return self.requests[-1].split(b"\r\n\r\n", 1)[1]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read a request and answer it; then hang up, unless the connection is kept open for another."""
        self.connections += 1
        with suppress(asyncio.IncompleteReadError):
            while True:
                await self._answer(await reader.readuntil(b"\r\n\r\n"), reader, writer)
                if not self.keep_open:
                    break
        writer.close()

    async def _answer(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
        self.requests.append(head + await reader.readexactly(length))
        path = self.line().split(" ")[1].partition("?")[0]
        framing = f"Content-Length: {len(self.answer)}\r\nConnection: {'keep-alive' if self.keep_open else 'close'}"
        writer.write(f"{self.answers.get(path, self.head)}\r\n{framing}\r\n\r\n".encode() + self.answer + self.tail)
        await writer.drain()


@asynccontextmanager
async def listening() -> AsyncIterator[Wire]:
    """A server of that kind while the block runs."""
    wire = Wire()
    async with await asyncio.start_server(wire.serve, "127.0.0.1", 0) as server:
        wire.port = server.sockets[0].getsockname()[1]
        yield wire


def skill(url: str, **config: Any) -> Skill:
    data = {"id": "probe", "name": "P", "version": "1.2.3", "adapterType": "http", "entrypoint": url, "adapterConfig": config}
    return Skill.model_validate(data)


async def response(probe: Skill, input_data: Any = None, timeout_s: float = PATIENCE_S) -> SkillResponse:
    """What one call of `probe` brings."""
    async with HttpAdapter(probe) as adapter:
        return await adapter.call(input_data, timeout_s)


async def failure(probe: Skill, input_data: Any = None, timeout_s: float = PATIENCE_S) -> ItemError:
    """The error that one call of `probe` ends in."""
    with pytest.raises(ItemError) as caught:
        await response(probe, input_data, timeout_s)
    return caught.value


async def refused(ask: Ask, *arguments: Any, **config: Any) -> ItemError:
    """The error that `ask` ends in."""
    with pytest.raises(ItemError) as caught:
        await ask(*arguments, **config)
    return caught.value
