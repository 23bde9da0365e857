"""One attempt at one item: call the skill and score its answer, or record why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from time import perf_counter
from typing import Any, Protocol

from eval_skills.adapters import Adapter
from eval_skills.adapters.recorded import RecordedRun
from eval_skills.core.errors import (
    ContractError,
    InfraError,
    ItemError,
    ItemLeft,
    SimulatorError,
    SkillNotStarted,
    SkillThrottled,
)
from eval_skills.core.models import (
    Attempt,
    Benchmark,
    EvalTask,
    ItemResult,
    Reason,
    SkillResponse,
    Status,
    ToolCall,
    TurnResult,
    Verdict,
)
from eval_skills.core.models.result import FORBIDDEN_TOOL_CALLED, TOOL_CALLS_UNKNOWN, ErrorKind
from eval_skills.core.rate_limits.services import Throttled
from eval_skills.engine.evaluation.conversation import converse, scripted
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.recordings import Recordings, asked_digest
from eval_skills.engine.evaluation.simulated_user import UserModel, paid_for_users, remark_on_end, talk
from eval_skills.scorers.answer_remarks import about_cuts, about_duplicate_keys
from eval_skills.scorers.task_scoring.conversation import with_inputs
from eval_skills.scorers.task_scoring.scoring import TaskScoring
from eval_skills.scorers.tools.calls import known_calls

_OF_THE_VERDICT = (
    "status", "score", "passed", "scorer", "dimensions", "reasons", "error_kind", "judge_tokens", "judge_cost_usd",
    "judge_agreement", "forbidden_unknown", "judge_requests",
)  # fmt: skip


class AdapterSource(Protocol):
    """A run's plan, and an open adapter for each of its skills."""

    plan: RunPlan

    async def adapter(self, skill_key: str) -> Adapter:
        """The open adapter of a skill; raises an ItemError if it cannot be opened."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one attempt at an item, and whether (and after how long) another attempt may succeed.

    `throttled`: its service refused the request and is waited for; asking again then is not another attempt.
    """

    result: ItemResult = field(repr=False)  # Prefect logs the state of each failed attempt with its data
    transient: bool = False
    retry_after_s: float = 0.0
    throttled: Throttled | None = None


async def execute(item: Item, run: AdapterSource, earlier: Sequence[Attempt] = ()) -> Outcome:
    """Make one attempt at `item`. What the skill does, errors included, becomes part of the outcome and is not raised.

    `earlier` are the attempts made before this one; the result lists them all.

    Raises:
        ItemLeft: the run ended before the skill's service was asked.
    """
    if run.plan.recordings is not None:
        return await judge_recorded(item, run.plan, run.plan.recordings)
    task = run.plan.scorings[item.task].task
    started_at, began = datetime.now(UTC), perf_counter()
    try:
        adapter = await run.adapter(item.skill)
        response = await _answer_to(item, adapter, run.plan)
    except ItemLeft:
        raise
    except ItemError as error:
        took_ms = error.latency_ms if error.latency_ms is not None else (perf_counter() - began) * 1000
        latency_ms = None if isinstance(error, SkillNotStarted) else took_ms  # nothing was called
        return no_answer(item, run.plan, error, started_at, latency_ms, earlier, known=error.known)
    response = _with_earlier_loads(response, earlier)
    verdict = await run.plan.scorings[item.task].verdict(response)
    last = Attempt(started_at=started_at, latency_ms=response.latency_ms, simulation=response.simulation, **_reported(response))
    attempts = [*earlier, last]
    result = _result(item, run.plan, task, attempts, **_answered(response, verdict))
    return Outcome(with_earlier_calls(result, run.plan.scorings[item.task]))


async def _answer_to(item: Item, adapter: Adapter, plan: RunPlan) -> SkillResponse:
    task = plan.scorings[item.task].task
    if task.user is not None:
        judges = plan.scorings[item.task].settings.judges
        user = UserModel(task, task.user, item.run, judges, plan.timeout_s(task))
        return await talk(adapter, user)
    if task.turns is None:
        return await adapter.call(task.input_data, plan.timeout_s(task))
    return await converse(adapter, scripted(task, partial(plan.timeout_s, task)), planned=len(task.turns))


