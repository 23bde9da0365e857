"""Agents for tests: programs of a few lines, and Agent Skills for them."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from pathlib import Path
from typing import Any

from eval_skills.adapters import open_adapter
from eval_skills.core.errors import ItemError
from eval_skills.core.models import Skill, SkillResponse
from tests.adapters.programs import PATIENCE_S
from tests.adapters.skills import make_skill
from tests.scripted_model import Says

SAYS = """
import json, os, subprocess, sys, time
def say(type, **more):
    print(json.dumps({"type": type, **more}), flush=True)
prompt = sys.stdin.read()
"""


def program_agent(folder: Path, source: str, **config: Any) -> Skill:
    """A custom agent in `folder` that is this Python; it has `say`, and `prompt`."""
    (folder / "agent.py").write_text(SAYS + textwrap.dedent(source))
    command = f"{shlex.quote(sys.executable)} -S -E agent.py"
    return make_skill("agent", "custom", {"command": command, **config}, folder)


def agent_skill(folder: Path, name: str = "csv", body: str = "Count the rows.", description: str = "Counts rows") -> Path:
    """An Agent Skill with a script, and with expectations that nobody may see."""
    skill = folder / name
    (skill / "evals").mkdir(parents=True)
    (skill / "scripts").mkdir()
    (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n{body}\n")
    (skill / "scripts" / "count.sh").write_text("wc -l\n")
    (skill / "evals" / "evals.json").write_text('{"expected": "42 rows"}')
    return skill


async def outcome(skill: Skill, asked: Any = "Do it.", timeout_s: float = PATIENCE_S) -> SkillResponse | ItemError:
    """What became of one call."""
    async with open_adapter(skill) as adapter:
        try:
            return await adapter.call(asked, timeout_s)
        except ItemError as error:
            return error


async def answered(skill: Skill, asked: Any = "Do it.") -> SkillResponse:
    """The answer to one call, which has one."""
    found = await outcome(skill, asked)
    assert isinstance(found, SkillResponse), found
    return found


async def failed(skill: Skill, asked: Any = "Do it.", timeout_s: float = PATIENCE_S) -> tuple[ItemError, SkillResponse]:
    """The error of one call, which has one, and what is known of what it did."""
    found = await outcome(skill, asked, timeout_s)
    assert isinstance(found, ItemError), found
    assert found.known is not None
    return found, found.known


def calls(*asked: tuple[str, Any], text: str | None = None, usage: tuple[int, int] = (100, 20)) -> Says:
    """A reply of a model that calls tools."""
    listed = [
        {
            "id": f"k{place}",
            "type": "function",
            "function": {"name": name, "arguments": each if isinstance(each, str) else json.dumps(each)},
        }
        for place, (name, each) in enumerate(asked)
    ]
    message = {"role": "assistant", "content": text, "tool_calls": listed}
    completion = {
        "id": "c-1", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]},
    }  # fmt: skip
    return Says(body=json.dumps(completion).encode())
