"""opencode (https://opencode.ai), by ``opencode run --format json``; tried with 1.18.33.

A line an event: ``step_start`` and ``step_finish`` (tokens and cost) around each turn of the model, ``text``, ``tool_use`` once a
call has ended, ``error``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.runtimes.base import AgentRun, Command
from eval_skills.adapters.agent.runtimes.events import another_attempt_helps, count, event_of, message_of, not_read, table
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.adapters.agent.workspace import install_skills

_PROVIDER = "local"
_PLUGIN = "@opencode-ai/plugin"


class Opencode:
    """It has no sandbox of its own: outside of ours its tools refuse paths beyond the item's folders, its commands do not.

    `model` is ``PROVIDER/MODEL``. A `base_url` speaks OpenAI's chat completions, and its provider may have any name or none.
    A load is its tool ``skill``, which lists the skill's folder with ripgrep, and fails without it.
    """

    name = "opencode"
    program = "opencode"
    install = "install it with `npm install -g opencode-ai`"
    needs: Mapping[str, str] = MappingProxyType({"rg": "its tool `skill` fails without it; install ripgrep"})
    needs_network = True

    def check(self, config: AgentConfig) -> str:
        """A model, for it would take any that it finds a key for."""
        if config.model is None:
            return 'opencode needs a model; name one in adapterConfig.model, such as "anthropic/claude-sonnet-4-5"'
        if config.base_url is None and "/" not in config.model:
            return f'adapterConfig.model is {config.model!r}, and opencode wants "PROVIDER/MODEL"; write the provider before it'
        return ""

    def prepare(self, run: AgentRun) -> Command:
        """Its settings and the skills are in ``.config/opencode`` of its home; the prompt comes on standard input, for as an
        argument it would be put in quotes."""
        folder = run.home / ".config" / "opencode"
        install_skills(run.skills, folder / "skills")
        (folder / "opencode.json").write_text(json.dumps(_settings(run), indent=2), encoding="utf-8")
        _nothing_to_install(folder)
        env = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}
        if run.config.base_url is not None:
            env["OPENCODE_DISABLE_MODELS_FETCH"] = "1"  # of the prices and limits of known models, in which this one is not
        if run.api_key is not None and run.config.api_key_env is not None:
            env[run.config.api_key_env] = run.api_key
        # With a title of its own it does not ask the model for one, which no event would tell of.
        argv = (*run.program, "run", "--format", "json", "--auto", "--title", "task")
        return Command(argv, env, stdin=run.prompt)

    def read(self, line: str, transcript: Transcript) -> bool:
        """One event."""
        event = event_of(line)
        if event is None:
            return not_read(line, transcript)
        part = table(event.get("part"))
        kind = event["type"]
        if kind == "step_start":
            transcript.step()
        elif kind == "text":
            transcript.message("assistant", part["text"])
        elif kind == "tool_use":
            _note_call(part, transcript)
        elif kind == "step_finish":
            _note_cost(part, transcript)
        elif kind == "error":
            _note_error(event.get("error"), transcript)
        return True

    def version(self, program: tuple[str, ...]) -> tuple[str, ...]:
        """It prints the number alone."""
        return (*program, "--version")


def _settings(run: AgentRun) -> dict[str, Any]:
    config = run.config
    provider, _, model = (config.model or "").partition("/")
    if not model:
        provider, model = _PROVIDER, provider
    options: dict[str, Any] = {} if run.api_key is None else {"apiKey": f"{{env:{config.api_key_env}}}"}
    about: dict[str, Any] = {}
    if config.base_url is not None:
        options["baseURL"] = config.base_url
        about = {"npm": "@ai-sdk/openai-compatible", "name": provider, "models": {model: {"name": model}}}
    outside = "allow" if config.sandbox.type != "none" else "deny"
    return {
        "model": f"{provider}/{model}",
        "small_model": f"{provider}/{model}",
        "provider": {provider: {**about, "options": options}},
        "permission": {"external_directory": {"*": outside, f"{run.home.parent}/*": "allow"}},
        "autoupdate": False,
        "share": "disabled",
    }


def _nothing_to_install(folder: Path) -> None:
    """It would fetch the package for writing plugins into every folder of settings, if that were not there by these files."""
    (folder / "node_modules").mkdir(exist_ok=True)
    locked = {"packages": {"": {"dependencies": {_PLUGIN: "*"}}}}
    (folder / "package-lock.json").write_text(json.dumps(locked), encoding="utf-8")


def _note_call(part: dict[str, Any], transcript: Transcript) -> None:
    state = part["state"]
    call = transcript.tool_call(part.get("callID"), part["tool"], state.get("input"))
    transcript.tool_result(call, state.get("output"), message_of(state["error"]) if state.get("status") == "error" else None)


def _note_cost(part: dict[str, Any], transcript: Transcript) -> None:
    """Tokens of the cache are not in ``input``, nor those of reasoning in ``output``; a cost of 0 is an unknown price."""
    tokens = table(part.get("tokens"))
    cache = table(tokens.get("cache"))
    prompt = _sum(tokens.get("input"), cache.get("read"), cache.get("write"))
    transcript.usage(prompt, _sum(tokens.get("output"), tokens.get("reasoning")))
    transcript.cost(part.get("cost") or None)


def _sum(*values: Any) -> int | None:
    known = [value for value in map(count, values) if value is not None]
    return sum(known) if known else None


def _note_error(error: Any, transcript: Transcript) -> None:
    data = table(table(error).get("data"))
    status = data.get("statusCode")
    said = message_of(error) if status is None else f"{message_of(error)} (HTTP {status})"
    transient = data["isRetryable"] is True if "isRetryable" in data else another_attempt_helps(said)
    transcript.failed(said, transient=transient)
