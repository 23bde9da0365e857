"""The tools of an MCP server as skills."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval_skills.core.errors import UsageError
from eval_skills.core.models import Skill
from eval_skills.core.skills import SKILL_FILE
from eval_skills.scaffolding.draft import Draft
from eval_skills.scaffolding.mcp_starter import starter_benchmark
from eval_skills.scaffolding.skill_name import skill_name
from eval_skills.scaffolding.skill_templates import TESTS_FILE

FIRST_VERSION = "1.0.0"
_SEMVER = re.compile(r"\d+\.\d+\.\d+")
_ID = re.compile(r"[a-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """A tool as its server describes it."""

    name: str
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServer:
    """The server as a skill.json names it: the command or URL, the `adapterConfig` that reaches it, what it calls itself."""

    entrypoint: str
    adapter_config: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    version: str = ""


def tool_skills(tools: Sequence[ToolDescription], server: ToolServer) -> list[Skill]:
    """A skill for each tool, in order. A tool whose name is no id gets one of its letters; of equal ids the later get a number.

    The version is the server's where it is ``X.Y.Z``, else `FIRST_VERSION`.
    """
    taken: set[str] = set()
    return [_skill(tool, _free_id(tool.name, taken), server) for tool in tools]


def draft_tool_skills(skills: Sequence[Skill], folder: Path) -> list[Draft]:
    """Each skill as a folder of its id in `folder`: its ``skill.json``, and tests where its schema gives examples."""
    return [Draft(folder / skill.id, {SKILL_FILE: _text(skill)} | _tests(skill)) for skill in skills]


def _tests(skill: Skill) -> dict[str, str]:
    benchmark = starter_benchmark(skill)
    return {TESTS_FILE: json.dumps(benchmark, indent=2, ensure_ascii=False) + "\n"} if benchmark is not None else {}


def _skill(tool: ToolDescription, skill_id: str, server: ToolServer) -> Skill:
    own = {"tool": tool.name} if tool.name != skill_id else {}
    return Skill(
        id=skill_id,
        name=tool.title.strip() or tool.name.strip() or skill_id,
        version=server.version if _SEMVER.fullmatch(server.version) else FIRST_VERSION,
        description=tool.description.strip(),
        tags=["mcp"],
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema),
        adapter_type="mcp",
        entrypoint=server.entrypoint,
        adapter_config={**own, **server.adapter_config},
        metadata={"mcpServer": server.name} if server.name else {},
    )


def _free_id(name: str, taken: set[str]) -> str:
    wanted = name if _ID.fullmatch(name) else _made_id(name)
    found, number = wanted, 2
    while found in taken:
        found, number = f"{wanted}-{number}", number + 1
    taken.add(found)
    return found


def _made_id(name: str) -> str:
    try:
        return skill_name(re.sub(r"[^\w-]+", "-", name).strip("-") or "tool").id[:60]
    except UsageError:  # a name in another script, or a very long one
        return "tool"


def _text(skill: Skill) -> str:
    held = {key: value for key, value in skill.to_json().items() if value not in ({}, [], "")}
    return json.dumps(held, indent=2, ensure_ascii=False) + "\n"
