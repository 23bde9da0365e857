"""A handshake that is cut at its limit leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.core.errors import InfraError, SkillTimeout
from tests.adapters.programs import in_time
from tests.adapters.skills import make_skill


@dataclass(frozen=True, slots=True)
class Mute:
    """A server that takes connections and never says a word: where it is, whether it was `reached`, and left again."""

    url: str
    reached: asyncio.Event
    left: asyncio.Event

    async def was_left(self) -> bool:
        """Whether it was reached at all; if so, only when the other side has hung up."""
        if self.reached.is_set():
            await asyncio.wait_for(self.left.wait(), 60)
        return self.reached.is_set()


@asynccontextmanager
async def muted() -> AsyncIterator[Mute]:
    reached, left = asyncio.Event(), asyncio.Event()

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        while await reader.read(1000):  # until the other side hangs up
            pass
        left.set()
        writer.close()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        yield Mute(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/", reached, left)


async def test_a_handshake_that_is_cut_leaves_no_socket(tmp_path: Path) -> None:
    async def cut(limit_s: float) -> bool:
        async with muted() as server, HttpAdapter(make_skill("http", server.url, {}, tmp_path)) as adapter:
            with pytest.raises(SkillTimeout):
                await adapter.call({}, limit_s)
            return await server.was_left()

    assert await in_time(cut, bool)


async def test_a_handshake_with_an_mcp_server_that_is_cut_leaves_no_socket(tmp_path: Path) -> None:
    async def cut(limit_s: float) -> bool:
        async with muted() as server:
            skill = make_skill("mcp", server.url, {"connectTimeoutMs": int(limit_s * 1000)}, tmp_path)
            async with open_adapter(skill) as adapter:
                with pytest.raises(InfraError, match="not ready within"):
                    await adapter.call({}, 600)
                return await server.was_left()

    assert await in_time(cut, bool)
