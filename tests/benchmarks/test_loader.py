"""Reading benchmarks: everything that would break a run is refused here, with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks import filter_tasks, is_read_as_tasks, load_benchmark, load_tasks
from eval_skills.core.errors import InputError, UserError
from eval_skills.core.models import Benchmark
from tests.tables import each_row

ADDITION: dict[str, Any] = {
    "id": "addition",
    "inputData": {"expression": "2+3"},
    "expectedOutput": {"type": "exact", "value": "5"},
    "tags": ["math", "simple"],
}
SEARCH: dict[str, Any] = {
    "id": "search",
    "inputData": {"query": "TypeScript"},
    "expectedOutput": {"type": "contains", "keywords": ["JavaScript"]},
    "tags": ["web", "simple"],
}
YAML = """
id: mine
name: Mine
version: 1.0.0
metadata: {lastUpdated: 2026-02-28}
tasks:
  - id: addition
    inputData: {expression: 2+3}
    expectedOutput: {value: 5}
    evaluator: exact
"""


def _benchmark(*tasks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "mine", "name": "Mine", "version": "1.0.0", "tasks": list(tasks), **fields}


def _write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_benchmark_is_loaded_by_path_folder_and_id(tmp_path: Path) -> None:
    file = _write(tmp_path / "benchmark.json", _benchmark(ADDITION, SEARCH))
    by_path, by_folder = load_benchmark(file), load_benchmark(tmp_path)
    assert by_path == by_folder
    assert [task.id for task in by_path.tasks] == ["addition", "search"]
    assert load_benchmark("coding-easy").id == "coding-easy"


def test_yaml_is_read_like_json(tmp_path: Path) -> None:
    benchmark = load_benchmark(_write(tmp_path / "mine.yaml", YAML))
    assert benchmark.tasks[0].evaluator_type == "exact"
    assert benchmark.metadata == {"lastUpdated": "2026-02-28"}


@pytest.mark.slow
@each_row(
    ("task", "place", "message"),
    [
        pytest.param(
            {**SEARCH, "evaluator": {"type": "contains", "caseSensitiv": True}},
            "tasks[1].evaluator.caseSensitiv",
            "caseSensitive",
            id="p02-unknown-option",
        ),
        pytest.param({**SEARCH, "evaluator": {"type": "containz"}}, "tasks[1]", "contains", id="unknown-scorer"),
        pytest.param({**SEARCH, "expectedOutput": {"type": "containz"}}, "tasks[1]", "contains", id="unknown-expected-type"),
        pytest.param({**SEARCH, "expectedOutput": {"type": "contains", "keywords": []}}, "tasks[1]", "", id="p05-no-keywords"),
        pytest.param({**SEARCH, "expectedOutput": {"type": "exact"}}, "tasks[1]", "", id="p10-nothing-to-compare-with"),
        pytest.param({**SEARCH, "expectdOutput": {}}, "tasks[1]", "did you mean 'expectedOutput'?", id="unknown-key"),
        pytest.param({**SEARCH, "timeoutMs": "5"}, "tasks[1].timeoutMs", "give a whole number", id="text-is-no-number"),
        pytest.param({**SEARCH, "id": "addition"}, "", "'addition' is used 2 times", id="one-id-twice"),
    ],
)
def test_a_task_that_cannot_be_scored_is_refused_with_its_place(
    tmp_path: Path, task: dict[str, Any], place: str, message: str
) -> None:
    file = _write(tmp_path / "mine.json", _benchmark(ADDITION, task))
    with pytest.raises(InputError) as refused:
        load_benchmark(file)
    assert refused.value.source == file
    assert refused.value.path.startswith(place)
    assert message in str(refused.value)


@each_row(
    ("content", "message"),
    [
        pytest.param(_benchmark(), "at least one task", id="zero-tasks"),
        pytest.param({"id": "mine", "name": "Mine", "version": "1.0.0"}, "tasks: this key is required", id="no-tasks"),
        pytest.param(_benchmark(ADDITION, version="1.0"), "version", id="version-is-semver"),
        pytest.param(_benchmark(ADDITION, scoringMetod="mean"), "did you mean 'scoringMethod'?", id="unknown-key"),
        pytest.param("{", "line 1", id="broken-json"),
        pytest.param("[]", "mine.json", id="no-object"),
    ],
)
def test_a_benchmark_that_cannot_be_run_is_refused(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(InputError) as refused:
        load_benchmark(_write(tmp_path / "mine.json", content))
    assert message in str(refused.value)
    assert "mine.json" in str(refused.value)


def test_the_default_evaluator_counts_when_tasks_are_checked(tmp_path: Path) -> None:
    task = {**SEARCH, "expectedOutput": {"keywords": ["JavaScript"]}}
    file = _write(tmp_path / "mine.json", _benchmark(task))
    assert load_benchmark(file, settings={"defaultEvaluator": "contains"}).tasks[0].evaluator_type is None
    with pytest.raises(InputError, match=r"tasks\[0\]"):
        load_benchmark(file)


def test_a_custom_scorer_is_looked_for_in_the_benchmarks_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "judge.py").write_text("def score(output, expected, task):\n    return 1.0\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    task = {"id": "judged", "expectedOutput": {"type": "custom", "customScorerPath": "judge.py"}}
    assert load_benchmark(_write(tmp_path / "own" / "mine.json", _benchmark(task))).tasks[0].evaluator_type == "custom"
    with pytest.raises(UserError):
        load_benchmark(_write(tmp_path / "elsewhere" / "mine.json", _benchmark(task)))


def test_a_task_array_becomes_a_benchmark_named_after_its_file(tmp_path: Path) -> None:
    benchmark = load_tasks(_write(tmp_path / "My Tasks (2).json", [ADDITION, SEARCH]))
    assert (benchmark.id, benchmark.name, benchmark.version) == ("my-tasks-2", "My Tasks (2)", "0.0.0")
    assert [task.id for task in benchmark.tasks] == ["addition", "search"]


def test_a_task_array_is_no_benchmark_and_where_it_belongs_is_said(tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps([ADDITION]))
    with pytest.raises(InputError, match="write one around the list, or give it to eval, run or rescore with --tasks"):
        load_benchmark(file)


@each_row(
    ("name", "text", "message"),
    [
        (
            "t.csv",
            "input,expected\n1,2\n",
            "it is a table or list of tasks, not a benchmark; give it to eval, run or rescore with",
        ),
        (
            "t.jsonl",
            json.dumps(ADDITION),
            "it is a table or list of tasks, not a benchmark; give it to eval, run or rescore with",
        ),
        (
            "p.yaml",
            "{prompts: [x], tests: [{assert: [{type: contains, value: a}]}]}",
            "it is a file of another program, not a b",
        ),
    ],
)
def test_what_is_read_as_tasks_is_no_benchmark_and_where_it_belongs_is_said(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        load_benchmark(tmp_path / name)
    assert is_read_as_tasks(tmp_path / name)
    assert len(load_tasks(tmp_path / name).tasks) == 1


def test_a_benchmark_is_not_read_as_tasks(tmp_path: Path) -> None:
    assert not is_read_as_tasks(_write(tmp_path / "b.json", _benchmark(ADDITION)))
    assert not is_read_as_tasks(tmp_path)


def test_weights_of_a_whole_benchmark_are_refused_with_their_places(tmp_path: Path) -> None:
    file = _write(tmp_path / "b.json", _benchmark(ADDITION) | {"weights": {"toolAccuracy": 0.5}})
    with pytest.raises(InputError, match=r"weights: a benchmark has no weights of its own; .* in the configuration \(weights: "):
        load_benchmark(file)


def test_a_task_file_may_hold_a_whole_benchmark_or_yaml(tmp_path: Path) -> None:
    assert load_tasks(_write(tmp_path / "tasks.json", _benchmark(ADDITION))).id == "mine"
    assert load_tasks(_write(tmp_path / "tasks.yaml", YAML)).id == "mine"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("[]", "at least one task", id="empty-array"),
        pytest.param([{**ADDITION, "evaluator": {"type": "exact", "caseSensitiv": True}}], "caseSensitive", id="unknown-option"),
        pytest.param("3", "tasks.json", id="neither-array-nor-object"),
    ],
)
def test_task_files_are_checked_like_benchmarks(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(InputError) as refused:
        load_tasks(_write(tmp_path / "tasks.json", content))
    assert message in str(refused.value)


def test_a_missing_task_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_tasks(tmp_path / "absent.json")


@pytest.mark.parametrize(
    ("tags", "ids"),
    [
        pytest.param([], ["addition", "search"], id="no-tags-keep-all"),
        pytest.param(["simple"], ["addition", "search"], id="one"),
        pytest.param(["simple", "web"], ["search"], id="all-of-them"),
    ],
)
def test_tags_filter_tasks(tags: list[str], ids: list[str]) -> None:
    kept = filter_tasks(Benchmark.model_validate(_benchmark(ADDITION, SEARCH)), tags)
    assert [task.id for task in kept.tasks] == ids
    assert kept.id == "mine"


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        pytest.param(["maths"], "the tag maths (did you mean 'math'?); its tags are math, simple, web", id="unknown"),
        pytest.param(["math", "web"], "all of the tags math, web; its tags are", id="never-together"),
    ],
)
def test_tags_that_leave_no_task_are_refused(tags: list[str], message: str) -> None:
    with pytest.raises(InputError) as refused:
        filter_tasks(Benchmark.model_validate(_benchmark(ADDITION, SEARCH)), tags)
    assert message in str(refused.value)


def test_json_lines_are_tasks_one_a_line(tmp_path: Path) -> None:
    spoken = {**SEARCH, "description": "a separator of lines\u2028that JSON allows"}
    lines = ["", json.dumps(ADDITION), "  ", json.dumps(spoken, ensure_ascii=False), ""]
    (tmp_path / "Two.jsonl").write_text("\r\n".join(lines), encoding="utf-8")
    found = load_tasks(tmp_path / "Two.jsonl")
    assert (found.id, [task.id for task in found.tasks]) == ("two", ["addition", "search"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param("t.jsonl", '{"id": "a"}\n{"id": }\n', r"t\.jsonl: not valid JSON at line 2, column 8", id="not-json"),
        pytest.param("t.jsonl", '{"id": "a", "id": "b"}', "line 1: key 'id' is given twice", id="a-key-twice"),
        pytest.param("t.jsonl", json.dumps({**ADDITION, "inputDat": 1}), "did you mean 'inputData'", id="an-unknown-key"),
        pytest.param("t.jsonl", "\n", "a benchmark needs at least one task", id="no-task"),
        pytest.param("t.csv", "id,inputData", "the table has a header and no rows", id="a-table-without-rows"),
        pytest.param("t.xlsx", "PK", "files of this kind are not read; known are", id="a-workbook"),
    ],
)
def test_lines_that_are_no_tasks_are_refused_with_their_place(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        load_tasks(tmp_path / name)


def test_every_problem_of_a_file_counts_wherever_it_is(tmp_path: Path) -> None:
    good = {"id": "a", "expectedOutput": {"value": 1}}
    tasks = [good, {**good, "id": "b", "weight": -1}, {**good, "id": "c"}, {**good, "id": 4}]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    with pytest.raises(InputError, match=r"tasks\[1\]\.weight.*\(and 1 more problem\)"):
        load_tasks(tmp_path / "tasks.json")
