"""When a run's gate has passed: every skill was evaluated whole, and every one completed enough."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from eval_skills.cli.running import Ran
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, SkillCompletionReport, TaskResult
from eval_skills.core.store import write_manifest
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.evaluation.summary import RunSummary, context_of, gate_lines, summary_of
from tests.tables import each_row

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan

BENCHMARK = Benchmark.model_validate(
    {
        "id": "b",
        "name": "B",
        "version": "1.0.0",
        "tasks": [{"id": t, "evaluator": "exact", "expectedOutput": {"value": 1}} for t in "xy"],
    }
)


def summary(**changes: Any) -> RunSummary:
    items = pd.DataFrame({"skill_id": "s", "skill_version": "1.0.0", "task_id": ["x", "y"], "run_index": 0,
                          "status": ["pass", "fail"], "score": [1.0, 0.0], "latency_ms": 1.0})  # fmt: skip
    usual = {"run_id": "20261121T233824Z-3f9a", "line": "", "skills": [], "benchmark": BENCHMARK,
             "reports": skill_reports(items, BENCHMARK, 1000),
             "planned": 2, "finished": 2, "min_completion": 0.5, "store": "store"}  # fmt: skip
    return RunSummary(**{**usual, **changes})


def completing(**figure: float) -> list[SkillCompletionReport]:
    """A skill that completes everything, with this figure of forbidden tools."""
    [report] = summary().reports
    figures = report.summary.model_copy(update={"completion_rate": 1.0, **figure})
    return [report.model_copy(update={"summary": figures})]


@each_row(
    ("changes", "passed"),
    [
        pytest.param({}, True, id="equality-is-enough"),
        pytest.param({"min_completion": 0.51}, False, id="below"),
        pytest.param({"reports": []}, False, id="p40-nothing-was-evaluated"),
        pytest.param({"finished": 1}, False, id="p40-items-are-missing"),
        pytest.param({"skipped": 1}, False, id="p40-a-skill-was-skipped"),
        pytest.param({"reports": completing(forbidden_items=1)}, False, id="a-forbidden-tool-was-called"),
        pytest.param({"reports": completing(forbidden_unknown_items=1)}, False, id="what-was-called-is-unknown"),
        pytest.param({"reports": completing(missing_items=1, judged_completion_rate=1.0)}, True, id="one-without-a-verdict"),
        pytest.param({"reports": completing(missing_items=2), "min_completion": 0.0}, False, id="none-with-a-verdict"),
    ],
)
def test_the_gate(changes: dict[str, Any], passed: bool) -> None:
    assert summary(**changes).gate_passed is passed


def test_a_gate_says_that_nothing_is_known_of_a_skill() -> None:
    nothing = summary(reports=completing(missing_items=2), min_completion=0.0)
    assert gate_lines(nothing) == ["gate failed: s@1.0.0 has no item with a verdict"]


def test_reports_show_a_gate_only_where_one_was_asked_for(tmp_path: Path) -> None:
    assert context_of(summary(store=str(tmp_path))).min_completion is None
    assert context_of(summary(store=str(tmp_path), gated=True)).min_completion == 0.5


def test_reports_show_which_skills_could_not_be_used(make_plan_of: MakePlan) -> None:
    plan = make_plan_of("ok")
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan).model_copy(update={"skipped": ["skipped s: bad"]}))
    assert context_of(summary(store=plan.store.path, run_id=plan.run_id)).skipped == ("skipped s: bad",)


def test_a_gate_that_was_just_missed_says_by_how_little() -> None:
    (report,) = completing()
    missed = report.model_copy(update={"summary": report.summary.model_copy(update={"completion_rate": 0.84999})})
    assert gate_lines(summary(reports=[missed], min_completion=0.85)) == ["gate failed: s@1.0.0 completes 84.999 %, under 85.0 %"]


def test_an_evaluator_of_a_program_that_asks_a_judge_in_vain_is_said_and_passes_no_gate(make_plan_of: MakePlan) -> None:
    plan = make_plan_of("a")
    failed = TaskResult.model_validate(
        {"taskId": "a", "runIndex": 0, "passed": False, "status": "error", "errorKind": "judge", "errorMessage": "no answer"}
    )
    [report] = summary().reports
    report = report.model_copy(update={"task_results": [failed]})
    found = summary_of(plan, [report], 1, 1.0)
    assert (found.unjudged, found.gate_passed) == (1, False)
    assert found.judging == ["judge: 1 of 1 item could not be judged: no answer"]


def test_a_simulated_user_that_failed_passes_no_gate(make_plan_of: MakePlan) -> None:
    failed = {
        "taskId": "a",
        "runIndex": 0,
        "passed": False,
        "status": "error",
        "errorKind": "simulator",
        "errorMessage": "rubbish",
    }
    [report] = summary().reports
    report = report.model_copy(update={"task_results": [TaskResult.model_validate(failed)]})
    found = replace(summary_of(make_plan_of("a"), [report], 1, 1.0), min_completion=0.0)
    assert (found.unsimulated, found.gate_passed) == (1, False)
    assert gate_lines(found) == ["gate failed: the simulated user failed in 1 item"]
    assert [Ran(found).exit_code(gate=gate) for gate in (True, False)] == [3, 3]