async def judge_recorded(item: Item, plan: RunPlan, recordings: Recordings) -> Outcome:
    """Score the recorded run of `item`; nothing is called. Latency, tokens and cost are those of the record.

    An item without a record is a `contract` error: a task that was not answered has not passed. A recorded error is an error,
    too, unless the run called a forbidden tool before: then the item has failed.
    """
    started_at = datetime.now(UTC)
    try:
        recorded = recordings.run_of(item.key)
    except InfraError as error:
        return no_answer(item, plan, error, started_at, None, ())
    if recorded is None:
        missing = f"{recordings.file.name} has no line for {item}"
        return no_answer(item, plan, ContractError(missing), started_at, None, ())
    scoring = plan.scorings[item.task]
    if recorded.input_digest not in (None, asked_digest(scoring.task)):
        other = f"{recordings.file.name} has the answer of {item} to another input; record it anew with --record"
        return no_answer(item, plan, ContractError(other), started_at, None, ())
    return await judged(item, plan, recorded, started_at)


async def judged(item: Item, plan: RunPlan, recorded: RecordedRun, started_at: datetime) -> Outcome:
    """The outcome of an item whose run was recorded, scored now."""
    scoring, earlier = plan.scorings[item.task], _attempts_before(recorded, started_at)
    answer = with_inputs(scoring.task, recorded.answer)
    if (failure := recorded.failure) is not None:
        return no_answer(item, plan, failure, started_at, answer.latency_ms, earlier, known=answer)
    verdict = await scoring.verdict(answer)
    attempts = [*earlier, Attempt(started_at=started_at, latency_ms=answer.latency_ms)]
    result = _result(item, plan, scoring.task, attempts, **_answered(answer, verdict))
    return Outcome(with_earlier_calls(result, scoring))


def _attempts_before(recorded: RecordedRun, started_at: datetime) -> list[Attempt]:
    """The attempts before the recorded one; which of them called a tool is not recorded, and makes no difference."""
    called = [
        recorded.earlier_calls,
        *([] if recorded.earlier_calls is not None else None for _ in recorded.earlier_attempts[1:]),
    ]
    return [
        Attempt(started_at=started_at, latency_ms=attempt.latency_ms, error_kind=attempt.error_kind, called=names)
        for attempt, names in zip(recorded.earlier_attempts, called, strict=False)
    ]


def no_answer(
    item: Item,
    plan: RunPlan,
    error: ItemError,
    started_at: datetime,
    latency_ms: float | None,
    earlier: Sequence[Attempt],
    known: SkillResponse | None = None,
) -> Outcome:
    """The outcome of an attempt that ended in `error` after `latency_ms`; `earlier` are the attempts made before it.

    `known` is what the attempt is known to have done before that.
    """
    scoring = plan.scorings[item.task]
    ended = result_without_answer(error.kind, str(error), scoring, known)
    if error.duplicate_keys:
        ended["reasons"] = [*ended["reasons"], about_duplicate_keys(error.duplicate_keys)]
    calls = known_calls(known or SkillResponse())
    called = None if calls is None else [call.name for call in calls]
    simulation = None if known is None else known.simulation
    last = Attempt(
        started_at=started_at,
        latency_ms=latency_ms,
        error_kind=error.kind,
        called=called,
        loaded=None if known is None else known.skills_loaded,
        simulation=simulation,
        **_reported(known or SkillResponse()),
    )
    known = None if known is None else _with_earlier_loads(known, earlier)
    delivered = {} if known is None else _delivered(known) | {"turns": _turns_without_verdict(known, error)}
    result = _result(item, plan, scoring.task, [*earlier, last], latency_ms=latency_ms, **ended, **delivered)
    result = with_earlier_calls(result, scoring)
    transient = error.transient and result.status != "fail"  # a forbidden call cannot be undone by another attempt
    throttled = error.throttled if isinstance(error, SkillThrottled) and transient else None
    return Outcome(result, transient=transient, retry_after_s=error.retry_after_s or 0.0, throttled=throttled)


