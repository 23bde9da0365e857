"""The tools of our own agent: their descriptions for the model, and what they do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from eval_skills.adapters.agent.builtin.files import Refused, WorkspaceFiles
from eval_skills.adapters.agent.builtin.shell import DEFAULT_S, MOST_S, Shell
from eval_skills.adapters.agent.workspace import SKILLS_FOLDER, installed_files
from eval_skills.agent_skills.folder import AgentSkill
from eval_skills.core.text import encodable

MAX_SKILL_FILES = 200
"""How many files of a skill are named when it is loaded."""


def _tool(name: str, description: str, required: Sequence[str], /, **properties: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


_PATH = {"type": "string", "description": "Path in the workspace"}

TOOLS = (
    _tool(
        "read",
        "Read a file as text.",
        ["path"],
        path=_PATH,
        offset={"type": "integer", "minimum": 0, "description": "Byte at which to begin"},
    ),
    _tool(
        "write",
        "Write a text to a file; the file is made or replaced.",
        ["path", "content"],
        path=_PATH,
        content={"type": "string"},
    ),
    _tool("list", "List a folder.", [], path=_PATH),
    _tool(
        "bash",
        "Run a command with bash in the workspace, without the network. Each command has a shell of its own.",
        ["command"],
        command={"type": "string"},
        timeoutS={"type": "number", "description": f"Seconds it may take; {DEFAULT_S} where it is left out"},
    ),
)

SKILL_TOOL = _tool(
    "skill", "Load the instructions of a skill.", ["name"], name={"type": "string", "description": "Name of the skill"}
)


class Tools:
    """What the agent of one item can do. Every failure is a result that the agent can read."""

    def __init__(self, files: WorkspaceFiles, shell: Shell, skills: Sequence[AgentSkill]) -> None:
        self._files, self._shell = files, shell
        self._skills = {skill.name: skill for skill in skills}

    @property
    def described(self) -> list[dict[str, Any]]:
        """The tools as the model is told of them; the one that loads skills only where there are some."""
        return [*TOOLS, *([SKILL_TOOL] if self._skills else [])]

    async def run(self, name: str, arguments: Any) -> tuple[str, str | None]:
        """The result of a call, and its error (the same text) where it was refused."""
        try:
            if not isinstance(arguments, dict):
                raise Refused("the arguments are not a JSON object")
            return await self._done(name, arguments), None
        except Refused as error:
            return f"error: {error}", str(error)

    async def _done(self, name: str, given: Mapping[str, Any]) -> str:
        match name:
            case "read":
                return await asyncio.to_thread(self._files.read, _text(given, "path"), _count(given, "offset"))
            case "write":
                return await asyncio.to_thread(self._files.write, _text(given, "path"), _text(given, "content"))
            case "list":
                return await asyncio.to_thread(self._files.listing, _text(given, "path", "."))
            case "bash":
                return await self._shell.run(_text(given, "command"), _seconds(given))
            case "skill" if self._skills:
                return self._loaded(_text(given, "name"))
        names = ", ".join(tool["function"]["name"] for tool in self.described)
        raise Refused(f"there is no tool {name!r}; there are {names}")

    def _loaded(self, name: str) -> str:
        """The body of a skill's ``SKILL.md`` and the other files that it brings, as the standard describes loading."""
        if (skill := self._skills.get(name)) is None:
            raise Refused(f"there is no skill {name!r}; there are {', '.join(self._skills)}")
        place = f"{SKILLS_FOLDER}/{name}"
        files = skill_files(skill)
        listed = "".join(f"\n- {place}/{path}" for path in files[:MAX_SKILL_FILES])
        more = f"\n[{len(files) - MAX_SKILL_FILES:,} more files]" if len(files) > MAX_SKILL_FILES else ""
        brings = f"\n\nFiles of this skill, whose folder is {place}:{listed}{more}" if files else f"\n\nIts folder is {place}."
        return f"{skill.body.strip()}{brings}"


def skill_files(skill: AgentSkill) -> list[str]:
    """The files that are installed beside the ``SKILL.md``, relative to the skill's folder, sorted."""
    return [path for path in installed_files(skill.folder) if path != skill.file.name]


def read_arguments(text: str) -> Any:
    """The arguments of a call; the text itself where it is not JSON."""
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text


def _text(given: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = given.get(name, default)
    if not isinstance(value, str):
        raise Refused(f"{name} is missing, or not a text")
    if encodable(value) != value:
        raise Refused(f"{name} holds half of a surrogate pair, which no file or command can hold")
    return value


def _count(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name) or 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise Refused(f"{name} is not a whole number from 0 on")
    return value


def _seconds(given: Mapping[str, Any]) -> float:
    value = given.get("timeoutS")
    if value is None:
        return DEFAULT_S
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MOST_S:
        raise Refused(f"timeoutS is not a number of seconds up to {MOST_S}")
    return float(value)
