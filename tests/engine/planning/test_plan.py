"""The choices: what they cost, which of them a budget buys, and what is said of what nobody knows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.statistics.planning import Counts
from eval_skills.core.store import Store, prune_items
from eval_skills.engine.planning.plan import Budget, StoredSample, make_plan, read_sample
from tests.cli.conftest import leave_run
from tests.tables import each_row

SAMPLE = StoredSample("r", [Counts(np.array([3, 3, 2, 0] * 5), np.full(20, 3))], latency_s=2.0, cost_usd=0.01, tokens=None)


@each_row(
    ("text", "amount", "unit"), [("20usd", 20, "usd"), ("2h", 7200, "s"), ("90 min", 5400, "s"), ("10000tokens", 10000, "tokens")]
)
def test_a_budget_is_an_amount_of_one_thing(text: str, amount: float, unit: str) -> None:
    assert Budget.parse(text) == Budget(amount, unit)  # type: ignore[arg-type]


@each_row("text", ["", "20", "0usd", "-1usd", "2 days", "usd"])
def test_p40_another_budget_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a budget is an amount above 0"):
        Budget.parse(text)


@pytest.mark.slow
def test_cost_and_time_are_those_of_one_evaluation_of_all_skills() -> None:
    plan = make_plan(effect=0.2, target=0.8, skills=2, sample=SAMPLE, tasks=50, concurrency=4)
    row = plan.rows[1]
    assert (row.tasks, row.runs, row.items) == (50, 3, 300)
    assert row.cost_usd == pytest.approx(3.0)
    assert row.seconds == pytest.approx(150.0)
    assert row.tokens is None
    assert plan.assumed == []


@pytest.mark.slow
def test_the_cheapest_and_the_best_choice_lie_within_the_budget() -> None:
    plan = make_plan(effect=0.2, target=0.8, skills=1, sample=SAMPLE, tasks=50, budget="3usd")
    assert [row.within_budget for row in plan.rows] == [row.items <= 300 for row in plan.rows]
    assert plan.cheapest is not None
    assert plan.best is not None
    assert plan.rows[plan.cheapest].power >= 0.8
    assert all(row.items >= plan.rows[plan.cheapest].items for row in plan.rows if row.power >= 0.8)
    assert plan.rows[plan.best].items <= 300


@pytest.mark.slow
def test_what_nobody_said_is_assumed_and_named() -> None:
    plan = make_plan(effect=0.1, target=0.8, skills=1, sample=None, tasks=20)
    assert plan.assumed == ["flakiness 0.1", "base rate 0.8"]
    assert plan.rows[0].cost_usd is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "says"),
    [
        pytest.param({"effect": 0.0}, "--effect must lie between 0 and 1", id="effect"),
        pytest.param({"effect": 0.9}, "--effect is what is lost of the completion rate, 0.8", id="effect-above-the-rate"),
        pytest.param({"target": 1.0}, "--power must lie between 0 and 1", id="power"),
        pytest.param({"flakiness": 0.6}, "must lie from 0 to 0.5", id="flakiness"),
        pytest.param({"skills": 0}, "--skills must be at least 1", id="skills"),
        pytest.param({"tasks": 0}, "--tasks must be at least 1", id="tasks"),
        pytest.param({"tasks": 4, "budget": "5usd"}, "what one item uses is not known", id="budget-of-nothing"),
    ],
)
def test_p40_nonsense_is_refused(options: dict[str, float], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        make_plan(**({"effect": 0.1, "target": 0.8, "skills": 1, "sample": None} | options))  # type: ignore[arg-type]


def test_a_run_whose_items_were_deleted_is_named_as_one(tmp_path: Path) -> None:
    leave_run(tmp_path, run_id := "20260101T100000Z-0001")
    store = Store(tmp_path)
    prune_items(store, before=datetime(2026, 2, 1, tzinfo=UTC), keep=())
    with pytest.raises(UsageError, match=r"its items were deleted on .*; plan from another run"):
        read_sample(store, run_id)


def test_what_a_skill_did_not_say_is_not_nothing_because_judging_is_known(tmp_path: Path) -> None:
    judged = {"judge_cost_usd": 0.001, "judge_tokens": 10, "judge_requests": 1}
    known = {"cost_usd": 0.01, "prompt_tokens": 90, "completion_tokens": 10}
    leave_run(tmp_path, run_id := "20260101T100000Z-0001", judged=[judged | known, judged | known, judged, judged])
    sample = read_sample(Store(tmp_path), run_id)
    assert [sample.cost_usd, sample.tokens] == pytest.approx([0.011, 110])


def test_an_item_that_no_model_judged_takes_nothing_for_judging(tmp_path: Path) -> None:
    judged = {"judge_cost_usd": 0.002, "judge_tokens": 20, "judge_requests": 1}
    leave_run(tmp_path, run_id := "20260101T100000Z-0001", judged=[{"cost_usd": 0.01}, {"cost_usd": 0.01} | judged, judged, {}])
    sample = read_sample(Store(tmp_path), run_id)
    assert [sample.cost_usd, sample.tokens] == pytest.approx([0.011, 10])
