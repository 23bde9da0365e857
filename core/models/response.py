"""What an adapter returns for one call of a skill."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from eval_skills.core.models.base import Model

MAX_TOKENS, MAX_COST_USD = 10**12, 1e9
"""More than this for one answer is a skill's nonsense, and would make every sum over a run nonsense too."""


class ToolCall(Model):
    """One tool call of an agent run. `arguments` is whatever the agent passed: an object, or unreadable text.

    Keys of other tools' formats are let through and ignored: a trace is data, not a configuration.
    """

    model_config = ConfigDict(extra="ignore")

    name: str
    arguments: Any = None
    id: str | None = None
    result: Any = None
    error: str | None = None


class Usage(Model):
    """Tokens that the skill's own models consumed. Keys of providers' formats beside these are ignored."""

    model_config = ConfigDict(extra="ignore")

    prompt_tokens: int | None = Field(default=None, ge=0, le=MAX_TOKENS)
    completion_tokens: int | None = Field(default=None, ge=0, le=MAX_TOKENS)


class SkillResponse(Model):
    """An answer: `output` is any JSON; None for `tool_calls`, `usage` and `cost_usd` means unknown, never zero.

    `latency_ms` is the call alone: no interpreter start of a warm worker, no queueing, no scoring.
    """

    output: Any = None
    messages: list[dict[str, Any]] | None = None
    tool_calls: list[ToolCall] | None = None
    usage: Usage | None = None
    cost_usd: float | None = Field(default=None, ge=0, le=MAX_COST_USD)
    latency_ms: float | None = Field(default=None, ge=0)
    attempts: int = Field(default=1, ge=1)
    logs: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
