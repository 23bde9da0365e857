"""``eval`` and ``run`` with ``--traces``: what goes with it, what does not, and where it may be said."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.tables import each_row

Run = Callable[..., Any]
TASKS = [
    {"id": "bern", "complexity": "simple", "expectedOutput": {"value": "x"}},
    {"id": "tour", "complexity": "complex", "expectedOutput": {"value": "x"}},
]


@pytest.fixture(autouse=True)
def files(place: Any) -> None:
    place.write("trips.json", TASKS)
    place.write("runs.jsonl", "".join(json.dumps({"taskId": task["id"], "output": "x"}) + "\n" for task in TASKS))
    place.write("bad.jsonl", '{"taskId": "bern", "output": "x"}\n{"taskId": "bren", "output": "x"}\n')


def planned(run_here: Run, *arguments: str) -> tuple[list[str], int, list[str]]:
    result = run_here(*arguments, "--tasks", "trips.json", "--dry-run", "--json")
    assert (result.code, result.err) == (0, "")
    return result.json["skills"], result.json["items"], result.json["remarks"]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["eval", "run"])
def test_recorded_runs_take_the_place_of_skills(run_here: Run, command: str) -> None:
    assert planned(run_here, command, "--traces", "runs.jsonl") == (["runs@0.0.0"], 2, [])
    assert planned(run_here, command, "--traces", "runs.jsonl", "--trace-skill", "trip@1.2.0")[0] == ["trip@1.2.0"]
    left_out = "1 of 2 lines are about tasks that are not selected, and are left out"
    assert planned(run_here, command, "--traces", "runs.jsonl", "--complexity", "complex", "very_complex")[1:] == (1, [left_out])


@pytest.mark.slow
def test_complexity_chooses_the_tasks_that_skills_are_asked(run_here: Run) -> None:
    for command in (["eval", "--skills", "skills"], ["run"]):
        assert planned(run_here, *command, "--complexity", "simple")[1] == 1


@pytest.mark.slow
@pytest.mark.parametrize("command", ["eval", "run"])
def test_p58_it_may_come_from_the_configuration(place: Any, run_here: Run, command: str) -> None:
    said = {"traces": "runs.jsonl", "traceSkill": "trip@1.2.0", "complexity": ["simple"]}
    place.write("eval-skills.config.yaml", json.dumps({command: said}))
    skills, items, _ = planned(run_here, command)
    assert (skills, items) == (["trip@1.2.0"], 1)


@pytest.mark.slow
def test_p58_what_is_typed_beats_what_is_configured(place: Any, run_here: Run) -> None:
    place.write("eval-skills.config.yaml", json.dumps({"eval": {"skills": ["skills"]}, "runs": 3, "retries": 2}))
    assert planned(run_here, "eval", "--traces", "runs.jsonl")[:2] == (["runs@0.0.0"], 2)
    place.write("eval-skills.config.yaml", json.dumps({"eval": {"traces": "runs.jsonl", "traceSkill": "trip"}}))
    assert planned(run_here, "eval", "--skills", "skills")[0] == ["calculator@1.0.0"]


@pytest.mark.slow
@each_row(
    ("arguments", "says"),
    [
        pytest.param(["eval", "--traces", "nope.jsonl"], "nope.jsonl: no such file of recorded runs", id="missing"),
        pytest.param(["eval", "--traces", ""], "--traces is blank; give a value", id="blank"),
        pytest.param(["eval", "--traces", "bad.jsonl"], "bad.jsonl:2: benchmark 'trips' has no task 'bren'", id="unknown-task"),
        pytest.param(["eval", "--traces", "runs.jsonl", "--skills", "skills"], "--skills are called and --traces", id="skills"),
        pytest.param(["eval", "--traces", "runs.jsonl", "--runs", "2"], "--runs is about skills that are called", id="runs"),
        pytest.param(["run", "--traces", "runs.jsonl", "--retries", "2"], "--retries is about skills", id="retries"),
        pytest.param(["run", "--traces", "runs.jsonl", "--query", "q"], "--query is about skills", id="query"),
        pytest.param(["run", "--traces", "runs.jsonl", "--tag", "q"], "--skill-tag is about skills", id="tag"),
        pytest.param(
            ["run", "--traces", "runs.jsonl", "--skills-dir", "skills"], "--skills-dir is about skills", id="skills-dir"
        ),
        pytest.param(["eval", "--skills", "skills", "--trace-skill", "x"], "--trace-skill is about recorded runs", id="alone"),
        pytest.param(["eval", "--traces", "runs.jsonl", "--trace-skill", "X Y"], "'X Y' does not name a skill", id="skill-name"),
        pytest.param(
            ["eval", "--traces", "runs.jsonl", "--complexity", "hard"], "--complexity: input should be", id="complexity"
        ),
        pytest.param(
            ["eval", "--traces", "runs.jsonl", "--complexity", "medium"],
            "no task of trips has the complexity medium; there are 1 simple, 1 complex",
            id="no-task-of-it",
        ),
    ],
)
def test_p40_what_cannot_be_meant_is_refused_in_one_line(run_here: Run, arguments: list[str], says: str) -> None:
    result = run_here(*arguments, "--tasks", "trips.json", "--dry-run")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert says in result.err
