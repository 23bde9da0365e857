"""``eval-skills create`` from what is there: ``--from-mcp`` makes a skill of each tool of a server, ``--from-openapi`` of each
operation of a document. `offered_skills` is also for other commands that name an MCP server.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from eval_skills.cli.context import current, print_json, printable
from eval_skills.core.config.values import absence, variable_name
from eval_skills.core.errors import ItemError, UsageError
from eval_skills.core.text import first_of, nearest

if TYPE_CHECKING:
    from eval_skills.adapters.mcp.session import ServerTool, ToolListing
    from eval_skills.core.models import Skill
    from eval_skills.scaffolding.draft import Draft
    from eval_skills.scaffolding.openapi import Imported
    from eval_skills.scaffolding.openapi.operation import Choice


def create_from_mcp(
    server: str,
    folder: Path,
    *,
    name: str | None,
    pass_env: Sequence[str] | None,
    auth_token_env: str | None,
    force: bool,
) -> int:
    """Write a ``skill.json`` for each tool of `server` into `folder`, or for the one tool `name`."""
    from eval_skills.scaffolding.draft import write_drafts
    from eval_skills.scaffolding.mcp import draft_tool_skills, shortened_names, why_no_starter

    skills = offered_skills("--from-mcp", server, pass_env, auth_token_env)
    chosen = [skill for skill in skills if name in {None, skill.id, skill.adapter_config.get("tool")}]
    if not chosen:
        ids = [skill.id for skill in skills]
        raise UsageError(f"--name {name!r} is not a tool of the server{nearest(str(name), ids)}; it offers {', '.join(ids)}")
    drafts = draft_tool_skills(chosen, folder)
    write_drafts(drafts, force=force)
    for remark in [*shortened_names(chosen), *_left_tests(drafts)]:
        current().remark(remark)
    _show_mcp(drafts, [why_no_starter(skill) for skill in chosen])
    return 0


def _left_tests(drafts: Sequence[Draft]) -> list[str]:
    """What --force leaves of an earlier call, and `--own-tests` would run."""
    from eval_skills.scaffolding.skill_templates import TESTS_FILE, shown_path

    without = [draft.folder / TESTS_FILE for draft in drafts if TESTS_FILE not in draft.files]
    said = "stays: no test is written here any more; read it before you run it"
    return [f"{shown_path(file)} {said}" for file in without if file.exists()]


def _show_mcp(drafts: Sequence[Draft], lacks: Sequence[str]) -> None:
    from eval_skills.scaffolding.skill_templates import TESTS_FILE, own_tests_command, shown_path

    if current().json:
        print_json({"skills": [_mcp_entry(draft, lack) for draft, lack in zip(drafts, lacks, strict=True)]})
        return
    for draft, lack in zip(drafts, lacks, strict=True):
        without = f"  (without tests: {lack})" if lack else ""
        current().say(printable(f"created {draft.folder.name}  {shown_path(draft.folder)}{without}"))
    if tested := next((draft for draft in drafts if TESTS_FILE in draft.files), None):
        current().say(printable(f"test it  {own_tests_command(tested.folder)}"))


def _mcp_entry(draft: Draft, lack: str) -> dict[str, Any]:
    files = [str(path) for path in draft.paths()]
    return {"id": draft.folder.name, "folder": str(draft.folder), "files": files, "whyNoTests": lack or None}


PROGRESS_PERIOD_S = 2.0


def _progress() -> Callable[[int, int], None]:
    """Says on stderr how far it is, every now and then."""
    shown = monotonic()

    def tell(done: int, of: int) -> None:
        nonlocal shown
        if monotonic() - shown >= PROGRESS_PERIOD_S:
            shown = monotonic()
            current().remark(f"{done:,} of {of:,} operations", style="")

    return tell


def create_from_openapi(
    document: Path,
    folder: Path,
    *,
    name: str | None,
    operation: str | None,
    choice: Choice,
    base_url: str | None,
    force: bool,
) -> int:
    """Write the skills of `document` into `folder`, and say what they need and what was left out."""
    from eval_skills.scaffolding.draft import write_drafts
    from eval_skills.scaffolding.names import skill_name
    from eval_skills.scaffolding.openapi import import_openapi

    named = skill_name(name) if name is not None else None
    imported = import_openapi(
        document, folder, operation=operation, choice=choice, name=named, base_url=base_url, tell=_progress()
    )
    write_drafts(imported.drafts, force=force)
    _show_openapi(imported)
    return 0


def _show_openapi(imported: Imported) -> None:
    from eval_skills.scaffolding.skill_templates import own_tests_command, shown_path

    remarks = [*imported.remarks, *imported.changes]
    for remark in remarks:
        current().remark(printable(remark))
    if current().json:
        skills = [_openapi_entry(draft) for draft in imported.drafts]
        print_json({"skills": skills, "variables": imported.variables, "remarks": remarks})
        return
    for draft in imported.drafts:
        current().say(f"created {draft.folder.name}  {shown_path(draft.folder)}")
    if imported.variables:
        current().say(f"set first  {', '.join(imported.variables)}")
    first = imported.drafts[0].folder
    many = shlex.join(["eval-skills", "eval", "--own-tests", "--skills", shown_path(first.parent)])
    current().say(f"test it    {many if len(imported.drafts) > 1 else own_tests_command(first)}")


def _openapi_entry(draft: Draft) -> dict[str, Any]:
    from eval_skills.scaffolding.skill_templates import own_tests_command

    files = [str(path) for path in draft.paths()]
    return {"id": draft.folder.name, "folder": str(draft.folder), "files": files, "next": own_tests_command(draft.folder)}


_NAMED = 3
"""So many malformed tools are named; of more, how many."""


def offered_skills(option: str, server: str, pass_env: Sequence[str] | None, auth_token_env: str | None) -> list[Skill]:
    """The tools of the server that a command or URL names, as skills that call it.

    A program gets the variables `pass_env`; a URL the bearer token that the variable `auth_token_env` holds.

    Raises:
        UsageError: the server cannot be reached or offers nothing; the message says why.
    """
    import asyncio

    from eval_skills.adapters.http.config import AuthConfig
    from eval_skills.adapters.mcp.server import server_at
    from eval_skills.adapters.mcp.session import list_tools
    from eval_skills.scaffolding.mcp import ToolDescription, ToolServer, tool_skills

    config = _access(server, pass_env, auth_token_env)
    auth = AuthConfig.model_validate(config) if auth_token_env is not None else None
    try:
        reached = server_at(server, Path.cwd(), pass_env or (), auth)
    except ItemError as error:
        raise UsageError(f"--auth-token-env: {error}") from None
    try:
        offer = asyncio.run(list_tools(reached))
    except ItemError as error:
        raise UsageError(f"{option} {str(reached)!r}: {error}") from None
    try:
        tools = [ToolDescription(**asdict(tool)) for tool in _usable_tools(offer)]
    except UsageError as error:
        raise UsageError(f"{option} {str(reached)!r}: {error}") from None
    for remark in _left_out(offer):
        current().remark(remark)
    entrypoint = anchored(server, Path.cwd())
    return tool_skills(tools, ToolServer(entrypoint=entrypoint, adapter_config=config, name=offer.name, version=offer.version))


def _usable_tools(offer: ToolListing) -> list[ServerTool]:
    """The tools that can be called: those with a name of their own.

    Raises:
        UsageError: there is none; the message says why.
    """
    if not offer.tools and offer.malformed:
        raise UsageError(f"no tool of the server follows the MCP version that it names: {_malformed(offer)}")
    if not offer.tools:
        raise UsageError("the server offers no tools")
    usable = [tool for tool in offer.tools if tool.name.strip() and tool.name not in offer.ambiguous]
    if not usable:
        raise UsageError("the server offers no tool that has a name of its own")
    return usable


def _left_out(offer: ToolListing) -> Iterator[str]:
    """Which of the tools do not become skills, and why."""
    if offer.ambiguous:
        names = ", ".join(sorted(offer.ambiguous))
        yield f"the server lists {names} more than once, in different ways: left out, since a tool is called by its name"
    if offer.malformed:
        yield f"left out, since the server lists them against the MCP version that it names: {_malformed(offer)}"
    if unnamed := sum(not tool.name.strip() for tool in offer.tools):
        each = "1 tool that has" if unnamed == 1 else f"{unnamed} tools that have"
        yield f"the server lists {each} no name: left out, since a tool is called by its name"


def _malformed(offer: ToolListing) -> str:
    return first_of([f"{name} ({problem})" for name, problem in offer.malformed.items()], _NAMED)


def anchored(command: str, folder: Path) -> str:
    """`command` for a skill that runs in a folder of its own: words that are paths of things in `folder` become absolute.

    A word is taken for a path if it has a ``/`` or an ending, or is ``.`` or ``..``, and is there. A URL stays as it is.
    """
    from eval_skills.adapters.mcp.server import is_url

    if is_url(command):
        return command.strip()
    return shlex.join(_anchored_word(word, folder) for word in shlex.split(command))


def _anchored_word(word: str, folder: Path) -> str:
    like_a_path = "/" in word or word in {".", ".."} or bool(Path(word).suffix)
    return str((folder / word).resolve()) if like_a_path and not Path(word).is_absolute() and (folder / word).exists() else word


def _access(server: str, pass_env: Sequence[str] | None, auth_token_env: str | None) -> dict[str, Any]:
    """The part of `adapterConfig` that says what the server gets of our environment."""
    from eval_skills.adapters.mcp.server import is_url

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
    for name in names:
        try:
            variable_name(name)
        except ValueError as error:
            raise UsageError(f"{option}: {error}") from None
        if name not in os.environ:
            raise UsageError(f"{option}: {absence(name, os.environ)}; set it, or leave it out")
