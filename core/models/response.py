"""What an adapter returns for one call of a skill."""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from eval_skills.core.models.base import Model

MAX_TOKENS, MAX_COST_USD, MAX_LATENCY_MS = 10**12, 1e9, 1e11
"""More than this for one answer cannot be right, and would spoil every sum over a run. The latency is more than three years."""


def believed_ms(stored: float | None) -> float | None:
    """A stored latency; None where it cannot be right, as before there was a limit."""
    return None if stored is not None and stored > MAX_LATENCY_MS else stored


ENVELOPE_KEYS = ("result", "output", "answer")
"""Where an object holds its answer; the first that is present counts."""


def unwrapped(output: Any) -> Any:
    """The answer of an object under `result`, else `output`, else `answer`; unwrapped once. Anything else is its own answer."""
    if isinstance(output, dict):
        for key in ENVELOPE_KEYS:
            if key in output:
                return output[key]
    return output


ARGUMENTS_KEYS = (
    "arguments",
    "args",
    "input",
    "parameters",
    "params",
    "tool_input",
    "toolInput",
    "tool_args",
    "tool_kwargs",
    "kwargs",
)
"""Where a call holds its arguments; the first that is present counts."""


class ToolCall(Model, defer_build=True):
    """One tool call of an agent run. `arguments` (or another of `ARGUMENTS_KEYS`) is whatever the agent passed: an object, or
    unreadable text.

    Keys of other tools' formats are let through and ignored: a trace is data, not a configuration. A key that is almost
    the name of a missing field is refused, and so are the calls of a sub-agent in its call: they would be lost silently.
    """

    model_config = ConfigDict(extra="ignore")

    name: str
    arguments: Any = None
    id: str | None = None
    result: Any = None
    error: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _spelled(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        call = dict(data)
        for key in ARGUMENTS_KEYS:
            if key in call and "arguments" not in call:
                call["arguments"] = call.pop(key)
        if (own := next((key for key in ("toolCalls", "tool_calls") if call.get(key)), None)) is not None:
            raise ValueError(f"a tool call has {own!r} of its own; list the calls of a sub-agent beside it")
        missing = [name for name in ("arguments", "result", "error") if name not in call]
        for key in call.keys() - cls.model_fields.keys():
            if found := get_close_matches(str(key), missing, n=1, cutoff=0.8):
                raise ValueError(f"unknown key {key!r} of a tool call (did you mean {found[0]!r}?)")
        return call


PROMPT_KEYS = ("prompt_tokens", "promptTokens", "input_tokens", "inputTokens")
COMPLETION_KEYS = ("completion_tokens", "completionTokens", "output_tokens", "outputTokens")
"""Where OpenAI's, Anthropic's and our own objects hold the counts; the first that is not null counts."""

CACHED_KEYS = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""Anthropic counts these beside ``input_tokens``; OpenAI's cached tokens are part of ``prompt_tokens``."""


class Usage(Model, defer_build=True):
    """Tokens that the skill's own models consumed, under the keys of OpenAI's, Anthropic's or our own (`PROMPT_KEYS`,
    `COMPLETION_KEYS`, `CACHED_KEYS`). Keys of providers' formats beside these are ignored."""

    model_config = ConfigDict(extra="ignore")

    prompt_tokens: int | None = Field(default=None, ge=0, le=MAX_TOKENS)
    completion_tokens: int | None = Field(default=None, ge=0, le=MAX_TOKENS)

    @model_validator(mode="before")
    @classmethod
    def _under_other_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        usage = dict(data)
        for keys in (PROMPT_KEYS, COMPLETION_KEYS):
            key = next((key for key in keys if usage.get(key) is not None), keys[0])
            if key not in keys[:2]:
                usage = {other: count for other, count in usage.items() if other not in keys[:2]} | {keys[0]: usage[key]}
                if key == "input_tokens":
                    usage[keys[0]] = _with_cached(usage)
        return usage

    @property
    def tokens(self) -> int | None:
        """All of them; None where one of the two is unknown."""
        return all_tokens(self.prompt_tokens, self.completion_tokens)


def all_tokens(prompt: int | None, completion: int | None) -> int | None:
    """Those read and those written; None where either is unknown: a part cannot be compared with a whole."""
    return None if prompt is None or completion is None else prompt + completion


def _with_cached(usage: dict[str, Any]) -> Any:
    """Anthropic's ``input_tokens`` and those of the cache; the one that is not a number, where there is such."""
    counts = [count for key in ("input_tokens", *CACHED_KEYS) if (count := usage.get(key)) is not None]
    wrong = [count for count in counts if not isinstance(count, int) or isinstance(count, bool) or count < 0]
    return wrong[0] if wrong else sum(counts)


LEFT_OUT_FOLDERS = frozenset({"node_modules", "__pycache__", ".venv"})
"""Folders that tools fill by the thousand: nobody looks into them for what an agent changed, so what is in them is unknown."""


class WorkspaceFile(Model, defer_build=True):
    """One file that an agent added, changed or deleted in its workspace; `path` is relative to that, with ``/`` between parts.

    `size` (bytes) and `sha256` are those of the file as the agent left it: None where it was deleted; the `sha256` also where
    it was too long to be read. `content` is all of it, as text, or as base64 where it is not UTF-8; None where the file was
    deleted, or its content was left out for its size.
    """

    path: str
    change: Literal["added", "changed", "deleted"]
    size: int | None = Field(default=None, ge=0)
    sha256: str | None = None
    content: str | None = None
    encoding: Literal["utf-8", "base64"] = "utf-8"

    @property
    def data(self) -> bytes | None:
        """The content as it was in the file; None where it is not kept."""
        if self.content is None:
            return None
        return b64decode(self.content) if self.encoding == "base64" else self.content.encode()


Stopped = Literal["done", "max_turns"]
"""Why a simulated user said no more: it was done, or had written as many messages as it may."""


class Simulation(Model, defer_build=True):
    """What the model that plays a user was paid, in so many `requests`; None is unknown.

    `stopped` says why it wrote no more, with its `reason`; None where the conversation did not come to its end.
    """

    requests: int = 0
    tokens: int | None = 0
    cost_usd: float | None = 0.0
    stopped: Stopped | None = None
    reason: str = ""


class SkillResponse(Model, defer_build=True):
    """An answer: `output` is any JSON; None for `tool_calls`, `usage` and `cost_usd` means unknown, never zero.

    `latency_ms` is the call alone: no interpreter start of a warm worker, no queueing, no scoring. `time_to_first_token_ms` is
    how much of it had passed when the first piece of a streamed answer came; None if it came whole.

    `content` is everything that the answer was made of, block by block, where `output` is only the part that counts (MCP); what
    is binary stands there with its size and SHA-256. `finish_reason` is why a model stopped, in the words of its API (``stop``,
    ``max_tokens`` …). `duplicate_keys` are the keys that an object of its JSON gave twice: the last value of each was read.
    `turns` are the answers of a conversation, in order; the rest is what all of them come to (`of_turns`).

    Three are about agents, None where unknown: `files` is what an agent changed in its workspace, by path; `skills_loaded` names
    the Agent Skills whose ``SKILL.md`` it loaded, in the order in which it first did, each once; `steps` counts the turns of its
    model.
    """

    output: Any = None
    messages: list[dict[str, Any]] | None = None
    tool_calls: list[ToolCall] | None = None
    content: list[dict[str, Any]] | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    cost_usd: float | None = Field(default=None, ge=0, le=MAX_COST_USD)
    latency_ms: float | None = Field(default=None, ge=0, le=MAX_LATENCY_MS)
    time_to_first_token_ms: float | None = Field(default=None, ge=0, le=MAX_LATENCY_MS)
    attempts: int = Field(default=1, ge=1)
    logs: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    duplicate_keys: list[str] = Field(default_factory=list)
    turns: list[TurnResponse] | None = None
    files: list[WorkspaceFile] | None = None
    skills_loaded: list[str] | None = None
    steps: int | None = Field(default=None, ge=0)

    _called_before: frozenset[str] = PrivateAttr(default=frozenset())
    _simulation: Simulation | None = PrivateAttr(default=None)  # ours, and nothing that a skill or a record could say

    @property
    def simulation(self) -> Simulation | None:
        """The model's part in the conversation, where one played the user."""
        return self._simulation

    def simulated(self, simulation: Simulation) -> Self:
        """The same conversation, in which a model played the user."""
        other = self.model_copy()
        other._simulation = simulation
        return other

    @property
    def called_before(self) -> frozenset[str]:
        """The ids of calls that the turns before this one made, whose results may come in it."""
        return self._called_before

    def after(self, called: frozenset[str]) -> Self:
        """The same answer as a turn after calls with these ids."""
        other = self.model_copy()
        other._called_before = called
        return other

    @classmethod
    def of_turns(cls, turns: Sequence[TurnResponse], *, ended: bool = True) -> SkillResponse:
        """A conversation as one answer: the last output, and what was said, called and spent in all turns together.

        A list or a sum of which a part is unknown is unknown, and so is a sum that cannot be right. A conversation that did not
        come to its end has no output, and its lists and sums are of what is known.
        """
        usages = [turn.usage or Usage() for turn in turns]
        return cls(
            output=turns[-1].output if ended and turns else None,
            messages=_joined([turn.messages for turn in turns], whole=False),
            tool_calls=_joined([turn.tool_calls for turn in turns], whole=ended),
            content=_joined([turn.content for turn in turns], whole=False),
            finish_reason=turns[-1].finish_reason if turns else None,
            usage=Usage(
                prompt_tokens=_sum([usage.prompt_tokens for usage in usages], MAX_TOKENS, whole=ended),
                completion_tokens=_sum([usage.completion_tokens for usage in usages], MAX_TOKENS, whole=ended),
            ),
            cost_usd=_sum([turn.cost_usd for turn in turns], MAX_COST_USD, whole=ended),
            latency_ms=_sum([turn.latency_ms for turn in turns], MAX_LATENCY_MS, whole=ended),
            time_to_first_token_ms=turns[0].time_to_first_token_ms if turns else None,
            logs="\n".join(turn.logs for turn in turns if turn.logs),
            metadata=turns[-1].metadata if turns else {},
            duplicate_keys=list(dict.fromkeys(key for turn in turns for key in turn.duplicate_keys)),
            turns=list(turns),
            files=next((turn.files for turn in reversed(turns) if turn.files is not None), None),
            skills_loaded=_each_once(_joined([turn.skills_loaded for turn in turns], whole=ended)),
            steps=_sum([turn.steps for turn in turns], whole=ended),
        )


class TurnResponse(SkillResponse, defer_build=True):
    """The answer of one turn, to what the skill was told in it (`input`)."""

    input: Any = None

    @model_validator(mode="after")
    def _is_one_turn(self) -> TurnResponse:
        if self.turns is not None:
            raise ValueError("a turn has no turns of its own")
        return self


def _joined(lists: Sequence[list[Any] | None], *, whole: bool) -> list[Any] | None:
    """None, too, where nothing is in the lists that are known, and others are not: that there was nothing is not known."""
    known = [part for each in lists if each is not None for part in each]
    return known if None not in lists or (known and not whole) else None


def _each_once(names: list[str] | None) -> list[str] | None:
    return None if names is None else list(dict.fromkeys(names))


Number = TypeVar("Number", int, float)


def _sum(values: Sequence[Number | None], most: float = math.inf, *, whole: bool) -> Number | None:
    known = [value for value in values if value is not None]
    if not known or (len(known) < len(values) and whole):
        return None
    total = sum(known)
    return total if total <= most else None
