"""Codex (https://github.com/openai/codex), by ``codex exec --json``; tried with 0.169.0.

A line an event: ``turn.started``, ``item.started`` and ``item.completed`` with an item (a command, a changed file, a message),
``turn.completed`` with the tokens of all turns of the model, ``turn.failed``.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.runtimes import codex_record
from eval_skills.adapters.agent.runtimes.base import AgentRun, Command
from eval_skills.adapters.agent.runtimes.events import another_attempt_helps, count, event_of, message_of, not_read, text_of
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.adapters.agent.workspace import install_skills

KEY = "CODEX_API_KEY"
"""The variable in which ``codex exec`` finds its key."""

_RETRIES = 2
_SHELL_WORDS = 3


class Codex:
    """Its commands run in its own sandbox: they may write to the workspace and to the item's folder for temporary files,
    read anything, and have no network; in our sandbox it sets up none of its own, for one does not fit into the other.

    A `base_url` speaks OpenAI's Responses. It has no tool that loads skills: a command that opens ``SKILL.md`` is a load.
    """

    name = "codex"
    program = "codex"
    install = "install it with `npm install -g @openai/codex`"
    needs: Mapping[str, str] = MappingProxyType({})
    needs_network = True

    def check(self, config: AgentConfig) -> str:
        """A key, for a fresh home has no login; a server of one's own may do without."""
        if config.api_key_env is None and config.base_url is None:
            return "codex needs a key; name the variable that holds it in adapterConfig.apiKeyEnv, such as OPENAI_API_KEY"
        return ""

    def prepare(self, run: AgentRun) -> Command:
        """Its settings and the skills are in ``.codex`` of its home; its commands do not see the key."""
        folder = run.home / ".codex"
        install_skills(run.skills, folder / "skills")
        (folder / "config.toml").write_text(_settings(run), encoding="utf-8")
        argv = (*run.program, "exec", "--json", "--skip-git-repo-check", "-")
        return Command(argv, {KEY: run.api_key} if run.api_key is not None else {}, stdin=run.prompt)

    def read(self, line: str, transcript: Transcript) -> bool:
        """One event."""
        event = event_of(line)
        if event is None:
            return not_read(line, transcript)
        kind = event["type"]
        if kind == "thread.started":
            transcript.session_id = text_of(event.get("thread_id"))
        elif kind in ("item.started", "item.completed"):
            _note_item(event["item"], transcript, ended=kind == "item.completed")
        elif kind == "turn.completed":
            usage = event.get("usage") or {}
            transcript.usage(count(usage.get("input_tokens")), count(usage.get("output_tokens")))
        elif kind == "turn.failed":
            message = message_of(event.get("error"))
            transcript.failed(message, transient=another_attempt_helps(message))
        return True  # `error` is a warning, or said once more by turn.failed

    def complete(self, home: Path, transcript: Transcript) -> str:
        """Its lines leave out commands now and then; its own record has them."""
        return codex_record.complete(home, transcript)

    def version(self, program: tuple[str, ...]) -> tuple[str, ...]:
        """It prints its name and the number."""
        return (*program, "--version")


def _settings(run: AgentRun) -> str:
    config = run.config
    top = {
        "approval_policy": "never",
        "sandbox_mode": "workspace-write" if config.sandbox.type == "none" else "danger-full-access",
        "check_for_update_on_startup": False,
    }
    if config.model is not None:
        top["model"] = config.model
    if config.base_url is not None:
        top["model_provider"] = "named"
    tables: dict[str, dict[str, Any]] = {
        "features": {"plugins": False, "remote_plugin": False, "apps": False},  # which are fetched when it starts
        "analytics": {"enabled": False},
        "shell_environment_policy": {"exclude": [KEY]},
    }
    if config.sandbox.type == "none":
        # where it is killed it leaves an empty /tmp/.git, made to keep commands from writing there; TMPDIR is the item's own
        tables["sandbox_workspace_write"] = {"exclude_slash_tmp": True}
    if config.base_url is not None:
        provider = {"name": "named", "base_url": config.base_url, "wire_api": "responses"}
        key = {"env_key": KEY} if run.api_key is not None else {}
        retries = {"request_max_retries": _RETRIES, "stream_max_retries": _RETRIES}
        tables["model_providers.named"] = {**provider, **key, **retries}
    return _toml(top) + "".join(f"\n[{name}]\n{_toml(table)}" for name, table in tables.items())


def _toml(table: dict[str, Any]) -> str:
    """A table's lines: texts, truth values, numbers and lists of them are written as JSON writes them."""
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items())


def _note_item(item: dict[str, Any], transcript: Transcript, *, ended: bool) -> None:
    kind = item.get("type")
    if kind == "agent_message":
        if ended:
            transcript.turn()
            transcript.message("assistant", item["text"])
    elif isinstance(kind, str) and kind not in _NO_CALLS:
        arguments, result, error = _call(kind, item)
        if not transcript.has_call(item["id"]):
            transcript.turn()
        transcript.tool_call(item["id"], kind, arguments)
        if ended:
            transcript.tool_result(item["id"], result, error)


_NO_CALLS = frozenset({"reasoning", "error", "todo_list"})


def _call(kind: str, item: dict[str, Any]) -> tuple[Any, Any, str | None]:
    """The arguments, the result and the error of an item that is the call of a tool."""
    failed = item.get("status") in ("failed", "declined")
    if kind == "command_execution":
        code, output = item.get("exit_code"), text_of(item.get("aggregated_output"))
        said = output if code in (0, None) else f"{output}\n[exit code {code}]".lstrip("\n")
        not_run = f"not run: {item['status']}" if failed and code is None else None
        return {"command": _script(text_of(item.get("command")))}, said, not_run
    if kind == "mcp_tool_call":
        error = message_of(item["error"]) if item.get("error") else None
        names = {"server": item.get("server"), "tool": item.get("tool")}
        return {**names, "arguments": item.get("arguments")}, item.get("result"), error
    rest = {key: value for key, value in item.items() if key not in ("id", "type", "status")}
    return rest, item.get("status"), f"{kind} {item['status']}" if failed else None


def _script(command: str) -> str:
    """What a shell is told to do: of ``/bin/bash -lc 'ls -l'`` it is ``ls -l``."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_script = len(words) == _SHELL_WORDS and words[0].endswith("sh") and words[1] in ("-c", "-lc")
    return words[2] if is_script else command
