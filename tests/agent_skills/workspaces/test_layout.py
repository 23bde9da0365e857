"""Workspaces in the layouts that programs write, with what they leave out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.agent_skills.workspaces.layout import is_workspace, read_workspace
from eval_skills.core.errors import InputError
from tests.tables import each_row

HELD = {"text": "a", "passed": True, "evidence": "there"}
GRADED = {"expectations": [HELD, {"text": "b", "passed": False}], "summary": {"pass_rate": 0.5}}


def put(folder: Path, grading: Any = GRADED, timing: Any = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("grading.json", grading), ("timing.json", timing)):
        (folder / name).unlink(missing_ok=True)
        if content is not None:
            (folder / name).write_text(json.dumps(content))


@each_row(
    "places",
    [
        ("eval-top-months/with_skill", "eval-top-months/without_skill"),
        ("eval-top-months/with_skill/run-1", "eval-top-months/without_skill/run-1"),
        ("runs/eval-top-months/with_skill/run-1", "runs/eval-top-months/without_skill"),
        ("iteration-10/eval-top-months/with_skill", "iteration-10/eval-top-months/without_skill"),
    ],
)
def test_every_layout_gives_the_same_runs(tmp_path: Path, places: tuple[str, ...]) -> None:
    folder = tmp_path / places[1].replace("/", "-") / "csv-tools-workspace"
    for place in places:
        put(folder / place)
    if "iteration" in places[0]:
        put(folder / "iteration-9" / "eval-x" / "old_skill")
    (folder / "eval-notes").mkdir(exist_ok=True)
    assert is_workspace(folder)
    found = read_workspace(folder)
    assert [(run.eval_name, run.configuration, run.number) for run in found.runs] == [
        ("top-months", "with_skill", 1),
        ("top-months", "without_skill", 1),
    ]
    assert found.skill == "csv-tools"
    assert found.others == (("iteration-9",) if "iteration" in places[0] else ())


@each_row(
    ("grading", "rate"),
    [
        (GRADED, 0.5),
        ({"assertion_results": [HELD]}, 1.0),
        ({"assertion_results": [HELD], "expectations": [HELD]}, 1.0),
        ({"summary": {"passed": 1, "total": 4}}, 0.25),
        ({"expectations": [HELD, {"text": "b", "passed": None}]}, 1.0),
        ({"expectations": [], "summary": {"passed": 0, "failed": 0, "total": 0, "pass_rate": 0.0}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_what_was_not_judged_has_no_rate(tmp_path: Path, grading: Any, rate: float | None) -> None:
    put(tmp_path / "eval-1" / "with_skill", grading, {"total_tokens": 5, "duration_ms": 1500})
    [run] = read_workspace(tmp_path).runs
    assert (run.grading.pass_rate if run.grading else None) == rate
    assert (run.timing.seconds, run.timing.total_tokens) == (1.5, 5)


def test_the_time_of_a_grader_is_not_the_agents(tmp_path: Path) -> None:
    timing = {"total_duration_seconds": 191.0, "executor_duration_seconds": 165.0}
    put(tmp_path / "eval-1" / "with_skill", {**GRADED, "timing": timing})
    assert read_workspace(tmp_path).runs[0].timing.seconds == 165


@each_row(
    ("grading", "message"),
    [
        ({"expectations": [{"text": "a", "passed": "yes"}]}, r"grading.json: expectations\[0\].passed"),
        ({"expectations": {}}, "expectations"),
        ({"summary": {"pass_rate": 1.5}}, "pass_rate"),
        ([], "expected an object"),
        ({"expectations": [HELD], "assertion_results": [{"text": "b"}]}, "they differ"),
    ],
)
def test_a_malformed_grading_is_refused_by_place(tmp_path: Path, grading: Any, message: str) -> None:
    put(tmp_path / "eval-1" / "with_skill", grading)
    with pytest.raises(InputError, match=message) as refused:
        read_workspace(tmp_path)
    assert "\n" not in str(refused.value)


def test_a_run_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "eval-1" / "with_skill")
    put(tmp_path / "runs" / "eval-1" / "with_skill")
    with pytest.raises(InputError, match="run 1 of eval-1 under with_skill is in"):
        read_workspace(tmp_path)


def test_links_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "eval-1" / "with_skill")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "eval-1").symlink_to(tmp_path / "elsewhere" / "eval-1")
    assert not is_workspace(tmp_path / "workspace")
    put(tmp_path / "workspace" / "eval-2" / "with_skill", None, {})
    (tmp_path / "workspace" / "eval-2" / "with_skill" / "grading.json").symlink_to(
        tmp_path / "elsewhere" / "eval-1" / "with_skill" / "grading.json"
    )
    assert read_workspace(tmp_path / "workspace").runs[0].grading is None


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "eval-1").mkdir()
    with pytest.raises(InputError, match="no runs here; expected eval-<name>"):
        read_workspace(tmp_path)
