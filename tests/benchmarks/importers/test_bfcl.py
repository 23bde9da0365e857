"""BFCL's data files become a benchmark that is scored by its rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks import load_benchmark, load_tasks
from eval_skills.benchmarks.importers.bfcl import json_schema
from eval_skills.benchmarks.importers.importing import import_tasks
from eval_skills.benchmarks.importers.writing import write_benchmark
from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse, ToolCall
from eval_skills.scorers import score_response
from tests.tables import each_row

PARAMETERS = {
    "type": "dict",
    "properties": {"n": {"type": "integer", "description": "A number", "optional": True}, "x": {"type": "float"}},
    "required": ["n"],
}
FUNCTION = {"name": "math.factorial", "description": "n!", "parameters": PARAMETERS}
ASKED = [[{"role": "user", "content": "The factorial of 5?"}]]
GOLD = [{"math.factorial": {"n": [5], "x": ["", 1.5]}}]


def row(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "question": ASKED, "function": [FUNCTION], **more}


def data(folder: Path, category: str, *rows: dict[str, Any], gold: Any = GOLD) -> Path:
    """The file of a category, with the accepted calls of its rows beside it."""
    path = folder / f"BFCL_v4_{category}.json"
    path.write_text("\n".join(map(json.dumps, rows)))
    if gold is not None:
        (folder / "possible_answer").mkdir(exist_ok=True)
        answers = [json.dumps({"id": each["id"], "ground_truth": gold}) for each in rows]
        (folder / "possible_answer" / path.name).write_text("\n".join(answers))
    return path


async def test_a_file_is_joined_with_its_answers_and_scored_by_the_rules(tmp_path: Path) -> None:
    path = data(tmp_path, "simple_python", row("simple_python_0"), row("simple_python_1"))
    found = import_tasks(path)
    assert (found.kind.name, found.read, found.skipped) == ("bfcl", 2, {})
    task = found.benchmark.tasks[0]
    assert (task.id, task.description, task.tags) == ("simple_python_0", "The factorial of 5?", ["simple_python"])
    assert task.input_data["messages"] == ASKED[0]
    [tool] = task.input_data["tools"]
    assert tool["function"]["name"] == "math_factorial", "interfaces of models allow no dots"
    for arguments, passed in (({"n": 5}, True), ({"n": 6}, False)):
        answer = SkillResponse(output="", tool_calls=[ToolCall(name="math_factorial", arguments=arguments)])
        assert (await score_response(task, answer)).passed is passed
    assert found.benchmark.metadata["source"] == "Berkeley Function-Calling Leaderboard"


def test_the_digest_covers_the_answers_too(tmp_path: Path) -> None:
    path = data(tmp_path, "multiple", row("multiple_0"))
    before = import_tasks(path)
    data(tmp_path, "multiple", row("multiple_0"), gold=[{"math.factorial": {"n": [6]}}])
    after = import_tasks(path)
    assert before.digest != after.digest
    assert before.benchmark.version != after.benchmark.version
    assert after.benchmark.metadata["files"] == ["BFCL_v4_multiple.json", "possible_answer/BFCL_v4_multiple.json"]


def test_a_folder_is_read_whole_and_what_needs_more_than_data_is_skipped_with_its_reason(tmp_path: Path) -> None:
    data(tmp_path, "irrelevance", row("irrelevance_0"), gold=None)
    data(tmp_path, "live_relevance", row("live_relevance_0-0-0"), gold=None)
    data(tmp_path, "live_parallel_multiple", row("live_parallel_multiple_3-2-1"), gold=GOLD * 2)
    data(tmp_path, "simple_java", row("simple_java_0"))
    data(tmp_path, "multi_turn_base", {"id": "multi_turn_base_0", "question": ASKED * 2, "involved_classes": []}, gold=[["f()"]])
    (tmp_path / "BFCL_v4_format_sensitivity.json").write_text('{\n "irrelevance": ["irrelevance_0"]\n}')
    found = import_tasks(tmp_path)
    evaluators = {task.id: task.to_json()["evaluator"]["category"] for task in found.benchmark.tasks}
    assert evaluators == {
        "irrelevance_0": "irrelevance",
        "live_relevance_0-0-0": "relevance",
        "live_parallel_multiple_3-2-1": "parallel_multiple",
    }
    assert [skip["reason"].split(":")[0] for skip in found.skips()] == ["multi_turn_base", "simple_java"]
    write_benchmark(found, tmp_path / "out")
    assert load_benchmark(tmp_path / "out").to_json() == found.benchmark.to_json()


@each_row("rows", [[row("simple_0")], [row("simple_0"), row("simple_1")]], ids=lambda rows: f"{len(rows)}-rows")
def test_tasks_takes_a_file_directly_though_it_ends_in_json(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    assert [task.id for task in load_tasks(data(tmp_path, "simple", *rows)).tasks] == [each["id"] for each in rows]


@each_row(
    ("entry", "message"),
    [
        (row("simple_python_0"), r"no entry of its id in possible_answer/ beside the data file"),
        (row("own_7"), r'expected a category and a number, as in simple_python_0, got "own_7"; categories are simple_python'),
        (row("irrelevance_0", function=[FUNCTION, {**FUNCTION, "name": "math_factorial"}]), r"two functions are called"),
        (row("irrelevance_0", function=[{"name": "f"}]), r"function\[0\]: expected a function with name and parameters"),
        (row("irrelevance_0", question=["x"]), r"question: expected a list of turns"),
        (row("irrelevance_0", question=ASKED * 2), r"it has several turns"),
        (row("simple_python_0", ground_truth=["f()"]), r"groundTruth\[0\]"),
    ],
    ids=str,
)
def test_what_cannot_be_a_task_is_refused_with_its_place(tmp_path: Path, entry: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        import_tasks(data(tmp_path, "own", entry, gold=None))
    assert "BFCL_v4_own.json" in str(caught.value)


def test_types_are_shown_as_json_schema_at_any_depth() -> None:
    document = {
        "type": "dict",
        "properties": {
            "a": {"type": "tuple", "items": {"type": "float"}},
            "b": {"type": "array", "items": {"type": "dict", "properties": {"c": {"type": "any"}}}, "default": None},
        },
        "required": ["a"],
        "optional": ["b"],
    }
    assert json_schema(document) == {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "number"}},
            "b": {"type": "array", "items": {"type": "object", "properties": {"c": {"type": "string"}}}, "default": None},
        },
        "required": ["a"],
    }
