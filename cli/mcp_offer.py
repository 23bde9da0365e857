"""The skills that an MCP server offers, for the commands that name one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.core.models import Skill


def offered_skills(option: str, server: str, pass_env: Sequence[str] | None, auth_token_env: str | None = None) -> list[Skill]:
    """The tools of the server that a command or URL names, as skills that call it.

    A program gets the variables `pass_env`; a URL the bearer token that the variable `auth_token_env` holds.

    Raises:
        UsageError: the server cannot be reached or offers nothing; the message says why.
    """
    import asyncio
    from dataclasses import asdict

    from eval_skills.adapters.http_config import AuthConfig
    from eval_skills.adapters.mcp_server import server_at
    from eval_skills.adapters.mcp_tools import offer_of
    from eval_skills.core.errors import ItemError, UsageError
    from eval_skills.scaffolding.mcp_tools import ToolDescription, ToolServer, tool_skills

    config = _access(server, pass_env, auth_token_env)
    auth = AuthConfig.model_validate(config) if auth_token_env is not None else None
    try:
        reached = server_at(server, Path.cwd(), pass_env or (), auth)
    except ItemError as error:
        raise UsageError(f"--auth-token-env: {error}") from None
    try:
        offer = asyncio.run(offer_of(reached))
    except ItemError as error:
        raise UsageError(f"{option} {str(reached)!r}: {error}") from None
    if not offer.tools:
        raise UsageError(f"{option} {str(reached)!r}: the server offers no tools")
    tools = [ToolDescription(**asdict(tool)) for tool in offer.tools]
    entrypoint = anchored(server, Path.cwd())
    return tool_skills(tools, ToolServer(entrypoint=entrypoint, adapter_config=config, name=offer.name, version=offer.version))


def anchored(command: str, folder: Path) -> str:
    """`command` for a skill that runs in a folder of its own: words that are paths of things in `folder` become absolute.

    A word is taken for a path if it has a ``/`` or an ending, or is ``.`` or ``..``, and is there. A URL stays as it is.
    """
    from eval_skills.adapters.mcp_server import is_url

    if is_url(command):
        return command.strip()
    return shlex.join(_anchored_word(word, folder) for word in shlex.split(command))


def _anchored_word(word: str, folder: Path) -> str:
    like_a_path = "/" in word or word in {".", ".."} or bool(Path(word).suffix)
    return str((folder / word).resolve()) if like_a_path and not Path(word).is_absolute() and (folder / word).exists() else word


def _access(server: str, pass_env: Sequence[str] | None, auth_token_env: str | None) -> dict[str, Any]:
    """The part of `adapterConfig` that says what the server gets of our environment."""
    from eval_skills.adapters.mcp_server import is_url
    from eval_skills.core.errors import UsageError

    if pass_env and is_url(server):
        raise UsageError("--pass-env is for a server that is a program; a URL gets its token with --auth-token-env NAME")
    if auth_token_env is not None and not is_url(server):
        raise UsageError("--auth-token-env is for a server behind a URL; a program gets its variables with --pass-env NAME")
    _refuse_unset("--pass-env", pass_env or ())
    if auth_token_env is None:
        return {"passEnv": list(pass_env)} if pass_env else {}
    _refuse_unset("--auth-token-env", [auth_token_env])
    return {"authType": "bearer", "authTokenEnvKey": auth_token_env}


def _refuse_unset(option: str, names: Sequence[str]) -> None:
    import os

    from eval_skills.core.errors import UsageError
    from eval_skills.core.variable_names import absence, variable_name

    for name in names:
        try:
            variable_name(name)
        except ValueError as error:
            raise UsageError(f"{option}: {error}") from None
        if name not in os.environ:
            raise UsageError(f"{option}: {absence(name, os.environ)}; set it, or leave it out")
