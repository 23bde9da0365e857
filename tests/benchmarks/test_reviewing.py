"""Decisions about generated tasks, and the file that they are written into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.benchmarks import load_benchmark, load_tasks
from eval_skills.benchmarks.loader import unreviewed_note
from eval_skills.benchmarks.reviewing import Review
from eval_skills.core.errors import InputError, UsageError, UserError
from eval_skills.core.models import EvalTask
from eval_skills.scorers import ScoringSettings

MARK = {"generated": {"by": "schema", "seed": 1, "needs": "look"}, "reviewed": False}
TASKS: list[dict[str, Any]] = [
    {"id": "own", "inputData": 1, "expectedOutput": {"value": 1}},
    {"id": "known", "inputData": 2, "expectedOutput": {"value": 2}, "metadata": {**MARK, "kept": "ü"}},
    {"id": "open", "inputData": 3, "metadata": MARK},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "drafts.json"
    path.write_text(json.dumps({"id": "d", "name": "D", "version": "1.0.0", "tasks": TASKS}), encoding="utf-8")
    return path


def task(file: Path, task_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in json.loads(file.read_text("utf-8"))["tasks"] if each["id"] == task_id)
    return found


def test_only_generated_tasks_are_pending(file: Path) -> None:
    review = Review(file)
    assert review.pending() == ["known", "open"]
    assert review.without_expectation() == ["open"]


def test_an_accepted_task_says_so_and_keeps_the_rest(file: Path) -> None:
    Review(file).accept("known")
    assert task(file, "known") == {
        **TASKS[1],
        "metadata": {"generated": {"by": "schema", "seed": 1}, "reviewed": True, "kept": "ü"},
    }
    assert task(file, "own") == TASKS[0]
    assert Review(file).pending() == ["open"]


def test_a_task_that_expects_nothing_cannot_be_accepted(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(UsageError, match="'open' expects nothing yet"):
        Review(file).decide(accept=["known", "open"], drop=["own"])
    assert file.read_bytes() == before


def test_what_is_expected_takes_the_place_of_what_was(file: Path) -> None:
    review = Review(file)
    review.expect("open", {"a": [1]})
    review.expect("known", None)
    assert task(file, "open")["expectedOutput"] == {"type": "exact_match", "value": {"a": [1]}}
    assert task(file, "known")["expectedOutput"] == {"type": "exact_match", "value": None}
    assert review.pending() == []
    assert len(load_benchmark(file, settings=ScoringSettings()).tasks) == 3


def test_the_last_task_stays(file: Path) -> None:
    review = Review(file)
    review.drop("own", "known")
    with pytest.raises(UsageError, match="no task would be left"):
        review.drop("open")
    assert [each["id"] for each in review.tasks] == ["open"]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        pytest.param({"id": "own", "expectedOutput": {"value": 1}}, "used 2 times", id="id-of-another"),
        pytest.param({"id": "new", "metadata": MARK}, "expects nothing yet", id="no-expectation"),
        pytest.param({"id": "new", "evaluator": "nope"}, "unknown scorer", id="unknown-scorer"),
        pytest.param({"id": "new", "expectedOutput": {"value": 1}, "colour": 1}, "unknown key", id="unknown-key"),
        pytest.param([], "an object with an id", id="no-object"),
    ],
)
def test_an_edit_that_could_not_be_run_changes_nothing(file: Path, changed: Any, says: str) -> None:
    before = file.read_bytes()
    with pytest.raises(UserError, match=says):
        Review(file).replace("open", changed)
    assert file.read_bytes() == before


def test_a_file_that_somebody_else_changed_is_left_alone(file: Path) -> None:
    mine, theirs = Review(file), Review(file)
    theirs.accept("known")
    with pytest.raises(UsageError, match="was changed by somebody else"):
        mine.drop("known")
    assert task(file, "known")["metadata"]["reviewed"] is True


def test_an_array_of_tasks_is_reviewed_too(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(TASKS), encoding="utf-8")
    Review(path).accept("known")
    assert json.loads(path.read_text("utf-8"))[1]["metadata"]["reviewed"] is True


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        pytest.param("a.yaml", "tasks: []", "only JSON files", id="yaml"),
        pytest.param("a.json", "{", "not valid JSON", id="broken"),
        pytest.param("a.json", "5", "expected a benchmark", id="number"),
        pytest.param("a.json", "[]", "no task would be left", id="no-tasks"),
        pytest.param("a.json", '[{"id": "a"}]', "nothing is expected", id="not-generated"),
    ],
)
def test_what_is_no_file_of_tasks_is_refused(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=says):
        Review(tmp_path / name)


def test_drafts_are_read_and_not_run(file: Path) -> None:
    assert len(load_benchmark(file).tasks) == 3
    with pytest.raises(InputError, match="1 of 3 tasks has no expectation yet; say what is right: eval-skills benchmarks review"):
        load_benchmark(file, settings=ScoringSettings())


def test_a_task_that_nobody_generated_must_expect_something() -> None:
    with pytest.raises(ValueError, match="nothing is expected of the answer"):
        EvalTask.model_validate({"id": "a", "metadata": {"generated": {"by": "x"}, "reviewed": True}})


def test_the_note_counts_what_nobody_has_read() -> None:
    tasks = [EvalTask.model_validate(each) for each in TASKS]
    [note] = unreviewed_note(tasks)
    assert note.startswith("2 of 3 tasks (67 %) are generated and not reviewed")
    assert unreviewed_note(tasks[:1]) == []


def test_half_a_surrogate_pair_is_written_as_its_escape_so_that_the_file_can_be_read_again(file: Path) -> None:
    half = "\ud800"
    file.write_text(json.dumps([{"id": "known", "inputData": half, "expectedOutput": {"value": 2}, "metadata": MARK}]))
    Review(file).accept("known")
    assert Review(file).task("known")["inputData"] == half
    assert load_tasks(file).tasks[0].input_data == half
