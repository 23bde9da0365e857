"""A run stops at its limits: no other item begins, nothing lands, and all that was used counts for ever."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import SkillUnavailable
from eval_skills.core.models import Attempt, SkillResponse
from eval_skills.core.store import Journal, Store, past_runs
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.execution import Outcome, no_answer
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.observer import NullObserver, observed_runs
from eval_skills.engine.evaluation.plan import Item
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.session import RunSession, manifest_of
from eval_skills.engine.evaluation.spending import Limits
from eval_skills.engine.evaluation.summary import RunSummary, context_of
from eval_skills.engine.stored_runs.reports import read_source

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan

Resume = Callable[..., RunSummary]


class Warned(NullObserver):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def unbounded(self, warning: str) -> None:
        self.warnings.append(warning)


@pytest.fixture
def warned() -> Iterator[list[str]]:
    observer = Warned()
    with observed_runs.by(observer):
        yield observer.warnings


@pytest.fixture
def dear(make_plan_of: MakePlan, tmp_path: Any) -> Callable[..., RunSummary]:
    """Runs ten items, one after the other, each of which takes 0.5 USD and 7 tokens."""

    def run(**limits: Any) -> RunSummary:
        return evaluate_in_process(make_plan_of("dear", runs=10, concurrency=1, timeout_ms=120_000, **limits))

    return run


@pytest.fixture
def resume(tmp_path: Any) -> Resume:
    def go_on(**limits: Any) -> RunSummary:
        request = EvaluateRequest(resume="latest", store=str(tmp_path / "store"), concurrency=1, format=[], **limits)
        return evaluate_in_process(resumed_plan(request))

    return go_on


@pytest.mark.parametrize(
    ("limits", "finished", "line"),
    [
        pytest.param({"max_cost": 1.1}, 3, r"stopped at --max-cost 1\.1: \$1\.50 spent, 3 of 10 items done", id="cost"),
        pytest.param({"max_cost": 1.0}, 2, r"stopped at --max-cost 1: \$1\.00 spent, 2 of 10 items done", id="just-reached"),
        pytest.param({"max_tokens": 21}, 3, "stopped at --max-tokens 21: 21 tokens used, 3 of 10 items done", id="tokens"),
        pytest.param({"max_duration_s": 1e-9}, 0, r"stopped at --max-duration 1e-09: \S+ s passed, 0 of 10 items", id="time"),
    ],
)
def test_no_other_item_begins(dear: Any, limits: dict[str, float], finished: int, line: str) -> None:
    summary = dear(**limits)
    assert (summary.finished, summary.is_partial, summary.gate_passed) == (finished, True, False)
    assert re.match(line, summary.stop_line or "")
    store = Store(summary.store)
    assert store.unfinished() == [summary.run_id]
    assert store.items().empty
    [run] = past_runs(store)
    assert run.stopped == {"max_cost": "cost limit", "max_tokens": "token limit", "max_duration_s": "time limit"}[min(limits)]


def test_the_last_item_may_reach_the_limit(dear: Any) -> None:
    summary = dear(max_cost=5.0)
    assert (summary.finished, summary.stopped) == (10, None)
    assert Store(summary.store).unfinished() == []


@pytest.mark.slow
def test_a_resume_counts_what_was_spent_before_and_goes_on_with_more(dear: Any, resume: Resume) -> None:
    first = dear(max_cost=1.1)
    again = resume()
    assert (again.finished, again.stop_line) == (3, first.stop_line)
    assert again.continue_line("eval") == (
        f"raise the limit to continue: eval-skills eval --resume {first.run_id} --store {first.store} --max-cost USD"
    )
    assert resume(max_cost=2.0).finished == 4
    whole = resume(max_cost=100.0)
    assert (whole.finished, whole.stopped) == (10, None)
    manifest = Store(whole.store).manifest(whole.run_id)
    assert (manifest.stopped, manifest.request["maxCost"]) == (None, 1.1)


def test_a_resume_has_its_own_time(dear: Any, resume: Resume) -> None:
    assert dear(max_duration_s=1e-9).finished == 0
    assert resume(max_duration_s=600.0).finished == 10


def test_reports_say_that_the_run_stopped(dear: Any) -> None:
    summary = dear(max_tokens=20)
    assert context_of(summary).notes[0] == summary.stop_line
    source = read_source(summary.run_id, summary.store)
    assert source.context.notes[0] == summary.stop_line
    assert f"run {summary.run_id} {summary.stop_line}" in source.remarks


def test_what_is_unknown_is_said_and_bounds_nothing(make_plan_of: MakePlan, warned: list[str]) -> None:
    plan = make_plan_of("dear", "ok", "refuse", runs=2, concurrency=1, timeout_ms=120_000, max_cost=2.0)
    summary = evaluate_in_process(plan)
    assert summary.stopped is None
    assert "the cost of 4 of 6 items is unknown, at least in part: --max-cost did not bound it" in summary.remarks
    assert warned == ["moody@1.0.0 does not say what an answer cost: --max-cost does not bound what is not reported"]


class FailsDearly(LocalExecutor):
    """Every attempt costs 0.25 USD, and fails so that another one may help."""

    async def execute(self, item: Item, earlier: Sequence[Attempt]) -> Outcome:
        error = SkillUnavailable("HTTP 503")
        known = SkillResponse(cost_usd=0.25)
        return no_answer(item, self.plan, error, datetime.now(UTC), 1.0, earlier, known=known)


async def test_attempts_that_fail_count_too_now_and_for_a_resume(make_plan_of: MakePlan, tmp_path: Any) -> None:
    plan = make_plan_of("ok", "two", max_cost=0.5)
    plan.write_manifest(manifest_of(plan))
    first, second = plan.items
    with Journal(plan.store.journal_path(plan.run_id)) as journal:
        async with RunSession(plan, journal, NullObserver(), executor=FailsDearly(plan)) as session:
            await session.attempt(first, last=False)
            assert not session.stopped
            await session.attempt(first, last=False)
            assert session.stopped
            assert session.may_attempt(first), "what has begun goes on"
            assert not session.may_attempt(second)
            await session.attempt(first, last=True)
    [line] = [json.loads(text) for text in plan.store.journal_path(plan.run_id).read_text().splitlines()]
    assert [attempt["cost_usd"] for attempt in line["attempts"]] == [0.25, 0.25, 0.25]
    rest = resumed_plan(EvaluateRequest(resume=plan.run_id, store=str(tmp_path / "store"), format=[], max_cost=0.75))
    assert evaluate_in_process(rest).stop_line == "stopped at --max-cost 0.75: $0.7500 spent, 1 of 2 items done"


@pytest.mark.parametrize(
    ("limits", "began_before_s", "least_s", "most_s"),
    [
        pytest.param({}, 0, math.inf, math.inf, id="no-limit"),
        pytest.param({"max_duration_s": 600.0}, 100, 1, 500, id="what-is-left"),
        pytest.param({"max_duration_s": 600.0}, 700, 0, 0, id="the-time-is-up"),
        pytest.param({"max_duration_s": 600.0, "max_tokens": 9}, 100, 0, 0, id="each-may-be-the-last"),
    ],
)
def test_how_long_items_may_follow_each_other_unwatched(
    make_plan_of: MakePlan, limits: dict[str, float], began_before_s: float, least_s: float, most_s: float
) -> None:
    running = Limits(make_plan_of("ok", **limits))
    running.begin(monotonic() - began_before_s)
    assert least_s <= running.unwatched_s <= most_s