def with_earlier_calls(result: ItemResult, scoring: TaskScoring) -> ItemResult:
    """The result, failed if an attempt before the last one called a forbidden tool: what was called then, was called.

    Where that is unknown, the question stays open, whatever the last attempt answered.
    """
    if len(result.attempts) < 2 or any(reason.code == FORBIDDEN_TOOL_CALLED for reason in result.reasons):
        return result
    if result.earlier_calls is None:
        return _with_open_question(result) if scoring.forbids_tools and not result.forbidden_unknown else result
    calls = [ToolCall(name=name) for name in result.earlier_calls]
    if (verdict := scoring.violation(SkillResponse(tool_calls=calls))) is None:
        return result
    failed = {"status": verdict.status, "score": verdict.score, "passed": verdict.passed}
    return result.model_copy(update=failed | {"reasons": [*verdict.reasons, *(reason.as_remark() for reason in result.reasons)]})


def _with_earlier_loads(response: SkillResponse, earlier: Sequence[Attempt]) -> SkillResponse:
    """The answer with what attempts before it loaded: an agent that broke off after a load has decided."""
    before = [name for attempt in earlier for name in attempt.loaded or ()]
    if response.skills_loaded is None or not before:
        return response
    return response.model_copy(update={"skills_loaded": list(dict.fromkeys([*before, *response.skills_loaded]))})


def _with_open_question(result: ItemResult) -> ItemResult:
    message = "tools are forbidden, and which ones an earlier attempt called is unknown: it ended without an answer"
    reason = Reason(code=TOOL_CALLS_UNKNOWN, message=message, where="expected.forbiddenTools", informational=True)
    return result.model_copy(update={"forbidden_unknown": True, "reasons": [*result.reasons, reason]})


def verdict_fields(verdict: Verdict) -> dict[str, Any]:
    """The fields of an `ItemResult` that the verdict on its answer decides."""
    message = verdict.reasons[0].message if verdict.status == "error" and verdict.reasons else None
    return {name: getattr(verdict, name) for name in _OF_THE_VERDICT} | {"error_message": message}


def _answered(response: SkillResponse, verdict: Verdict) -> dict[str, Any]:
    latencies = {"latency_ms": response.latency_ms, "time_to_first_token_ms": response.time_to_first_token_ms}
    fields = verdict_fields(verdict)
    fields["reasons"] = [*fields["reasons"], *_remarks(response)]
    return fields | latencies | _delivered(response) | {"turns": judged_turns(response, verdict)}


def _remarks(response: SkillResponse) -> Iterator[Reason]:
    """What is said of an answer beside its verdict; no second judging of it can find that again."""
    if response.simulation is not None:
        yield from remark_on_end(response.simulation, len(response.turns or ()))
    if response.duplicate_keys:
        yield about_duplicate_keys(response.duplicate_keys)
    if response.finish_reason or response.messages or response.turns:
        yield from about_cuts(response)


def judged_turns(response: SkillResponse, verdict: Verdict) -> list[TurnResult] | None:
    """The turns of a conversation with their verdicts; None for any other answer."""
    if response.turns is None:
        return None
    verdicts = verdict.turns or [None] * len(response.turns)
    pairs = zip_longest(response.turns, verdicts[: len(response.turns)])
    return [TurnResult.of(number, answer, judged) for number, (answer, judged) in enumerate(pairs, start=1)]


