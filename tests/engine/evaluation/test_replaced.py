"""What `--retry-errors` replaces was paid: it stays among the attempts of its item, and is counted once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.models import Attempt, ItemResult, Reason
from eval_skills.core.models.response import ToolCall
from eval_skills.core.models.result import KEPT_ANSWER
from eval_skills.core.store import Journal, Store, results_of
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.replaced import Replaced
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.spending import Spending, spent_before
from tests.tables import each_row

if TYPE_CHECKING:
    from eval_skills.engine.evaluation.summary import RunSummary
    from tests.engine.evaluations import MakePlan

FAILS = """
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    known = {"usage": {"promptTokens": 3, "completionTokens": 4}, "costUsd": 1.0}
    reply = {"error": {"code": 1, "message": "cannot", "data": known}}
    if os.path.exists("mended"):
        reply = {"result": {"output": "ok", **known}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
"""


@pytest.fixture
def failed(tmp_path: Path, write_skill: Callable[..., Path], make_plan_of: MakePlan) -> RunSummary:
    """A run of two items that has landed: each ended in an error, and cost 1 USD."""
    (write_skill() / "skill.py").write_text(FAILS)
    return evaluate_in_process(make_plan_of("ok", "two", retries=0, timeout_ms=120_000))


def again(run: RunSummary, **fields: Any) -> RunSummary:
    request = EvaluateRequest(resume=run.run_id, retry_errors=True, store=run.store, format=[], **fields)
    return evaluate_in_process(resumed_plan(request))


def spent(run: RunSummary) -> tuple[float, int, int]:
    found = spent_before(Store(run.store), run.run_id)
    return found.cost_usd, found.tokens, found.items


@pytest.mark.slow
def test_what_was_replaced_counts_once_however_often_items_are_asked_again(failed: RunSummary, tmp_path: Path) -> None:
    assert spent(failed) == (2.0, 14, 2)
    again(failed)
    (tmp_path / "skills" / "moody" / "mended").touch()
    whole = again(failed)
    assert spent(whole) == (6.0, 42, 2)
    [report] = whole.reports
    earlier = report.token_cost.earlier_attempts
    assert report.summary.completion_rate == 1.0
    assert (report.token_cost.estimated_usd, earlier and (earlier.attempts, earlier.estimated_usd)) == (2.0, (4, 4.0))


@pytest.mark.slow
def test_a_limit_counts_it(failed: RunSummary, tmp_path: Path) -> None:
    again(failed)
    stopped = again(failed, max_cost=4.5, concurrency=1)
    assert stopped.stop_line == "stopped at --max-cost 4.5: $5.00 spent, 1 of 2 items done"
    assert spent(stopped) == (5.0, 35, 2), "the line of the journal repeats attempts that have landed"
    (tmp_path / "skills" / "moody" / "mended").touch()
    assert spent(again(failed, max_cost=100.0)) == (7.0, 49, 2)


@pytest.mark.slow
def test_items_that_landed_just_before_the_process_was_killed_are_not_counted_twice(failed: RunSummary) -> None:
    store = Store(failed.store)
    landed = results_of(store.item_table(failed.run_id))
    with Journal(store.journal_path(failed.run_id)) as journal:
        journal.append(landed[0])
    assert spent(failed) == (2.0, 14, 2)


def test_of_an_answer_kept_from_another_run_what_it_replaced_counts_and_what_it_took_there_does_not() -> None:
    found, key = Spending(), ("s@1.0.0", "t", 0)
    row = {"reasons": [{"code": KEPT_ANSWER}], "cost_usd": 8.0, "prompt_tokens": 5, "completion_tokens": 5, "started_at": T2}
    replaced = {"started_at": T0, "cost_usd": 1.0, "tokens": 7}
    there, last = ({"started_at": at, "cost_usd": None, "tokens": None} for at in (T1, T2))
    found.add_recorded(key, row, [replaced, there, last])
    assert (found.cost_usd, found.tokens, found.without_cost) == (1.0, 7, set())


T0, T1, T2 = (datetime(2026, 1, 1, minute, tzinfo=UTC) for minute in range(3))


def result(at: datetime, **fields: Any) -> ItemResult:
    known = {"run_id": "r", "skill_id": "s", "skill_version": "1.0.0", "benchmark_id": "b", "benchmark_version": "1.0.0"}
    failed = {"status": "error", "passed": False, "error_kind": "skill"} if "status" not in fields else {}
    return ItemResult(**{**known, "task_id": "t", "run_index": 0, "started_at": at, **failed, **fields})


def of(at: datetime, **fields: Any) -> Attempt:
    return Attempt(started_at=at, **fields)


def test_an_item_of_an_older_version_has_an_attempt_with_what_the_item_took() -> None:
    replaced = Replaced.of(result(T0, cost_usd=2.0, prompt_tokens=3, completion_tokens=4, latency_ms=5.0))
    assert replaced.attempts == [of(T0, cost_usd=2.0, tokens=7, latency_ms=5.0, error_kind="skill")]


@each_row(
    ("then", "now", "called"),
    [
        pytest.param({"tool_calls": [ToolCall(name="pay")]}, {}, ["pay"], id="known"),
        pytest.param({}, {}, None, id="unknown"),
        pytest.param({"tool_calls": [], "forbidden_unknown": True}, {}, None, id="open"),
        pytest.param(
            {"tool_calls": [ToolCall(name="ls")], "attempts": [of(T0), of(T1)], "earlier_calls": ["cd"]},
            {"attempts": [of(T1), of(T2)], "earlier_calls": ["rm"]},
            ["cd", "ls", "rm"],
            id="several",
        ),
        pytest.param({"tool_calls": [], "attempts": [of(T0), of(T1)], "earlier_calls": None}, {}, None, id="unknown-before"),
    ],
)
def test_which_tools_were_called_before(then: dict[str, Any], now: dict[str, Any], called: list[str] | None) -> None:
    new = result(T2, status="pass", passed=True, **{"attempts": [of(T2)], **now})
    assert Replaced.of(result(T1, **then)).added_to(new).earlier_calls == called


def test_attempts_that_the_new_one_lists_already_are_there_once() -> None:
    replaced = Replaced.of(result(T0, attempts=[of(T0)], cost_usd=2.0, forbidden_unknown=True))
    new = result(T1, status="pass", passed=True, attempts=[of(T0), of(T1, cost_usd=1.0)])
    assert [(each.started_at, each.cost_usd) for each in replaced.added_to(new).attempts] == [(T0, 2.0), (T1, 1.0)]


NO_JUDGE = {"error_kind": "judge", "status": "error", "passed": False}
PERHAPS_PAID = Reason(code="JUDGE_TIMEOUT", message="no answer in time")
JUDGED = {"judge_requests": 1, "judge_tokens": 10, "judge_cost_usd": 0.5}


@each_row(
    ("then", "now", "paid"),
    [
        pytest.param({}, JUDGED, (1, 10, 0.5), id="not-judged-then"),
        pytest.param(JUDGED, JUDGED, (2, 20, 1.0), id="both"),
        pytest.param(JUDGED, {}, (1, 10, 0.5), id="not-judged-now"),
        pytest.param(NO_JUDGE, JUDGED, (1, 10, 0.5), id="unreachable-then"),
        pytest.param({**NO_JUDGE, "reasons": [PERHAPS_PAID]}, JUDGED, (1, None, None), id="perhaps-paid-then"),
    ],
)
def test_judges_are_paid_for_both_verdicts(then: dict[str, Any], now: dict[str, Any], paid: tuple[Any, ...]) -> None:
    whole = Replaced.of(result(T0, **then)).added_to(result(T1, status="pass", passed=True, **now))
    assert (whole.judge_requests, whole.judge_tokens, whole.judge_cost_usd) == paid
