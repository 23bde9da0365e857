"""What tools an MCP server offers, asked once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eval_skills.adapters.mcp.server import McpServer


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as its server describes it; `title` and `description` may be empty, and so may the schema of its output."""

    name: str
    title: str = ""
    description: str = ""
    input_schema: dict[str, Any] = field(default_factory=dict)
    output_schema: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of a server in its own order, and what it says of itself; the names may be empty."""

    tools: list[ServerTool]
    name: str = ""
    version: str = ""
    protocol: str = ""


async def offer_of(server: McpServer) -> Offer:
    """Connect, list, and leave.

    Raises:
        ItemError: the server cannot be started, reached or understood.
    """
    from eval_skills.adapters.mcp.session import McpSession

    session = McpSession(server)
    try:
        client = await session.ready()
        info = client.server_info
        tools = [
            ServerTool(tool.name, tool.title or "", tool.description or "", tool.input_schema, tool.output_schema or {})
            for tool in session.tools.values()
        ]
        name, version = (info.name, info.version) if info is not None else ("", "")
        return Offer(tools, name, version, client.protocol_version)
    finally:
        await session.close()