def _turns_without_verdict(known: SkillResponse, error: ItemError) -> list[TurnResult] | None:
    """The turns of a conversation, of which the last one ended in `error`, unless that came between two turns."""
    if not known.turns:
        return None
    *before, last = (TurnResult.of(number, answer, None) for number, answer in enumerate(known.turns, start=1))
    if isinstance(error, SimulatorError):
        return [*before, last]
    status: Status = "timeout" if error.kind == "timeout" else "error"
    return [*before, last.model_copy(update={"status": status, "error_kind": error.kind, "error_message": str(error)})]


def _delivered(response: SkillResponse) -> dict[str, Any]:
    usage = response.usage
    return {
        "output": response.output,
        "messages": response.messages,
        "tool_calls": response.tool_calls,
        "content": response.content,
        "finish_reason": response.finish_reason,
        "prompt_tokens": usage.prompt_tokens if usage else None,
        "completion_tokens": usage.completion_tokens if usage else None,
        "cost_usd": response.cost_usd,
        "files": response.files,
        "skills_loaded": response.skills_loaded,
        "steps": response.steps,
    }


def _reported(response: SkillResponse) -> dict[str, Any]:
    return {"cost_usd": response.cost_usd, "tokens": response.usage.tokens if response.usage else None}


def _result(item: Item, plan: RunPlan, task: EvalTask, attempts: list[Attempt], **outcome: Any) -> ItemResult:
    skill = plan.skills[item.skill]
    return ItemResult(
        run_id=plan.run_id,
        started_at=plan.dated(attempts[-1].started_at),
        skill_id=skill.id,
        skill_version=skill.version,
        skill_digest=plan.digests[skill.key],
        **definition_fields(task, skill.key, plan.benchmark, plan.digests),
        run_index=item.run,
        timeout_ms=plan.timeout_s(task) * 1000,
        attempts=attempts,
        earlier_calls=_called_before(attempts),
        origin=plan.request.origin,
        **(paid_for_users(attempts) if task.user is not None else {}),
        **outcome,
    )


def definition_fields(task: EvalTask, skill_key: str, benchmark: Benchmark, digests: Mapping[str, str]) -> dict[str, Any]:
    """The fields of an `ItemResult` that say what a skill was asked, and what scores the answer.

    Of a benchmark that is made of the skills' own tests the digest is that of this skill's.
    """
    return {
        "benchmark_id": benchmark.id,
        "benchmark_version": benchmark.version,
        "benchmark_digest": digests.get(f"benchmark/{skill_key}", digests["benchmark"]),
        "task_id": task.id,
        "task_digest": digests[f"task/{task.id}"],
        "scoring_digest": digests[f"scoring/{task.id}"],
        "tags": task.tags,
        "complexity": task.complexity,
        "weight": task.weight,
    }


def _called_before(attempts: Sequence[Attempt]) -> list[str] | None:
    called = [attempt.called for attempt in attempts[:-1]]
    return None if None in called else [name for names in called for name in names or ()]


def result_without_answer(
    kind: ErrorKind, message: str, scoring: TaskScoring, known: SkillResponse | None = None
) -> dict[str, Any]:
    """The fields of an `ItemResult` of a run without an answer; `known` is what it is known to have done.

    It is an error or a timeout, unless it called a forbidden tool: then the item has failed with score 0, and the error is a
    remark. The error's kind and message are kept in both cases. Where tools are forbidden and what it called is unknown, a second
    reason says so.
    """
    is_timeout = kind == "timeout"
    reason = Reason(code="TIMEOUT" if is_timeout else f"{kind.upper()}_ERROR", message=message)
    fields: dict[str, Any] = {
        "status": "timeout" if is_timeout else "error",
        "score": None,
        "passed": False,
        "scorer": scoring.scorer,
        "reasons": [reason],
        "error_kind": kind,
        "error_message": message,
        "forbidden_unknown": False,
    }
    if known is not None and (verdict := scoring.violation(known)) is not None:
        fields |= {"status": verdict.status, "score": verdict.score, "reasons": [*verdict.reasons, reason.as_remark()]}
    elif (question := scoring.open_question(known)) is not None:
        fields |= {"reasons": [reason, question], "forbidden_unknown": True}
    return fields
