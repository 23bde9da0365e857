"""The report of one skill on one benchmark."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

from eval_skills.core.models.base import Model, Rate
from eval_skills.core.models.dimensions import DIMENSIONS
from eval_skills.core.models.response import ToolCall, WorkspaceFile, all_tokens
from eval_skills.core.models.result import ErrorKind, Reason, Status, TurnResult
from eval_skills.core.text import one_line, skill_key

MAX_DETAILED_ITEMS = 100_000
"""A report of a run of more items holds figures only: a JSON file with more is hard to use, and the store has them all."""


_SAID = 160
"""How much of an error is said where only one of several is."""


def in_order(names: Iterable[str]) -> list[str]:
    """Each name once: those of an agent's run first, as `DIMENSIONS` has them, then the others as they come."""
    given = dict.fromkeys(names)
    return [*(name for name in DIMENSIONS if name in given), *(name for name in given if name not in DIMENSIONS)]


class ConfidenceInterval(Model, defer_build=True):
    """An interval of the completion rate, with the task as the unit; `method` names how it was computed."""

    lower: Rate
    upper: Rate
    level: float = Field(default=0.95, gt=0, lt=1)
    method: str = ""


def has_verdict(missing_items: int | None, judged_completion_rate: float | None) -> bool:
    """Whether any item has a verdict on the skill, by these figures of a report; those of earlier versions do not know them."""
    return not missing_items or judged_completion_rate is not None


class StatusCounts(Model, defer_build=True):
    """How many items ended how."""

    passed: int = Field(default=0, alias="pass")
    fail: int = 0
    error: int = 0
    timeout: int = 0


class Summary(Model, defer_build=True):
    """The figures of a skill; rates in [0, 1]. None means unknown, never zero.

    `consistency_score` is None unless there are at least two runs, `flake_rate` unless some task has at least two runs with a
    verdict; `pass_at_k` and `pass_hat_k` are None when k exceeds the runs of a task; these and `partial_score` are None where no
    item has a verdict on the skill (`has_verdict`). `throughput` is items per second of the time in which the run worked: the
    hours before a resume are none of it. `forbidden_items` are those that called a tool they must not call,
    `forbidden_unknown_items` those of which that is not known; `unjudged_items` are those that a judging model was to judge and
    could not, None where no model was asked.

    `missing_items` have no verdict on the skill (error kinds ``infra``, ``scorer``, ``judge`` and ``simulator``), None where the
    kinds are not known. `judged_completion_rate` is over the others, None where there is none. Had all missing items passed, the
    completion rate would be `completion_upper_bound`; had all failed, `completion_rate`, which counts them as not passed.
    """

    completion_rate: Rate
    partial_score: Rate | None
    error_rate: Rate
    consistency_score: Rate | None
    composite_score: float
    confidence_interval: ConfidenceInterval
    pass_at_k: Rate | None
    pass_hat_k: Rate | None
    flake_rate: Rate | None
    items: int | None = None
    tasks: int | None = None
    runs: int | None = None
    counts: StatusCounts | None = None
    throughput: float | None = None
    forbidden_items: int | None = None
    forbidden_unknown_items: int | None = None
    unjudged_items: int | None = None
    missing_items: int | None = None
    judged_completion_rate: Rate | None = None
    completion_upper_bound: Rate | None = None

    @property
    def has_verdict(self) -> bool:
        """Whether any item has a verdict on the skill, as far as is known. Where none has, all figures but those of errors and
        cost are unknown: a `completion_rate` of 0 is then the least that it may be."""
        return has_verdict(self.missing_items, self.judged_completion_rate)

    @property
    def known_completion(self) -> float | None:
        """The completion rate; None where no item has a verdict."""
        return self.completion_rate if self.has_verdict else None

    @property
    def known_interval(self) -> ConfidenceInterval | None:
        """Its interval, likewise."""
        return self.confidence_interval if self.has_verdict else None

    @property
    def known_composite(self) -> float | None:
        """The composite score, likewise."""
        return self.composite_score if self.has_verdict else None


class Latency(Model, defer_build=True):
    """Percentiles by nearest rank, over every item with a known latency; ms. None where none is known.

    `time_to_first_token_p50_ms` is over the items whose answers were streamed.
    """

    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    mean_ms: float | None
    time_to_first_token_p50_ms: float | None = None


class EarlierAttempts(Model, defer_build=True):
    """What the attempts before the last of each item took, which is in no figure of an item: sums over those that say it.

    None where no attempt says it; where some do not, these are the unknown ones, and the sum is the least that it can be.
    """

    attempts: int
    estimated_usd: float | None = Field(alias="estimatedUSD")
    cost_unknown_attempts: int = 0
    total_tokens: int | None
    tokens_unknown_attempts: int = 0

    @classmethod
    def of(cls, spent: Sequence[tuple[float | None, int | None]]) -> EarlierAttempts | None:
        """The sums of these attempts' costs (USD) and numbers of tokens; None without an attempt."""
        costs = [cost for cost, _ in spent if cost is not None]
        tokens = [count for _, count in spent if count is not None]
        if not spent:
            return None
        return cls(
            attempts=len(spent),
            estimated_usd=math.fsum(costs) if costs else None,
            cost_unknown_attempts=len(spent) - len(costs),
            total_tokens=sum(tokens) if tokens else None,
            tokens_unknown_attempts=len(spent) - len(tokens),
        )


