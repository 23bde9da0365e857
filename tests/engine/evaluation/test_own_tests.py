"""Every skill is asked its own tests, in one run with one report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.store import results_of, write_manifest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.rescoring.plan import plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.engine.rescoring.rescore import rescore
from eval_skills.engine.stored_runs.reports import read_source

if TYPE_CHECKING:
    from tests.engine.evaluations import MakeRequest

WriteSkill = Callable[..., Path]


def task(name: str, answer: str = "ok", **fields: object) -> dict[str, object]:
    return {"id": name, "inputData": {"what": answer}, "expectedOutput": {"value": "ok"}, **fields}


@pytest.fixture
def request_own(make_request: MakeRequest, write_skill: WriteSkill, tmp_path: Path) -> EvaluateRequest:
    """Two skills with tests, of which one fails one task, and one without."""
    for name, tasks in {"a": [task("x"), task("y")], "b": [task("x", "wrong")], "c": []}.items():
        (tests := write_skill(name) / "tests").mkdir()
        if tasks:
            (tests / "basic.eval.json").write_text(json.dumps(tasks))
    return make_request("x", skills=[str(tmp_path / "skills")]).model_copy(update={"own_tests": True, "tasks": None})


def test_the_items_are_those_of_each_skill_and_skills_without_tests_are_named(request_own: EvaluateRequest) -> None:
    plan = make_plan(request_own)
    assert [str(item) for item in plan.items] == ["a@1.0.0/a/x#1", "b@1.0.0/b/x#1", "a@1.0.0/a/y#1"]
    assert "1 skill has no tests/*.eval.json and is left out: c@1.0.0" in plan.remarks
    assert plan.skipped == 0


def test_the_first_tasks_are_those_of_each_skill(request_own: EvaluateRequest) -> None:
    plan = make_plan(request_own.model_copy(update={"first": 1}))
    assert [str(item) for item in plan.items] == ["a@1.0.0/a/x#1", "b@1.0.0/b/x#1"]


@pytest.mark.slow
def test_the_reports_are_of_each_skill_s_own_tasks_without_ranks_and_read_back(request_own: EvaluateRequest) -> None:
    summary = evaluate_in_process(make_plan(request_own))
    assert {report.skill_id: report.summary.completion_rate for report in summary.reports} == {"a": 1.0, "b": 0.0}
    assert {report.benchmark_id for report in summary.reports} == {"own-tests"}
    assert not any(report.ranking for report in summary.reports)
    assert "2 skills × 1 to 2 tasks × 1 run" in summary.line
    again = read_source("latest", request_own.store)
    assert again.remarks == []
    assert [report.summary for report in again.reports] == [report.summary for report in summary.reports]


@pytest.mark.slow
def test_the_rows_know_the_tests_of_their_own_skill(request_own: EvaluateRequest, tmp_path: Path) -> None:
    before = make_plan(request_own).digests
    (tmp_path / "skills/b/tests/basic.eval.json").write_text(json.dumps([task("x"), task("z")]))
    after = make_plan(request_own).digests
    assert before["benchmark/a@1.0.0"] == after["benchmark/a@1.0.0"]
    assert before["benchmark/b@1.0.0"] != after["benchmark/b@1.0.0"]
    evaluate_in_process(make_plan(request_own))
    rows = read_source("latest", request_own.store).reports
    assert [row.summary.tasks for row in rows] == [2, 2]


@pytest.mark.slow
def test_answers_that_are_scored_again_keep_the_tests_of_their_own_skill(request_own: EvaluateRequest) -> None:
    plan = plan_rescoring(RescoreRequest(run_id=evaluate_in_process(make_plan(request_own)).run_id, store=request_own.store))
    rescore(plan)
    asked, scored = (
        {result.key: result.benchmark_digest for result in results_of(plan.store.item_table(run_id))}
        for run_id in (plan.of, plan.run_id)
    )
    assert scored == asked
    assert len({*scored.values()}) == 2


def test_a_run_of_own_tests_is_resumed_with_the_same_tests(request_own: EvaluateRequest, tmp_path: Path) -> None:
    plan = make_plan(request_own)
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan), secrets={})
    rest = resumed_plan(EvaluateRequest(resume=plan.run_id, store=request_own.store))
    assert rest.items == plan.items
    (tmp_path / "skills/b/tests/basic.eval.json").write_text(json.dumps([task("z")]))
    with pytest.raises(UsageError, match="benchmark 'own-tests' changed"):
        resumed_plan(EvaluateRequest(resume=plan.run_id, store=request_own.store))


def test_a_chosen_tag_leaves_out_skills_without_such_tests(request_own: EvaluateRequest, tmp_path: Path) -> None:
    (tmp_path / "skills/b/tests/basic.eval.json").write_text(json.dumps([task("x", tags=["smoke"])]))
    plan = make_plan(request_own.model_copy(update={"task_tags": ["smoke"]}))
    assert [str(item) for item in plan.items] == ["b@1.0.0/b/x#1"]
    assert "1 skill has no test that was chosen and is left out: a@1.0.0" in plan.remarks
    with pytest.raises(InputError, match="no task of own-tests has the tag nope"):
        make_plan(request_own.model_copy(update={"task_tags": ["nope"]}))


@pytest.mark.slow
def test_a_scorer_s_file_lies_beside_the_tests_of_its_skill(request_own: EvaluateRequest, tmp_path: Path) -> None:
    for name, worth in {"a": 1.0, "b": 0.0}.items():
        tests = tmp_path / f"skills/{name}/tests"
        (tests / "half.py").write_text(f"def score(*_):\n    return {worth}\n")
        custom = {"id": "x", "inputData": {"what": "ok"}, "expectedOutput": {"type": "custom", "customScorerPath": "half.py"}}
        (tests / "basic.eval.json").write_text(json.dumps([custom]))
    plan = make_plan(request_own.model_copy(update={"allow_custom_code": True}))
    first = manifest_of(plan).scorers
    assert [report.summary.completion_rate for report in evaluate_in_process(plan).reports] == [1.0, 0.0]
    (tmp_path / "skills/b/tests/half.py").write_text("def score(*_):\n    return 1.0\n")
    assert manifest_of(make_plan(request_own.model_copy(update={"allow_custom_code": True}))).scorers != first
