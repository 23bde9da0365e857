"""What `adapterConfig` may hold for a tool of an MCP server."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from eval_skills.adapters.config import CommandConfig
from eval_skills.adapters.http_config import AuthConfig
from eval_skills.core.models.base import Text


class McpConfig(CommandConfig, AuthConfig):
    """How an MCP server is reached: a command on standard input and output, or a URL with its authentication.

    `tool` is the tool to call, by default the skill's id. `protocol` `legacy` begins with the handshake that servers of before
    2026 expect; `auto` finds out. `connect_timeout_ms` bounds the start, the negotiation and the listing of tools.
    """

    tool: Text | None = None
    protocol: Literal["auto", "legacy"] = "auto"
    connect_timeout_ms: int = Field(default=30_000, gt=0)
