"""An MCP server built with the SDK, on standard input and output, or on the port that its first argument names."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image

server = MCPServer("modern", version="2.1.0")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def table() -> list[dict[str, Any]]:
    """A list of rows."""
    return [{"n": 1}, {"n": 2}]


@server.tool()
def boom() -> str:
    """Raises."""
    raise ValueError("the real reason")


@server.tool()
def picture() -> Image:
    """An image."""
    return Image(data=b"\x89PNG", format="png")


@server.tool()
async def slow(seconds: float) -> str:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return "late"


@server.tool()
async def told(ctx: Context) -> str:
    """Reports progress."""
    await ctx.report_progress(1, 2, "half way")
    return "done"


@server.tool()
def big(size: int) -> str:
    """A long text."""
    return "x" * size


@server.tool()
def pid() -> int:
    """The process."""
    return os.getpid()


@server.tool()
def die() -> str:
    """Ends the process."""
    os._exit(3)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        stateless = "stateless" in sys.argv
        server.run(
            "streamable-http", host="127.0.0.1", port=int(sys.argv[1]), json_response="json" in sys.argv, stateless_http=stateless
        )
    else:
        server.run("stdio")
