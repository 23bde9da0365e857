"""Gemini CLI (https://github.com/google-gemini/gemini-cli), by ``gemini --output-format stream-json``; tried with 0.61.0.

A line an event: ``init``, ``message`` (a part of one, with ``delta``), ``tool_use`` for all calls of a turn, then ``tool_result``
for each, and ``result`` with the tokens of all turns, or an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.runtimes.base import AgentRun, Command
from eval_skills.adapters.agent.runtimes.events import RESULT, another_attempt_helps, count, event_of, message_of, not_read
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.adapters.agent.workspace import install_skills

KEY = "GEMINI_API_KEY"
_ATTEMPTS = 3


class Gemini:
    """It has no sandbox of its own without containers: its tools for files refuse paths beyond the workspace and the loaded
    skills, its commands do not.

    A `base_url` speaks Gemini's API. A load is its tool ``activate_skill``, or reading ``SKILL.md``.
    """

    name = "gemini"
    program = "gemini"
    install = "install it with `npm install -g @google/gemini-cli`"
    needs: Mapping[str, str] = MappingProxyType({})
    needs_network = True

    def check(self, config: AgentConfig) -> str:
        """A key, for a fresh home has no login; a server of one's own may do without."""
        if config.api_key_env is None and config.base_url is None:
            return "gemini needs a key; name the variable that holds it in adapterConfig.apiKeyEnv, such as GEMINI_API_KEY"
        return ""

    def prepare(self, run: AgentRun) -> Command:
        """Its settings and the skills are in ``.gemini`` of its home; its commands do not see the key."""
        folder = run.home / ".gemini"
        install_skills(run.skills, folder / "skills")
        (folder / "settings.json").write_text(json.dumps(_settings(run.config), indent=2), encoding="utf-8")
        env = {
            KEY: run.api_key or "none",  # without one it does not start
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",  # as a child of its own, for more memory: that takes seconds
        }
        if run.config.base_url is not None:
            env["GOOGLE_GEMINI_BASE_URL"] = run.config.base_url
        model = ("--model", run.config.model) if run.config.model is not None else ()
        return Command((*run.program, *model, "--output-format", "stream-json", "--yolo"), env, stdin=run.prompt)

    def read(self, line: str, transcript: Transcript) -> bool:
        """One event."""
        event = event_of(line)
        if event is None:
            return not_read(line, transcript)
        kind = event["type"]
        transcript.lacks = "" if kind == "result" else transcript.lacks or RESULT
        if kind == "message" and event.get("role") == "assistant":
            transcript.turn()
            transcript.message("assistant", event["content"], more=event.get("delta") is True)
        elif kind == "tool_use":
            transcript.turn()
            transcript.tool_call(event.get("tool_id"), event["tool_name"], event.get("parameters"))
        elif kind == "tool_result":
            failed = event.get("status") == "error"
            error = message_of(event.get("error") or event.get("output")) if failed else None
            transcript.tool_result(event.get("tool_id"), event.get("output"), error)
        elif kind == "result":
            _note_end(event, transcript)
        return True

    def version(self, program: tuple[str, ...]) -> tuple[str, ...]:
        """It prints the number alone."""
        return (*program, "--version")


def _settings(config: AgentConfig) -> dict[str, Any]:
    ours = sorted({*config.env, *config.pass_env})
    return {
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False, "maxAttempts": _ATTEMPTS},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "environmentVariableRedaction": {"enabled": True, "allowed": ours, "blocked": [KEY]},
        },
    }


def _note_end(event: dict[str, Any], transcript: Transcript) -> None:
    """Thoughts are in the total alone. More calls than were told may be those of a helper, or of events that are lost."""
    stats = event.get("stats") or {}
    counted, told = count(stats.get("tool_calls")), len(transcript.called)
    if counted is not None and counted > told:
        transcript.unknown(f"the agent counted {counted} tool calls, and told of {told}")
    prompt, total = count(stats.get("input_tokens")), count(stats.get("total_tokens"))
    if prompt is not None and total:
        transcript.usage(prompt, max(total - prompt, 0))
    if event.get("status") == "error":
        message = message_of(event.get("error"))
        transcript.failed(message, transient=another_attempt_helps(message))
