"""How an MCP server is reached, and what `adapterConfig` may say of that: a program to start, or a URL to post to."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal
from urllib.parse import urlencode, urlsplit

from pydantic import Field

from eval_skills.adapters.config import CommandConfig, source_of
from eval_skills.adapters.http.address import shown
from eval_skills.adapters.http.auth import auth_headers, auth_query, sent_headers
from eval_skills.adapters.http.config import AuthConfig
from eval_skills.adapters.http.tls import trust_of, trust_of_environment
from eval_skills.adapters.mcp.client import ClientConfig
from eval_skills.adapters.process.adapter import command_words
from eval_skills.adapters.process.launch import PYTHON_MARK, Launch, child_environment, launch_of
from eval_skills.adapters.template.placeholder import has_placeholder
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Skill
from eval_skills.core.models.base import Text

if TYPE_CHECKING:
    import ssl

    from eval_skills.adapters.mcp.transport import Transport

ResultFrom = Literal["structured", "text", "json", "content"]

_GETS_ARGUMENTS = "a tool gets the input as its arguments"

MAX_OUTPUT_BYTES = 5_000_000
CONNECT_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """How a server is reached: `launch` for a program, else `url` and `headers`; one of the two is given.

    `client` answers what it asks; relative roots start at `folder`.
    """

    launch: Launch | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    protocol: Literal["auto", "legacy"] = "auto"
    connect_timeout_s: float = CONNECT_TIMEOUT_S
    max_output_bytes: int = MAX_OUTPUT_BYTES
    client: ClientConfig = field(default_factory=ClientConfig)
    folder: Path | None = None

    def transport(self) -> Transport:
        """A new carrier of messages to it."""
        if self.launch is not None:
            from eval_skills.adapters.mcp.stdio import StdioTransport

            return StdioTransport(self.launch, self.max_output_bytes)
        from eval_skills.adapters.mcp.http import HttpTransport

        return HttpTransport(self.url, self.headers, self.max_output_bytes, self.tls)

    def __str__(self) -> str:
        return shlex.join(self.launch.argv) if self.launch is not None else shown(self.url)


def is_url(entrypoint: str) -> bool:
    """Whether an entrypoint is the address of a server, and not a command."""
    return entrypoint.lstrip().lower().startswith(("http://", "https://"))


def server_of(skill: Skill, config: McpConfig, *, secrets: bool = True) -> McpServer:
    """The server behind `skill`; without `secrets` nothing that its environment variables hold.

    Raises:
        InputError: its command or URL is not valid, or its options are for the other kind.
        InfraError: the secret is not set.
    """
    known = McpServer(
        protocol=config.protocol,
        connect_timeout_s=config.connect_timeout_ms / 1000,
        max_output_bytes=config.max_output_bytes,
        client=config.client,
        folder=skill.folder,
    )
    if not is_url(config.command or skill.entrypoint):
        _refuse_auth(skill, config)
        return replace(known, launch=launch_of(skill, command_words(skill, config), config))
    if (problem := _wrong_url(skill.entrypoint)) is not None:
        raise InputError(problem, source=source_of(skill), path="entrypoint")
    given = auth_query(config) if secrets else []
    url = skill.entrypoint + ("&" if "?" in skill.entrypoint else "?") * bool(given) + urlencode(given)
    headers = {**sent_headers(config), **auth_headers(config)} if secrets else config.headers
    return replace(known, url=url, headers=headers, tls=trust_of(skill, config, skill.entrypoint.lstrip()))


def server_at(text: str, folder: Path, pass_env: Sequence[str] = (), auth: AuthConfig | None = None) -> McpServer:
    """The server that a person named by a command, to be run in `folder`, or by a URL; a program gets the allow-listed
    environment and the variables `pass_env`, a URL what `auth` says.

    Raises:
        UsageError: `text` is neither a command nor a URL, or a variable names authorities that cannot be used.
        InfraError: the secret cannot be sent.
    """
    if is_url(text):
        if (problem := _wrong_url(text)) is not None:
            raise UsageError(problem)
        url = text.strip()
        try:
            trusted = trust_of_environment() if url.lower().startswith("https:") else None
        except ValueError as error:
            raise UsageError(str(error)) from None
        return McpServer(url=url, headers=auth_headers(auth) if auth is not None else {}, tls=trusted)
    return McpServer(launch=Launch(argv=_words(text), cwd=folder, env=child_environment({}, pass_env)))


def _words(text: str) -> tuple[str, ...]:
    import sys

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the MCP server {text!r} cannot be split into words ({str(error).lower()}); check its quotes") from None
    if not words:
        raise UsageError("the MCP server is empty; name a command or an http(s):// URL")
    return tuple(sys.executable if word == PYTHON_MARK else word for word in words)


def _refuse_auth(skill: Skill, config: McpConfig) -> None:
    if config.auth_type != "none" or config.headers or config.query or config.tls is not None:
        message = "authType, headers, query and tls are for a server behind a URL; a program gets its secrets through passEnv"
        raise InputError(message, source=source_of(skill), path="adapterConfig")


def _wrong_url(url: str) -> str | None:
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError as error:
        return f"{url!r} is not a URL: {error}"
    if has_placeholder(url):
        return f"the address has a placeholder, but is not filled in; {_GETS_ARGUMENTS}"
    return None if parts.hostname else f"{url!r} is not a URL: it names no host"


class McpConfig(CommandConfig, AuthConfig):
    """How an MCP server is reached: a command on standard input and output, or a URL with its authentication.

    `tool` is the tool to call, by default the skill's id. `protocol` `legacy` begins with the handshake that servers of before
    2026 expect; `auto` finds out. `connect_timeout_ms` bounds the start, the negotiation and the listing of tools.
    `result_from` is the part of an answer that is the output: the structured content, the text, the text read as JSON, or all
    blocks; by default the first of structured content, text and blocks that is there. `client` has the scripted answers to what
    the server asks of its client.
    """

    _instead: ClassVar[str] = f"{_GETS_ARGUMENTS}; write what holds for every item"

    tool: Text | None = None
    result_from: ResultFrom | None = None
    client: ClientConfig = ClientConfig()
    protocol: Literal["auto", "legacy"] = "auto"
    connect_timeout_ms: int = Field(default=30_000, gt=0)
