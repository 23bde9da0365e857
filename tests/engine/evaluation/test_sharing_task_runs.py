"""Which items share a Prefect task run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from eval_skills.core.store import new_run_id
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.rounds import batch_words, batches_of
from eval_skills.engine.evaluation.session import manifest_of

if TYPE_CHECKING:
    from tests.engine.evaluations import LandedRun, MakePlan


@pytest.fixture
def plan_of(make_plan_of: MakePlan) -> Callable[..., RunPlan]:
    """A plan of so many tasks and runs, in the order in which a run asks them."""

    plan = make_plan_of("ok", timeout_ms=120_000)

    def make(tasks: int, runs: int = 1) -> RunPlan:
        items = [Item("moody@1.0.0", f"t{task}", run) for run in range(runs) for task in range(tasks)]
        return replace(plan, items=items)

    return make


def sizes(plan: RunPlan) -> list[int]:
    return [len(batch.items) for batch in batches_of(plan)]


def test_up_to_a_thousand_items_each_has_its_own(plan_of: Callable[..., RunPlan]) -> None:
    assert sizes(plan_of(1000)) == [1] * 1000
    assert batch_words(plan_of(1000)) == ""


def test_more_share_about_a_thousand_and_none_is_lost(plan_of: Callable[..., RunPlan]) -> None:
    plan = plan_of(7001)
    assert (len(batches_of(plan)), max(sizes(plan))) == (876, 8)
    assert [item for batch in batches_of(plan) for item in batch.items] == plan.items
    assert batch_words(plan) == " in 876 task runs of up to 8"


def test_the_runs_of_a_task_stay_together(plan_of: Callable[..., RunPlan]) -> None:
    plan = plan_of(600, runs=4)
    batches = batches_of(plan)
    assert all(len({item.task for item in batch.items}) == 1 for batch in batches)
    assert {item for batch in batches for item in batch.items} == set(plan.items)


@pytest.mark.slow
def test_no_batch_is_larger_than_two_hundred(plan_of: Callable[..., RunPlan]) -> None:
    assert max(sizes(plan_of(1000, runs=300))) == 200


@pytest.mark.slow
def test_no_batch_is_expected_to_take_more_than_a_minute(plan_of: Callable[..., RunPlan], landed_run: LandedRun) -> None:
    assert max(sizes(plan_of(50_000))) == 50  # nothing is known yet
    landed_run({"ok": "right"}, latency_ms=9_000.0)
    plan = replace(plan_of(50_000), run_id=new_run_id())
    plan.write_manifest(manifest_of(plan))  # by now the plan's own run is the youngest, and says nothing yet
    assert max(sizes(plan)) == 6
