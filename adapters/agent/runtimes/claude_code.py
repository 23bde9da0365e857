"""Claude Code (https://code.claude.com/docs), by ``claude -p --output-format stream-json``; not tried, written by its
documentation.

A line an event: ``system`` (``init`` names its version and tools), ``assistant`` and ``user`` with a message as Anthropic's API
has them (texts, ``tool_use``, ``tool_result``), and ``result`` with the answer, the tokens and ``total_cost_usd``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.runtimes.base import AgentRun, Command
from eval_skills.adapters.agent.runtimes.events import RESULT, another_attempt_helps, count, event_of, not_read, text_of
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.adapters.agent.workspace import install_skills
from eval_skills.core.messages.tool_calls import call_in, tool_call, unnamed_call
from eval_skills.core.messages.tool_results import result_in

KEY = "ANTHROPIC_API_KEY"

_TOOLS = "Bash Read Write Edit NotebookEdit Glob Grep Skill Task Agent TodoWrite WebFetch WebSearch"
"""What it may use without asking; anything else is refused, for nobody is there to be asked."""


class ClaudeCode:
    """Its commands run in its own sandbox where the machine has what that needs (bubblewrap and socat), else as they are; in our
    sandbox it sets up none of its own, for one does not fit into the other.

    A `base_url` speaks Anthropic's API. A load is its tool ``Skill``, or reading ``SKILL.md``.
    """

    name = "claude-code"
    program = "claude"
    install = "install Claude Code (https://code.claude.com/docs/en/setup)"
    needs: Mapping[str, str] = MappingProxyType({})
    needs_network = True

    def check(self, config: AgentConfig) -> str:
        """A key, for a fresh home has no login; one that comes another way is a variable that is passed on."""
        if config.api_key_env is None and config.base_url is None and not config.env and not config.pass_env:
            return f"claude-code needs a key; name the variable that holds it in adapterConfig.apiKeyEnv, such as {KEY}"
        return ""

    def prepare(self, run: AgentRun) -> Command:
        """Its settings and the skills are in ``.claude`` of its home."""
        folder = run.home / ".claude"
        install_skills(run.skills, folder / "skills")
        settings = {"sandbox": {"enabled": run.config.sandbox.type == "none"}}
        (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        env = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        if run.api_key is not None:
            env[KEY] = run.api_key
        if run.config.base_url is not None:
            env["ANTHROPIC_BASE_URL"] = run.config.base_url
        argv = [*run.program, "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"]
        argv += ["--allowedTools", _TOOLS.replace(" ", ",")]
        if run.config.model is not None:
            argv += ["--model", run.config.model]
        if run.config.max_cost_usd is not None:  # it tells what it cost only when it ends
            argv += ["--max-budget-usd", f"{run.config.max_cost_usd:f}"]
        return Command(tuple(argv), env, stdin=run.prompt)

    def read(self, line: str, transcript: Transcript) -> bool:
        """One event."""
        event = event_of(line)
        if event is None:
            return not_read(line, transcript)
        transcript.lacks = "" if event["type"] == "result" else transcript.lacks or RESULT
        if event["type"] == "assistant":
            _note_said(event, transcript)
        elif event["type"] == "user":
            _note_results(event, transcript)
        elif event["type"] == "result":
            _note_end(event, transcript)
        return True

    def version(self, program: tuple[str, ...]) -> tuple[str, ...]:
        """It prints the number and its name."""
        return (*program, "--version")


def _blocks(event: dict[str, Any]) -> list[dict[str, Any]]:
    content = event["message"].get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or () if isinstance(block, dict)]


def _note_said(event: dict[str, Any], transcript: Transcript) -> None:
    """One message may come as several events. What a helper of its own does has a parent: its calls count, its words do not."""
    own = event.get("parent_tool_use_id") is None
    if own:
        transcript.turn()
    for block in _blocks(event):
        if block.get("type") == "text" and own and block.get("text"):
            transcript.message("assistant", block["text"])
        elif (call := call_in(block)) is not None:
            _note_call(call, transcript)
    _note_results(event, transcript)


def _note_call(raw: Any, transcript: Transcript) -> None:
    """Of its own tools, and of those that run at its provider (``server_tool_use``, ``mcp_tool_use``)."""
    if (call := tool_call(raw)) is None:
        transcript.unknown(unnamed_call(raw))
    else:
        transcript.tool_call(call.id, call.name, call.arguments)


def _note_results(event: dict[str, Any], transcript: Transcript) -> None:
    for block in _blocks(event):
        if result_in(block) is not None:
            said = _said(block.get("content"))
            transcript.tool_result(block.get("tool_use_id"), said, said or "failed" if block.get("is_error") else None)


def _said(content: Any) -> str:
    if isinstance(content, list):
        texts = [block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))
    return text_of(content)


def _note_end(event: dict[str, Any], transcript: Transcript) -> None:
    """Tokens read from or written to the cache are not in ``input_tokens``."""
    usage = event.get("usage") or {}
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    prompt = [tokens for tokens in (count(usage.get(name)) for name in names) if tokens is not None]
    transcript.usage(sum(prompt) if prompt else None, count(usage.get("output_tokens")))
    cost = event.get("total_cost_usd")
    if isinstance(cost, int | float) and not isinstance(cost, bool):
        transcript.cost(cost)
    if event.get("is_error") or event.get("subtype") != "success":
        errors = event.get("errors")
        said = text_of(event.get("result")) or "; ".join(map(text_of, errors if isinstance(errors, list) else []))
        message = said or text_of(event.get("subtype"))
        transcript.failed(message, transient=another_attempt_helps(message))
    elif isinstance(event.get("result"), str):
        transcript.answer(event["result"])