class TokenCost(Model, defer_build=True):
    """Sums over the items that know them; None where no item does. What judging models were paid stands apart from the skill's.

    `cost_unknown_items` and `tokens_unknown_items` are the items that are missing in such a sum, which is then the least that it
    can be; absent where none is, and where no item knows. An item's own are those of its last attempt: what those before took is
    in `earlier_attempts`, absent where there was none.

    `judge_cost_usd` is None, too, where the price of a single judged item is not known, and `judge_tokens` where its tokens are
    not. `judge_requests` were sent, failed ones included. Likewise what models that play users were paid.
    """

    prompt_tokens: int | None
    completion_tokens: int | None
    total_tokens: int | None
    estimated_usd: float | None = Field(alias="estimatedUSD")
    cost_unknown_items: int | None = Field(default=None, exclude_if=lambda items: items is None)
    tokens_unknown_items: int | None = Field(default=None, exclude_if=lambda items: items is None)
    earlier_attempts: EarlierAttempts | None = Field(default=None, exclude_if=lambda found: found is None)
    judge_tokens: int | None = None
    judge_cost_usd: float | None = Field(default=None, alias="judgeUSD")
    judge_requests: int | None = None
    user_tokens: int | None = Field(default=None, exclude_if=lambda tokens: tokens is None)
    user_cost_usd: float | None = Field(default=None, alias="userUSD", exclude_if=lambda cost: cost is None)
    user_requests: int | None = Field(default=None, exclude_if=lambda requests: requests is None)


class TagSummary(Model, defer_build=True):
    """The figures of the tasks under one tag, or of one complexity; `missing_items` as in `Summary`."""

    completion_rate: Rate
    partial_score: Rate | None = None
    error_rate: Rate = 0.0
    confidence_interval: ConfidenceInterval | None = None
    items: int
    tasks: int
    missing_items: int | None = None

    @property
    def known_completion(self) -> float | None:
        """The completion rate; None where no item has a verdict."""
        return None if self.missing_items == self.items else self.completion_rate

    @property
    def known_interval(self) -> ConfidenceInterval | None:
        """Its interval, likewise."""
        return None if self.missing_items == self.items else self.confidence_interval


class DimensionSummary(Model, defer_build=True):
    """One dimension of a skill's answers: its mean over the `items` that were scored on it. The others say nothing: not 0."""

    mean: Rate
    items: int


_ONLY_SOME_HAVE = (
    "task_digest", "tool_calls", "messages", "time_to_first_token_ms", "content", "finish_reason", "turns", "files",
    "skills_loaded", "steps", "scoring_digest", "started_at",
)  # fmt: skip


class TaskResult(Model, defer_build=True):
    """One item as the report shows it: what was asked, what was expected, what came, and why it was judged so.

    What only some answers have (`tool_calls`, `messages`, `content`, `finish_reason`, `time_to_first_token_ms`, `turns`, `files`,
    `skills_loaded`, `steps`), and what earlier versions do not know (`task_digest`, `scoring_digest`, `started_at`), is absent
    from the JSON of an item that does not have it. `started_at` (UTC) is when the attempt began that `latency_ms` is of. `turns`
    are those of a conversation, of which the rest is the whole. The contents of `files`
    stay in the store.
    """

    task_id: str
    run_index: int
    status: Status
    score: Rate | None = None
    passed: bool
    scorer: str | None = None
    dimensions: dict[str, Rate] = Field(default_factory=dict)
    reasons: list[Reason] = Field(default_factory=list)
    latency_ms: float | None = None
    attempts: int = 1
    error_kind: ErrorKind | None = None
    error_message: str | None = None
    input: Any = None
    expected: Any = None
    output: Any = None
    tags: list[str] = Field(default_factory=list)
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    task_run_id: str | None = None
    task_digest: str | None = None
    tool_calls: list[ToolCall] | None = None
    messages: list[dict[str, Any]] | None = None
    time_to_first_token_ms: float | None = None
    content: list[dict[str, Any]] | None = None
    finish_reason: str | None = None
    turns: list[TurnResult] | None = None
    files: list[WorkspaceFile] | None = None
    skills_loaded: list[str] | None = None
    steps: int | None = None
    scoring_digest: str | None = None
    started_at: datetime | None = Field(default=None, strict=False)

    @property
    def name(self) -> str:
        """``task#run``, runs from 1, as in the names of task runs."""
        return f"{self.task_id}#{self.run_index + 1}"

    @property
    def tokens(self) -> int | None:
        """What its answer took, read and written; None where one of the two is unknown."""
        return all_tokens(self.prompt_tokens, self.completion_tokens)

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        for name in _ONLY_SOME_HAVE:
            if getattr(self, name) is None:
                fields.pop(name, None)
                fields.pop(to_camel(name), None)
        return fields


