"""One attempt at an item: whatever the skill does becomes data."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eval_skills.adapters import Adapter, open_adapter
from eval_skills.core.errors import InfraError
from eval_skills.core.models import Attempt
from eval_skills.engine.evaluation.execution import Outcome, execute
from eval_skills.engine.evaluation.plan import RunPlan, make_plan

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan, MakeRequest


class Run:
    """A plan with one open adapter."""

    def __init__(self, plan: RunPlan, adapter: Adapter) -> None:
        self.plan, self._adapter = plan, adapter

    async def adapter(self, skill_key: str) -> Adapter:
        return self._adapter


class Unreachable(Run):
    async def adapter(self, skill_key: str) -> Adapter:
        raise InfraError(f"{skill_key} is on the moon")


@asynccontextmanager
async def running(plan: RunPlan) -> AsyncIterator[Run]:
    [skill] = plan.skills.values()
    async with open_adapter(skill) as adapter:
        yield Run(plan, adapter)


async def outcome_of(plan: RunPlan, *earlier: Attempt) -> Outcome:
    async with running(plan) as run:
        return await execute(plan.items[0], run, earlier)


@pytest.mark.parametrize(
    ("what", "status", "kind", "transient"),
    [
        pytest.param("ok", "pass", None, False, id="right"),
        pytest.param("wrong", "fail", None, False, id="wrong"),
        pytest.param("refuse", "error", "skill", False, id="an-error-reply-is-final"),
        pytest.param("die", "error", "skill", True, id="a-dead-worker-may-be-replaced"),
        pytest.param("hang", "timeout", "timeout", True, id="a-timeout-may-pass"),
    ],
)
async def test_p12_status_and_kind_come_from_the_event(
    make_plan_of: MakePlan, what: str, status: str, kind: str | None, transient: bool
) -> None:
    outcome = await outcome_of(make_plan_of(what, timeout_ms=300 if what == "hang" else 60_000))
    result = outcome.result
    assert (result.status, result.error_kind, outcome.transient) == (status, kind, transient)
    assert result.passed is (status == "pass")
    assert (result.score is None) is (status in {"error", "timeout"})
    assert bool(result.reasons) is (status != "pass")
    assert (result.error_message is None) is (kind is None)
    assert result.scorer == "exact_match"


async def test_a_dated_run_s_result_tells_its_date_and_origin_and_its_attempts_the_real_time(make_plan_of: MakePlan) -> None:
    at = datetime(2025, 3, 1, tzinfo=UTC)
    plan = make_plan_of(at=at, origin="replay")
    result = (await outcome_of(plan)).result
    assert result.origin == "replay"
    assert result.started_at - at == result.attempts[0].started_at - plan.began
    assert result.attempts[0].started_at >= plan.began


async def test_the_result_carries_everything_that_the_answer_brought_and_what_identifies_it(make_plan_of: MakePlan) -> None:
    plan = make_plan_of("dear", timeout_ms=60_000)
    result = (await outcome_of(plan)).result
    assert (result.output, result.prompt_tokens, result.completion_tokens, result.cost_usd) == ("ok", 3, 4, 0.5)
    assert result.key == plan.items[0].key
    assert (result.run_id, result.skill_digest) == (plan.run_id, plan.digests["moody@1.0.0"])
    assert (result.benchmark_digest, result.task_digest) == (plan.digests["benchmark"], plan.digests["task/dear"])


@pytest.mark.parametrize(
    ("own", "expected_ms"), [pytest.param({}, 60_000, id="the-run's"), pytest.param({"timeoutMs": 15_000}, 15_000, id="own")]
)
async def test_p17_the_limit_that_was_in_force_is_in_the_result(
    make_request: MakeRequest, write_tasks: Callable[..., str], own: dict[str, int], expected_ms: float
) -> None:
    plan = make_plan(make_request(tasks=write_tasks("ok", **own), timeout_ms=60_000))
    assert (await outcome_of(plan)).result.timeout_ms == expected_ms


async def test_p16_a_task_s_own_limit_cuts_its_call(make_request: MakeRequest, write_tasks: Callable[..., str]) -> None:
    plan = make_plan(make_request(tasks=write_tasks("hang", timeoutMs=200), timeout_ms=600_000))
    result = (await outcome_of(plan)).result
    assert result.status == "timeout"
    assert result.error_message is not None
    assert "no answer within 0.2 s" in result.error_message
    assert result.latency_ms is not None
    assert 0 < result.latency_ms < 60_000  # the start of the worker counts against the limit, not as latency


async def test_p29_earlier_attempts_are_kept_and_a_failure_keeps_the_time_it_took(make_plan_of: MakePlan) -> None:
    before = Attempt(
        started_at=datetime(2026, 11, 21, tzinfo=UTC), latency_ms=12.0, error_kind="infra"
    )  # a service refused; this one then crashed
    failed = (await outcome_of(make_plan_of("die", timeout_ms=60_000), before)).result
    assert [attempt.error_kind for attempt in failed.attempts] == ["infra", "skill"]
    assert failed.attempts[0] == before
    assert failed.latency_ms == failed.attempts[-1].latency_ms
    assert failed.started_at == failed.attempts[-1].started_at


async def test_p25_an_adapter_that_cannot_be_opened_is_an_infra_error_with_a_latency(make_plan_of: MakePlan) -> None:
    plan = make_plan_of()
    [skill] = plan.skills.values()
    outcome = await execute(plan.items[0], Unreachable(plan, open_adapter(skill)))
    assert (outcome.result.status, outcome.result.error_kind, outcome.transient) == ("error", "infra", False)
    assert outcome.result.latency_ms is not None
    assert "is on the moon" in str(outcome.result.error_message)


@pytest.mark.slow
async def test_p09_a_scorer_that_breaks_keeps_the_answer_and_its_latency(
    make_request: MakeRequest, write_tasks: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "score.py").write_text("def score(output, expected, task):\n    raise KeyError('oops')\n")
    tasks = write_tasks("ok", evaluator={"type": "custom", "timeoutMs": 60_000}, expectedOutput={"customScorerPath": "score.py"})
    result = (await outcome_of(make_plan(make_request(tasks=tasks, allow_custom_code=True, timeout_ms=60_000)))).result
    assert (result.status, result.error_kind, result.output, result.scorer) == ("error", "scorer", "ok", "custom")
    assert result.latency_ms is not None
    assert "oops" in str(result.error_message)
