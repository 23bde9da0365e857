"""A file that a task's evaluator names is a part of what is expected: whoever compares notices that it changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.fingerprint import digest_of_folder, digest_of_json
from eval_skills.core.models import Benchmark, EvalTask, ItemResult
from eval_skills.core.store import Journal, Store, land, write_manifest
from eval_skills.engine.calibration.calibrate import calibrate_judge
from eval_skills.engine.calibration.request import CalibrateRequest
from eval_skills.engine.comparison.pairs import plan_comparison
from eval_skills.engine.comparison.request import CompareRequest
from eval_skills.engine.definition.benchmark import benchmark_digests, task_digest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.resume import resumed_plan
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.rescoring.plan import plan_rescoring
from eval_skills.engine.rescoring.request import RescoreRequest
from eval_skills.engine.stored_runs.reports import read_source
from eval_skills.scorers.rubric.definition import rubric_of

LLM = {"llm": {"model": "openai/scripted", "apiBase": "http://127.0.0.1:9/v1"}}
Rubric = Callable[..., Path]
Landed = Callable[..., str]


@pytest.fixture
def rubric(tmp_path: Path) -> Rubric:
    """Writes the rubric of the tasks, beside them; `right` is what its better level is worth."""

    def write(right: float = 1.0, name: str = "rubric.json") -> Path:
        levels = {"right": right, "wrong": 0}
        path = tmp_path / name
        path.write_text(json.dumps({"dimensions": {"facts": {"weight": 1, "description": "Right?", "levels": levels}}}))
        return path

    return write


@pytest.fixture(autouse=True)
def tasks_file(tmp_path: Path, rubric: Rubric) -> Path:
    rubric()
    path = tmp_path / "tasks.json"
    judged = {"type": "rubric", "rubric": "rubric.json"}
    tasks: list[dict[str, Any]] = [{"id": "a", "inputData": {}, "evaluator": judged}]
    tasks.append({"id": "b", "inputData": {}, "expectedOutput": {"value": "right"}})
    path.write_text(json.dumps(tasks))
    return path


def benchmark(*rubrics: Any) -> Benchmark:
    tasks = [{"id": f"t{n}", "evaluator": {"type": "rubric", "rubric": each}} for n, each in enumerate(rubrics)]
    return Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": tasks})


def test_a_task_without_files_has_the_digest_of_its_json(tmp_path: Path) -> None:
    inline = benchmark({"dimensions": {}}, None, "not-there.json", "../outside.json")
    (tmp_path.parent / "outside.json").write_text("{}")
    for task in inline.tasks[:3]:
        assert task_digest(task, tmp_path) == digest_of_json(task.to_json())
    assert benchmark_digests(benchmark(None), tmp_path)["benchmark"] == digest_of_json(benchmark(None).to_json())


def test_the_content_of_the_file_counts_and_nothing_else_of_the_folder(tmp_path: Path, rubric: Rubric) -> None:
    asked = benchmark("rubric.json", "other.json")
    rubric(name="other.json")
    before = benchmark_digests(asked, tmp_path)
    (tmp_path / "notes.md").write_text("unrelated")
    rubric()
    assert benchmark_digests(asked, tmp_path) == before
    rubric(0.5)
    after = benchmark_digests(asked, tmp_path)
    assert {name for name in before if before[name] != after[name]} == {"benchmark", "task/t0"}


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("Be kind and right. " * 20, id="p08-long"),
        pytest.param("a\0b.json", id="null"),
        pytest.param("circle.json", id="links-in-a-circle"),
        pytest.param("../outside.json", id="outside"),
        pytest.param(".", id="folder"),
    ],
)
def test_p40_a_name_under_which_no_rubric_can_be_is_no_file_and_refused_by_the_scorer(written: str, tmp_path: Path) -> None:
    folder = tmp_path / "benchmark"
    folder.mkdir()
    (tmp_path / "outside.json").write_text("{}")
    (folder / "circle.json").symlink_to("circle.json")
    [task] = benchmark(written).tasks
    assert task_digest(task, folder) == digest_of_json(task.to_json())
    with pytest.raises(InputError) as caught:
        rubric_of(written, folder)
    assert caught.value.path == "rubric"


def test_what_another_scorer_calls_a_rubric_is_no_file(tmp_path: Path) -> None:
    task = EvalTask.model_validate({"id": "t", "evaluator": {"type": "prose_judge", "rubric": "rubric.json"}})
    assert task_digest(task, tmp_path) == digest_of_json(task.to_json())


def test_the_file_behind_a_link_counts(tmp_path: Path, rubric: Rubric) -> None:
    (tmp_path / "link.json").symlink_to("rubric.json")
    [task] = benchmark("link.json").tasks
    before = task_digest(task, tmp_path)
    rubric(0.5)
    assert task_digest(task, tmp_path) not in (before, digest_of_json(task.to_json()))


def test_a_run_cannot_be_resumed_with_another_rubric(
    make_request: Callable[..., EvaluateRequest], tasks_file: Path, rubric: Rubric, store: Store
) -> None:
    request = EvaluateRequest.model_validate(make_request(tasks=str(tasks_file)).to_json() | LLM)
    plan = make_plan(request)
    write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
    assert resumed_plan(EvaluateRequest(store=store.path, resume=plan.run_id)).run_id == plan.run_id
    rubric(0.5)
    with pytest.raises(UsageError, match=r"benchmark 'tasks' changed since run .* began; start a new run"):
        resumed_plan(EvaluateRequest(store=store.path, resume=plan.run_id))


class TestAStoredRun:
    @pytest.fixture
    def landed(self, make_request: Callable[..., EvaluateRequest], tasks_file: Path) -> Landed:
        """Lands a run of both tasks that the judge of `LLM` judged; `blind` as versions did that did not look into the files."""

        def land_run(*, blind: bool = False) -> str:
            request = EvaluateRequest.model_validate(make_request(tasks=str(tasks_file)).to_json() | LLM)
            plan = make_plan(request)
            if blind:
                plan = replace(plan, digests=plan.digests | benchmark_digests(plan.benchmark, None))
            write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
            [skill] = plan.skills.values()
            with Journal(plan.store.journal_path(plan.run_id)) as journal:
                for number, item in enumerate(plan.items):
                    own: dict[str, Any] = {
                        "run_id": plan.run_id, "started_at": plan.began, "skill_id": skill.id, "skill_version": skill.version,
                        "benchmark_id": plan.benchmark.id, "benchmark_version": plan.benchmark.version,
                        "benchmark_digest": plan.digests["benchmark"], "task_digest": plan.digests[f"task/{item.task}"],
                    }  # fmt: skip
                    said: dict[str, Any] = {"status": "pass", "passed": True, "score": 1.0, "output": f"answer {number}"}
                    journal.append(ItemResult(task_id=item.task, run_index=item.run, **own, **said))
            land(plan.store, plan.run_id)
            return plan.run_id

        return land_run

    def test_scoring_it_again_is_another_scoring(self, landed: Landed, rubric: Rubric, store: Store) -> None:
        asked = RescoreRequest.model_validate({"runId": landed(), "store": store.path})
        before = plan_rescoring(asked)
        assert before.remarks == []
        rubric(0.5)
        after = plan_rescoring(asked)
        assert after.digest != before.digest
        assert any("1 task changed since run" in remark and "'a'" in remark for remark in after.remarks)

    def test_its_answers_to_that_task_are_not_compared(self, landed: Landed, rubric: Rubric, store: Store) -> None:
        first = landed()
        rubric(0.5)
        asked = {"runA": first, "runB": landed(), "store": store.path, **LLM}
        plan = plan_comparison(CompareRequest.model_validate(asked))
        assert [str(pair) for pair in plan.pairs] == ["b#1"]
        assert any("the task was changed since one of the runs: 'a'" in remark for remark in plan.remarks)

    def test_its_verdicts_calibrate_no_judge_by_the_new_rubric(
        self, landed: Landed, rubric: Rubric, store: Store, tmp_path: Path
    ) -> None:
        labels = tmp_path / "labels.csv"
        labels.write_text("task_id,label\na,pass\n")
        asked = CalibrateRequest(labels=str(labels), run_id=landed(), store=store.path)
        assert calibrate_judge(asked).calibrations
        rubric(0.5)
        with pytest.raises(InputError, match="no label is about an item with a model's verdict: its task was changed since"):
            calibrate_judge(asked)

    @pytest.mark.slow
    def test_one_of_a_version_that_did_not_look_into_the_files_is_read_as_unchanged(
        self, landed: Landed, store: Store, tmp_path: Path
    ) -> None:
        before, today = landed(blind=True), landed()
        assert not [remark for remark in read_source(before, str(store.path)).remarks if "changed" in remark]
        assert plan_rescoring(RescoreRequest(run_id=before, store=store.path)).remarks == []
        compared = plan_comparison(CompareRequest.model_validate({"runA": before, "runB": today, "store": store.path, **LLM}))
        assert [str(pair) for pair in compared.pairs] == ["a#1", "b#1"]
        labels = tmp_path / "labels.csv"
        labels.write_text("task_id,label\na,pass\n")
        assert calibrate_judge(CalibrateRequest(labels=str(labels), run_id=before, store=store.path)).calibrations
        assert resumed_plan(EvaluateRequest(store=store.path, resume=before)).items == []

    def test_one_of_such_a_version_has_changed_where_its_tasks_have(self, landed: Landed, tasks_file: Path, store: Store) -> None:
        before = landed(blind=True)
        tasks = json.loads(tasks_file.read_text())
        tasks_file.write_text(json.dumps([tasks[0] | {"description": "another one"}, tasks[1]]))
        assert any(
            "1 task changed" in remark for remark in plan_rescoring(RescoreRequest(run_id=before, store=store.path)).remarks
        )
        assert any("changed since the run started" in remark for remark in read_source(before, str(store.path)).remarks)
        with pytest.raises(UsageError, match="changed since run"):
            resumed_plan(EvaluateRequest(store=store.path, resume=before))


def test_the_digest_of_a_benchmark_with_files_is_that_of_its_json_beside_theirs(tmp_path: Path, rubric: Rubric) -> None:
    rubric()
    asked = benchmark("rubric.json", "rubric.json")
    files = {task.id: {"rubric": digest_of_folder(tmp_path / "rubric.json")} for task in asked.tasks}
    found = benchmark_digests(asked, tmp_path)
    assert found["benchmark"] == digest_of_json({"benchmark": asked.to_json(), "files": files})
    assert found["task/t1"] == digest_of_json({"task": asked.tasks[1].to_json(), "files": files["t1"]})


def test_a_benchmark_without_tasks_has_a_digest() -> None:
    empty = benchmark()
    assert benchmark_digests(empty, None) == {"benchmark": digest_of_json(empty.to_json())}


def test_the_files_of_several_evaluators_count(tmp_path: Path, rubric: Rubric) -> None:
    inner = {"evaluators": [{"type": "rubric", "rubric": "other.json"}]}
    task = EvalTask.model_validate({"id": "t", "evaluators": [{"type": "rubric", "rubric": "rubric.json"}, inner]})
    rubric(name="other.json")
    before = task_digest(task, tmp_path)
    rubric(0.5, name="other.json")
    assert task_digest(task, tmp_path) != before
    assert before != digest_of_json(task.to_json())
