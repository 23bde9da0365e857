"""An MCP server built with the SDK, on standard input and output, or on the port that its first argument names."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

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
async def boom(ctx: Context) -> str:
    """Reports a call, and raises."""
    await ctx.report_progress(1, 2, json.dumps({"toolCalls": [{"name": "pay", "arguments": {"chf": 5}}]}))
    await asyncio.sleep(0.2)
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
def big(size: int) -> str:
    """A long text."""
    return "x" * size


@server.tool()
def pid() -> int:
    """The process."""
    return os.getpid()


@server.tool(structured_output=False)
def consult(city: str, ctx: Context) -> str | InputRequiredResult:
    """Asks its client everything there is to ask, in the way of protocol 2026-07-28."""
    if ctx.input_responses is not None:
        return json.dumps({key: given.model_dump(mode="json") for key, given in sorted(ctx.input_responses.items())})
    said = SamplingMessage(role="user", content=TextContent(type="text", text=f"Which canton is {city} in?"))
    form = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
    requests: dict[str, CreateMessageRequest | ElicitRequest | ListRootsRequest] = {
        "model": CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=9)),
        "user": ElicitRequest(params=ElicitRequestFormParams(message=f"Really {city}?", requested_schema=form)),
        "roots": ListRootsRequest(),
    }
    return InputRequiredResult(input_requests=requests)


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
