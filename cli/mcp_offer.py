"""The skills that an MCP server offers, for the commands that name one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.core.models import Skill


def offered_skills(option: str, server: str, pass_env: Sequence[str] | None) -> list[Skill]:
    """The tools of the server that a command or URL names, as skills that call it.

    Raises:
        UsageError: the server cannot be reached or offers nothing; the message says why.
    """
    import asyncio
    from dataclasses import asdict

    from eval_skills.adapters.mcp_server import server_at
    from eval_skills.adapters.mcp_tools import offer_of
    from eval_skills.core.errors import ItemError, UsageError
    from eval_skills.scaffolding.mcp_tools import ToolDescription, ToolServer, tool_skills

    reached = server_at(server, Path.cwd(), _set_variables(pass_env or ()))
    try:
        offer = asyncio.run(offer_of(reached))
    except ItemError as error:
        raise UsageError(f"{option} {str(reached)!r}: {error}") from None
    if not offer.tools:
        raise UsageError(f"{option} {str(reached)!r}: the server offers no tools")
    tools = [ToolDescription(**asdict(tool)) for tool in offer.tools]
    config: dict[str, Any] = {"passEnv": list(pass_env)} if pass_env else {}
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


def _set_variables(names: Sequence[str]) -> Sequence[str]:
    import os

    from eval_skills.core.errors import UsageError

    if unset := [name for name in names if name not in os.environ]:
        raise UsageError(f"--pass-env names {', '.join(unset)}, which is not set here; set it, or leave it out")
    return names
