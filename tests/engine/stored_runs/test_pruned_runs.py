"""A finished run whose items were deleted: its report is read, and nothing is asked again in its name."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.store import prune_items
from eval_skills.core.store.retention import pruned_words
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.stored_runs.reports import read_source

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan


@pytest.fixture
def pruned(make_plan_of: MakePlan) -> RunPlan:
    """A run that has landed, whose items are deleted then."""
    plan = make_plan_of("ok", "wrong", timeout_ms=120_000)
    evaluate_in_process(plan)
    assert pruned_words(plan.store, plan.run_id) is None
    prune_items(plan.store, before=datetime.now(UTC) + timedelta(days=1), keep=())
    return plan


@pytest.mark.slow
def test_its_report_is_read_as_it_landed(pruned: RunPlan) -> None:
    source = read_source(pruned.run_id, pruned.store.path)
    (report,) = source.reports
    assert (report.skill_key, report.summary.completion_rate, report.task_results) == ("moody@1.0.0", 0.5, [])
    assert source.remarks == [
        f"run {pruned.run_id} finished, and its items were deleted on {datetime.now(UTC):%Y-%m-%d} (--keep-days); "
        "its report remains: figures only, and no tasks to compare"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("again", [False, True])
def test_it_is_never_resumed_into(pruned: RunPlan, again: bool) -> None:
    with pytest.raises(UsageError, match=r"its items were deleted on .* start a new run without --resume"):
        resumed_plan(EvaluateRequest(store=pruned.store.path, resume=pruned.run_id, retry_errors=again))
    assert read_source(pruned.run_id, pruned.store.path).reports[0].summary.completion_rate == 0.5


@pytest.mark.slow
def test_without_its_folder_it_is_known_all_the_same(pruned: RunPlan) -> None:
    shutil.rmtree(pruned.store.run_folder(pruned.run_id))
    assert pruned_words(pruned.store, pruned.run_id) == (
        f"run {pruned.run_id} finished, and its items were deleted (--keep-days); its report remains"
    )