class Ranking(Model, defer_build=True):
    """The place of a skill among the `ranked_skills` that did the same tasks; see `core.ranking`.

    Skills that the tasks cannot tell apart share the ranks `rank` to `last_rank`, from 1. `adjusted_p` is that of the paired test
    against the best skill; None for the best itself. `probability_best` is the chance that its true completion rate is the
    highest, and `rank_lower` to `rank_upper` a 95 % interval of its rank; None for fewer than five tasks.
    `shrunk_completion_rate` is corrected for having been picked from several. `pareto_optimal`: it passed something, and no
    other skill is at least as good in completion, P95 and cost, and better in one of them.
    """

    rank: int = Field(ge=1)
    last_rank: int = Field(ge=1)
    ranked_skills: int = Field(ge=2)
    adjusted_p: Rate | None
    probability_best: Rate | None
    rank_lower: int | None
    rank_upper: int | None
    shrunk_completion_rate: Rate
    pareto_optimal: bool


SKILL_DIGESTS = "skillDigests"
"""The key of a report's `evaluator_metadata` with the digests of the skill's files and their items, where there are several."""


class SkillCompletionReport(Model, defer_build=True):
    """The result of one skill on one benchmark. The JSON report of a run is an array of these."""

    skill_id: str
    skill_version: str
    benchmark_id: str
    timestamp: datetime = Field(strict=False)
    summary: Summary
    latency: Latency
    token_cost: TokenCost
    by_tag: dict[str, TagSummary] = Field(default_factory=dict)
    by_complexity: dict[str, TagSummary] = Field(default_factory=dict)
    dimensions: dict[str, DimensionSummary] = Field(default_factory=dict)
    task_results: list[TaskResult] = Field(default_factory=list)
    evaluator_metadata: dict[str, Any] = Field(default_factory=dict)
    ranking: Ranking | None = None

    @property
    def skill_key(self) -> str:
        """``id@version``."""
        return skill_key(self.skill_id, self.skill_version)

    @property
    def cost_unknown_items(self) -> int:
        """How many items are missing in the cost that is known; where the report does not say it, its items do."""
        return self.token_cost.cost_unknown_items or self._in_part(item.cost_usd is None for item in self.task_results)

    @property
    def tokens_unknown_items(self) -> int:
        """The same of the number of tokens."""
        return self.token_cost.tokens_unknown_items or self._in_part(
            item.prompt_tokens is None or item.completion_tokens is None for item in self.task_results
        )

    def _in_part(self, unknown: Iterable[bool]) -> int:
        """How many of the items; 0 where it is all of them: a sum that is known then is not made of theirs."""
        count = sum(unknown)
        return count if count < len(self.task_results) else 0

    @property
    def whole_cost_usd(self) -> float | None:
        """The cost of all items; None where that of a single one is unknown: what is compared by it must not win by silence."""
        return None if self.cost_unknown_items else self.token_cost.estimated_usd

    @property
    def several_versions(self) -> str | None:
        """In words, that the items are of several versions of the skill's files; None where they are not, as far as is known."""
        counts = self.evaluator_metadata.get(SKILL_DIGESTS)
        if not isinstance(counts, dict):
            return None
        items = " and ".join(f"{count:,} items are of {digest}" for digest, count in counts.items())
        return f"its files changed before its run was continued: {items}"


def completion_order(report: SkillCompletionReport) -> tuple[float, float, str, str]:
    """Sorts the best report first: by completion rate, then by composite score, then by ``id@version`` and benchmark.

    Completion comes first because the composite score of a fast skill that is always wrong is 0.5.
    """
    summary = report.summary
    return (-summary.completion_rate, -summary.composite_score, report.skill_key, report.benchmark_id)


MISSING_KINDS = frozenset({"infra", "scorer", "judge", "simulator"})
"""Error kinds that leave open whether the skill would have passed."""


def is_missing(run: TaskResult) -> bool:
    """Whether nobody knows if the skill would have passed."""
    return run.status == "error" and run.error_kind in MISSING_KINDS


def commonest_error(runs: Sequence[TaskResult]) -> str:
    """What most of these runs, of which there is one, ended with: ``no answer within 30 s``, or ``3 of them: no answer …``."""
    said = Counter(one_line(run.error_message or run.error_kind or run.status, _SAID) for run in runs)
    message, count = said.most_common(1)[0]
    return message if count == len(runs) else f"{count:,} of them: {message}"
