"""A service that refuses requests slows a run down, and fails none of its items; unless it answers nothing at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.rate_limits import services
from eval_skills.engine.evaluation import session
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.summary import RunSummary
from tests.limited_service import LimitedService, limited_service

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan, Watcher

Run = Callable[..., RunSummary]


@pytest.fixture
def run(make_plan_of: MakePlan, write_skill: Callable[..., Path]) -> Run:
    """Runs one task so often, at a service."""

    def go(service: LimitedService, runs: int, **fields: Any) -> RunSummary:
        skill = write_skill("web", adapterType="http", entrypoint=service.url, adapterConfig={})
        return evaluate_in_process(make_plan_of("ok", skills=[str(skill)], runs=runs, **fields))

    return go


@pytest.mark.slow
def test_no_item_fails_no_attempt_is_counted_and_no_wait_is_in_a_latency_or_a_time_limit(run: Run, watcher: Watcher) -> None:
    with limited_service(0.1, burst=1) as service:  # a busy machine may take seconds for one call
        run(service, 2, concurrency=2, timeout_ms=8_000)
    assert Counter(result.status for result in watcher.results) == {"pass": 2}
    assert {len(result.attempts) for result in watcher.results} == {1}
    assert max(result.latency_ms or 0 for result in watcher.results) < 8_000
    assert service.bucket.answered[1] - service.bucket.answered[0] > 9
    assert watcher.retried == []
    assert watcher.throttles[0].service == f"127.0.0.1:{service.server_port}"


def test_a_declared_rate_is_never_exceeded(run: Run, watcher: Watcher) -> None:
    with limited_service(1000, burst=1000) as service:
        run(service, 5, concurrency=5, rate="10/s")
    gaps = [after - before for before, after in zip(service.bucket.answered, service.bucket.answered[1:], strict=False)]
    assert len(gaps) == 4
    assert sum(gaps) > 0.25, "a request may arrive late, and the next one on time"
    assert watcher.throttles == []


def test_what_has_not_been_asked_when_the_time_is_up_is_left_for_a_resume(run: Run, watcher: Watcher) -> None:
    began = monotonic()
    with limited_service(1000, burst=1000) as service:
        summary = run(service, 6, concurrency=3, rate="20/h", max_duration_s=0.5)
    assert monotonic() - began < 60
    assert [result.status for result in watcher.results] == ["pass"]
    assert (summary.finished, str(summary.stopped and summary.stopped.limit)) == (1, "duration")
    assert len(service.bucket.answered) == 1


def test_a_wait_that_a_service_asks_for_ends_with_the_time_of_the_run(run: Run, watcher: Watcher) -> None:
    began = monotonic()
    with limited_service(0.01, burst=1) as service:
        summary = run(service, 3, concurrency=1, max_duration_s=0.5)
    assert monotonic() - began < 60
    assert (summary.finished, summary.stopped and summary.stopped.limit, len(watcher.throttles)) == (1, "duration", 1)


@pytest.mark.parametrize("retries", [0, 1])
def test_a_service_that_only_refuses_is_given_up(
    run: Run, watcher: Watcher, monkeypatch: pytest.MonkeyPatch, retries: int
) -> None:
    monkeypatch.setattr(services, "GIVEN_UP_S", 0.4)
    monkeypatch.setattr(services, "GIVEN_UP_REFUSALS", 2)
    with limited_service(1000, burst=0) as service:
        run(service, 3, concurrency=3, retries=retries)
    assert {result.error_kind for result in watcher.results} == {"infra"}
    assert {len(result.attempts) for result in watcher.results} == {1 + retries}
    assert all("it has refused every request for more than" in (result.error_message or "") for result in watcher.results)


def test_an_item_that_is_always_refused_ends_though_others_are_answered(
    run: Run, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_THROTTLED_S", -1.0)
    with limited_service(0.1, burst=1) as service:
        run(service, 2, concurrency=2)
    assert sorted(result.status for result in watcher.results) == ["error", "pass"]


def test_a_wait_that_is_too_long_is_not_begun(run: Run, watcher: Watcher) -> None:
    with limited_service(0.001, burst=0) as service:
        run(service, 2, concurrency=2)
    assert all("it asks to wait 1,000 s, more than the 120 s" in (each.error_message or "") for each in watcher.results)
    assert len(watcher.results) == 2


@pytest.mark.parametrize("forbidden", [(), ("delete",)], ids=["nothing-forbidden", "a-tool-is-forbidden"])
def test_whether_a_refused_request_called_a_forbidden_tool_stays_a_question(
    make_plan_of: MakePlan, write_skill: Callable[..., Path], write_tasks: Callable[..., str], watcher: Watcher,
    forbidden: tuple[str, ...],
) -> None:  # fmt: skip
    expected = {"expected": {"forbiddenTools": list(forbidden)}} if forbidden else {}
    with limited_service(8, burst=1) as service:
        skill = write_skill("web", adapterType="http", entrypoint=service.url, adapterConfig={})
        plan = make_plan_of(skills=[str(skill)], tasks=write_tasks("ok", **expected), runs=2, concurrency=2)
        evaluate_in_process(plan)
    assert sorted(len(result.attempts) for result in watcher.results) == ([1, 2] if forbidden else [1, 1])
