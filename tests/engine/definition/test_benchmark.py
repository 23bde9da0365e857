"""What is allowed and probably not meant is said; a damaged run is named instead of another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.engine.definition.benchmark import benchmark_notes, benchmark_warnings, resolve_benchmark, with_every_task
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.resume import resumed_plan


def plan_remarks(folder: Path, benchmark: dict[str, Any]) -> list[str]:
    skill = {"id": "s", "name": "s", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "python3 x.py"}
    (folder / "skill.json").write_text(json.dumps(skill))
    task = {"id": "t", "evaluator": "exact", "expectedOutput": {"value": 1}}
    whole = {"id": "b", "name": "B", "version": "1.0.0", "tasks": [task | benchmark.pop("task", {})], **benchmark}
    (folder / "b.json").write_text(json.dumps(whole))
    request = EvaluateRequest(skills=[str(folder)], benchmark=str(folder / "b.json"), store=str(folder / "store"))
    return make_plan(request).remarks


def test_a_minimum_score_on_the_wrong_scale_is_doubted(tmp_path: Path) -> None:
    [remark] = plan_remarks(tmp_path, {"task": {"thresholds": {"minScore": 0.9}}})
    assert "thresholds.minScore is in points of 100" in remark


def test_p40_a_minimum_score_that_any_answer_reaches_is_doubted(tmp_path: Path) -> None:
    [remark] = plan_remarks(tmp_path, {"task": {"thresholds": {"minScore": 0}}})
    assert remark == "task 't' asks for a minScore of 0, which any answer reaches; give more, or leave it out"


def test_a_log_of_inspect_has_no_tasks_for_a_skill(tmp_path: Path) -> None:
    sample = {"id": "a", "epoch": 1, "input": "q", "target": "t", "scores": {"match": {"value": "C"}}}
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample]}))
    with pytest.raises(UsageError, match=r"log of Inspect: .* no skill can answer them; .* --traces DIR/runs\.jsonl"):
        resolve_benchmark(EvaluateRequest(skills=["s"], tasks=str(log)))
    benchmark, _ = resolve_benchmark(EvaluateRequest(traces="runs.jsonl", tasks=str(log)))
    assert [task.id for task in benchmark.tasks] == ["a"]


def test_a_k_that_the_runs_cannot_reach_is_doubted(tmp_path: Path) -> None:
    [remark] = plan_remarks(tmp_path, {"k": 3})
    assert "pass@3 and pass^3 stay unknown with 1 run of each task" in remark


def test_entries_of_a_foreign_file_that_are_no_tasks_are_named_by_the_run_and_its_reports(tmp_path: Path) -> None:
    (tmp_path / "tests.csv").write_text("q,__expected\na,x\nb,python: True\nc,is-sql\nd,python: False\n")
    request = EvaluateRequest(tasks=str(tmp_path / "tests.csv"))
    benchmark, _ = resolve_benchmark(request)
    said = (
        "tests: entries that could not be read as tasks are left out: 2 because its assertion python is code; "
        "1 because its assertion is-sql has no equivalent here"
    )
    assert said in benchmark_warnings(benchmark, request)
    assert said in benchmark_notes(benchmark)
    (tmp_path / "tests.csv").write_text("q,__expected\na,x\n")
    assert benchmark_notes(resolve_benchmark(request)[0]) == []


def test_an_ordinary_benchmark_raises_no_doubt(tmp_path: Path) -> None:
    assert plan_remarks(tmp_path, {"task": {"thresholds": {"minScore": 90}}}) == []


def test_p40_a_damaged_manifest_is_named_and_no_other_run_is_taken_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "store" / "runs" / "20261121T233824Z-3f9a"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{")
    with pytest.raises(InputError, match=r"20261121T233824Z-3f9a.*not valid JSON"):
        resumed_plan(EvaluateRequest(resume="latest", store=str(tmp_path / "store")))


def test_the_columns_of_a_table_are_those_of_that_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("question,answer\n2+2?,4\n")
    asked = EvaluateRequest(skills=["s"], tasks=str(tmp_path / "a.csv"), map=["input.q=question", "expected=answer"])
    same, folder = resolve_benchmark(with_every_task(asked, tasks="a.csv"))
    assert ([task.input_data for task in same.tasks], folder) == ([{"q": "2+2?"}], tmp_path)
    with pytest.raises(InputError, match="'question' is not a key of a task"):
        resolve_benchmark(with_every_task(asked, tasks="b.csv"))
    assert with_every_task(asked, benchmark="coding-easy").map == []


def test_the_first_tasks_are_those_that_the_other_choices_leave() -> None:
    asked = EvaluateRequest(skills=["s"], benchmark="coding-easy", filter=["inputData.operation=reverse"])
    every = [task.id for task in resolve_benchmark(asked)[0].tasks]
    first = [task.id for task in resolve_benchmark(asked.model_copy(update={"first": 2}))[0].tasks]
    assert len(every) > 2
    assert first == every[:2]
    assert with_every_task(asked.model_copy(update={"first": 2})) == with_every_task(asked)
