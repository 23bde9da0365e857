"""Any program that prints what it does as JSON lines.

::

    {"type": "message", "role": "assistant", "content": "I look at the file first."}
    {"type": "tool_call", "id": "c1", "name": "read", "arguments": {"path": "a.csv"}}
    {"type": "tool_result", "id": "c1", "result": "x,y", "error": null}
    {"type": "usage", "promptTokens": 900, "completionTokens": 40, "costUsd": 0.001}
    {"type": "skill_loaded", "name": "csv"}
    {"type": "step"}
    {"type": "answer", "content": "12 rows"}

Other lines are its log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.runtimes.base import AgentRun, Command
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.adapters.agent.workspace import SKILLS_FOLDER, install_skills
from eval_skills.adapters.answer.envelope import parse_json

PROMPT_FILE = "EVAL_SKILLS_PROMPT_FILE"


class Custom:
    """`adapterConfig.command` gets the prompt on its standard input, and in the file that ``$EVAL_SKILLS_PROMPT_FILE`` names."""

    name = "custom"
    program = ""
    install = ""
    needs: Mapping[str, str] = MappingProxyType({})
    needs_network = False

    def check(self, config: AgentConfig) -> str:
        """It has no usual program."""
        return "" if config.command else "the runtime custom has no program of its own; name one in adapterConfig.command"

    def prepare(self, run: AgentRun) -> Command:
        """The skills are in ``.agents/skills/<name>/`` of the workspace, and the key has the name that it has here."""
        skills = run.workspace / SKILLS_FOLDER
        if run.skills and not os.path.lexists(skills.parent):  # a later turn finds what the agent has made of them
            install_skills(run.skills, skills)
        prompt = run.home / "prompt.txt"
        prompt.write_text(run.prompt, encoding="utf-8")
        key = {run.config.api_key_env: run.api_key} if run.config.api_key_env and run.api_key else {}
        model = {"EVAL_SKILLS_MODEL": run.config.model, "EVAL_SKILLS_BASE_URL": run.config.base_url}
        given = {name: value for name, value in model.items() if value is not None}
        return Command(run.program, {PROMPT_FILE: str(prompt), **given, **key}, stdin=run.prompt)

    def read(self, line: str, transcript: Transcript) -> bool:
        """One of the events above; of a field that is not as it should be, the event is not one."""
        if not line.lstrip().startswith("{"):
            return False
        try:
            event = parse_json(line.encode())
        except ValueError:
            return False
        note = _EVENTS.get(event.get("type")) if isinstance(event.get("type"), str) else None
        if note is None:
            return False
        try:
            note(event, transcript)
        except (KeyError, TypeError):
            return False
        return True

    def version(self, program: tuple[str, ...]) -> tuple[str, ...]:
        """Not known of any program."""
        return ()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _message(event: dict[str, Any], transcript: Transcript) -> None:
    transcript.message(_text(event["role"]), _text(event["content"]))


def _tool_call(event: dict[str, Any], transcript: Transcript) -> None:
    transcript.tool_call(_id(event), _text(event["name"]), event.get("arguments"))


def _tool_result(event: dict[str, Any], transcript: Transcript) -> None:
    error = event.get("error")
    transcript.tool_result(_id(event), event.get("result"), None if error is None else _text(error))


def _usage(event: dict[str, Any], transcript: Transcript) -> None:
    transcript.usage(_number(event.get("promptTokens"), int), _number(event.get("completionTokens"), int))
    transcript.cost(_number(event.get("costUsd"), float))


def _number(value: Any, kind: type) -> Any:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise TypeError
    return kind(value)


def _id(event: dict[str, Any]) -> str | None:
    return None if event.get("id") is None else _text(event["id"])


_EVENTS: dict[str, Callable[[dict[str, Any], Transcript], None]] = {
    "message": _message,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "usage": _usage,
    "skill_loaded": lambda event, transcript: transcript.loaded(_text(event["name"])),
    "step": lambda event, transcript: transcript.step(),
    "answer": lambda event, transcript: transcript.answer(_text(event["content"])),
}
