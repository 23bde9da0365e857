"""The verdict of one item, and the record of it that is kept for ever."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args

from pydantic import Field

from eval_skills.core.models.base import Model, Rate
from eval_skills.core.models.response import (
    Simulation,
    Stopped,
    ToolCall,
    TurnResponse,
    Usage,
    WorkspaceFile,
    all_tokens,
    believed_ms,
)
from eval_skills.core.text import skill_key, skill_key_of

Status = Literal["pass", "fail", "error", "timeout"]

STATUSES: tuple[Status, ...] = get_args(Status)

ERROR_STATUSES: frozenset[Status] = frozenset({"error", "timeout"})
"""The statuses of items that have no answer which could be scored: what an error rate counts."""

ErrorKind = Literal["skill", "contract", "infra", "scorer", "judge", "simulator", "timeout"]
"""What an error is attributed to: the skill, its answer, the way to it, a scorer, a judging model, the model that plays the
user, or the deadline."""


FORBIDDEN_TOOL_CALLED = "FORBIDDEN_TOOL_CALLED"
"""The code of the reason for which every report shows an alert."""

ANSWER_CUT = "ANSWER_CUT"
"""The code of the remark on an answer that was cut: the model had not come to its end."""

KEPT_ANSWER = "KEPT_ANSWER"
"""The code of the remark on an item that was answered from the cache: its cost was paid by an earlier run."""

TOOL_CALLS_UNKNOWN = "TOOL_CALLS_UNKNOWN"
"""The code of the reason that it is not known which tools were called."""

ItemKey = tuple[str, str, int]
"""What makes an item unique within its run: skill key (``id@version``), task id, run index."""


KEY_COLUMNS = ("skill_id", "skill_version", "task_id", "run_index")
"""The columns of a table of items that `item_key_of` reads."""


def item_key_of(row: Mapping[str, Any]) -> ItemKey:
    """The key of the item that a row of a table, or a line of a journal, is about."""
    return skill_key_of(row), row["task_id"], row["run_index"]


class Reason(Model, defer_build=True):
    """One machine-readable reason: a code in capitals, a sentence with the values, and the place it is about.

    An `informational` one is a remark: it did not make the item fail. Records of older versions, which have no such field, mark
    remarks in their messages.
    """

    code: str
    message: str
    where: str = ""
    informational: bool = False

    @property
    def text(self) -> str:
        """The message as people read it, with remarks marked as such."""
        return f"remark: {self.message}" if self.informational else self.message

    def as_remark(self) -> Reason:
        """The same, as information only."""
        return self if self.informational else self.model_copy(update={"informational": True})


class Verdict(Model, defer_build=True):
    """The result of scoring one answer.

    `score` is None where there was nothing to score (status `error`). A dimension that is not configured is absent from
    `dimensions`. `reasons` is the one ordered list that every report shows: on a failed item it explains the failure.
    `error_kind` says what failed when `status` is `error`. `judge_tokens` and `judge_cost_usd` are what judging models were paid
    for this verdict, in `judge_requests` that were sent to them, failed ones included: None where none was asked, and where it is
    not known. `forbidden_unknown`: some tools are forbidden, and it is not known whether one of them was called. `turns` are the
    verdicts on the turns of a conversation, of which this is the one on the whole; None for a turn of which nothing is expected.
    """

    status: Status
    score: Rate | None
    passed: bool
    scorer: str | None = None
    dimensions: dict[str, Rate] = Field(default_factory=dict)
    reasons: list[Reason] = Field(default_factory=list)
    error_kind: ErrorKind | None = None
    judge_requests: int | None = None
    judge_tokens: int | None = None
    judge_cost_usd: float | None = None
    forbidden_unknown: bool = False
    metadata: dict[str, Any] = Field(default_factory=dict)
    turns: list[Verdict | None] | None = None

    @property
    def judge_agreement(self) -> float | None:
        """The share, in [0, 1], of a panel's members (or one model's votes) that decide as the whole does; None without one."""
        judge = self.metadata.get("judge")
        panel = judge.get("panel") if isinstance(judge, dict) else None
        share: Any = panel.get("agreement") if isinstance(panel, dict) else None
        # a plug-in's metadata are its own: under the same name they may hold anything
        return float(share) if type(share) in (int, float) and 0 <= share <= 1 else None


class Attempt(Model, defer_build=True):
    """One try of an item: when it began (UTC), how long it took, and what stopped it, if anything did.

    `called` names the tools that it called before it ended without an answer, None where that is unknown; the item keeps the
    names of all its attempts, and the attempt is stored without them; `loaded` likewise are the Agent Skills that it is known to
    have loaded, and `simulation` is what playing the user took.
    `cost_usd` and `tokens` are what the skill reported of this attempt, None where that is unknown.
    """

    started_at: datetime = Field(strict=False)
    latency_ms: float | None = Field(default=None, ge=0)
    error_kind: ErrorKind | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    called: list[str] | None = Field(default=None, exclude=True)
    loaded: list[str] | None = Field(default=None, exclude=True)
    simulation: Simulation | None = Field(default=None, exclude=True)


class TurnResult(Model, defer_build=True):
    """One turn of an item: what the skill was told, what it answered and did, and the verdict on that.

    `turn` counts from 1. `status`, `score` and `passed` are None where the turn was not judged: nothing is expected of it, or the
    conversation ended in an error later. In that error it ended itself where it has an `error_kind` and no verdict.
    """

    turn: int = Field(ge=1)
    input: Any = None
    output: Any = None
    status: Status | None = None
    score: Rate | None = None
    passed: bool | None = None
    scorer: str | None = None
    dimensions: dict[str, Rate] = Field(default_factory=dict)
    reasons: list[Reason] = Field(default_factory=list)
    latency_ms: float | None = Field(default=None, ge=0)
    error_kind: ErrorKind | None = None
    error_message: str | None = None
    messages: list[dict[str, Any]] | None = None
    tool_calls: list[ToolCall] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    time_to_first_token_ms: float | None = Field(default=None, ge=0)
    content: list[dict[str, Any]] | None = None
    finish_reason: str | None = None

    @classmethod
    def of(cls, turn: int, answer: TurnResponse, verdict: Verdict | None) -> TurnResult:
        """A turn that was answered, with its verdict, where it has one."""
        judged: dict[str, Any] = {} if verdict is None else {name: getattr(verdict, name) for name in _OF_THE_VERDICT}
        if verdict is not None and verdict.status == "error" and verdict.reasons:
            judged["error_message"] = verdict.reasons[0].message
        usage = answer.usage or Usage()
        used: dict[str, Any] = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
        return cls(turn=turn, **{name: getattr(answer, name) for name in _OF_THE_ANSWER}, **used, **judged)

    @property
    def answer(self) -> TurnResponse:
        """What was answered, to be judged again."""
        usage = Usage(prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens)
        found = {name: getattr(self, name) for name in _OF_THE_ANSWER}
        times = {name: believed_ms(found[name]) for name in ("latency_ms", "time_to_first_token_ms")}
        return TurnResponse(**found | times, usage=usage)


_OF_THE_VERDICT = ("status", "score", "passed", "scorer", "dimensions", "reasons", "error_kind")
_OF_THE_ANSWER = (
    "input", "output", "messages", "tool_calls", "content", "finish_reason", "cost_usd", "latency_ms", "time_to_first_token_ms",
)  # fmt: skip


class ItemResult(Model, defer_build=True):
    """One finished item: a line of the journal and a row of the store's `items` table.

    `passed` is `status == "pass"`. `score` is None for errors and timeouts: there was nothing to score. An item that called a
    forbidden tool and then failed is a `fail` with an `error_kind`: it has no answer.
    `latency_ms` is the successful (or last) attempt alone; failed and timed-out items keep the time they took.
    `time_to_first_token_ms` is known of answers that were streamed, `judge_agreement` of those that a panel judged.
    `earlier_calls` names the tools that the attempts before the last one called, None where that is unknown.
    `origin` is `run`, or what wrote the row later (`rescore`, `replay` …). `forbidden_unknown` is that of the verdict; it is
    known of items without an answer, too. `content`, `finish_reason`, `files`, `skills_loaded` and `steps` are those of the
    answer (`SkillResponse`), the last three also where an agent ended without one; `skills_loaded` begins with what earlier
    attempts loaded, as far as that is known. `turns` are those of a conversation, as far as
    it came; the rest is about all of them together, with the last output. `scoring_digest` is that of what judges its answer and
    is not written in the task: scorers, their code, judges, settings of the run. `user_requests`,
    `user_tokens` and `user_cost_usd` are what a model that played the user was paid in all attempts, and `user_stopped` is why it
    said no more in the last one.
    """

    run_id: str
    flow_run_id: str | None = None
    task_run_id: str | None = None
    started_at: datetime = Field(strict=False)
    skill_id: str
    skill_version: str
    skill_digest: str | None = None
    benchmark_id: str
    benchmark_version: str
    benchmark_digest: str | None = None
    task_id: str
    task_digest: str | None = None
    tags: list[str] = Field(default_factory=list)
    complexity: str | None = None
    weight: float = 1.0
    run_index: int = Field(ge=0)
    status: Status
    score: Rate | None = None
    passed: bool
    scorer: str | None = None
    dimensions: dict[str, Rate] = Field(default_factory=dict)
    reasons: list[Reason] = Field(default_factory=list)
    latency_ms: float | None = Field(default=None, ge=0)
    timeout_ms: float | None = Field(default=None, gt=0)
    attempts: list[Attempt] = Field(default_factory=list)
    error_kind: ErrorKind | None = None
    error_message: str | None = None
    output: Any = None
    messages: list[dict[str, Any]] | None = None
    tool_calls: list[ToolCall] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    judge_tokens: int | None = None
    judge_cost_usd: float | None = None
    origin: str = "run"
    time_to_first_token_ms: float | None = Field(default=None, ge=0)
    judge_agreement: Rate | None = None
    forbidden_unknown: bool = False
    earlier_calls: list[str] | None = None
    content: list[dict[str, Any]] | None = None
    finish_reason: str | None = None
    judge_requests: int | None = None
    turns: list[TurnResult] | None = None
    user_requests: int | None = None
    user_tokens: int | None = None
    user_cost_usd: float | None = None
    user_stopped: Stopped | None = None
    files: list[WorkspaceFile] | None = None
    skills_loaded: list[str] | None = None
    steps: int | None = Field(default=None, ge=0)
    scoring_digest: str | None = None

    @property
    def skill_key(self) -> str:
        """``id@version``."""
        return skill_key(self.skill_id, self.skill_version)

    @property
    def tokens(self) -> int | None:
        """What its answer took, read and written; None where one of the two is unknown."""
        return all_tokens(self.prompt_tokens, self.completion_tokens)

    @property
    def key(self) -> ItemKey:
        """What makes the item unique within its run."""
        return (self.skill_key, self.task_id, self.run_index)
