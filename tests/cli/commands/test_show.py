"""`show`: one item of a run, whole."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import eval_skills as es
from tests.tables import each_row

Run = Callable[..., Any]
HOSTILE = "\x1b[31mred\x1b[0m\n[bold]✔ passed[/bold]\u202e"
TASKS: list[dict[str, Any]] = [
    {"id": "table", "input": {"q": "table"}, "expected": {"rows": [{"b": 1}, {"b": 3.6}], "total": 2}},
    {"id": "text", "input": "text", "expected": "the quick brown fox jumps"},
    {"id": "hostile#1", "input": HOSTILE, "expected": "x"},
]


def answering(given: Any) -> Any:
    if given == "text":
        return "the quick red fox jumps"
    return {"rows": [{"b": 1}, {"b": 3.5}], "totals": 2} if isinstance(given, dict) else given


def answering_rightly(given: Any) -> Any:
    return next(task["expected"] for task in TASKS if task["input"] == given)


@pytest.fixture
def stored(place: Any, run_here: Run) -> str:
    tasks = place.write("tasks.json", TASKS)
    return es.evaluate([answering, answering_rightly], tasks, runs=2, store=str(place.folder / "eval-store")).run_id


def test_json_differences_are_named_by_their_path(run_here: Run, stored: str) -> None:
    result = run_here("show", stored, "answering", "table")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[1].endswith("· table · run 1 of 2")
    assert lines[2].startswith("✘ failed · score 0.0000 · exact_match")
    start = lines.index("difference: [-expected-] {+answered+}")
    assert lines[start + 1 : start + 4] == ["  rows[1].b: 3.6 ≠ 3.5", "  total: missing, 2", "  totals: extra, 2"]
    assert not [line for line in lines if len(line) > 80 or line != line.rstrip()]


@pytest.mark.slow
def test_texts_are_compared_by_word_and_a_run_can_be_chosen(run_here: Run, stored: str) -> None:
    shown = run_here("show", "latest", "answering", "text#2").out
    assert "  the quick [-brown -]{+red +}fox jumps\n" in shown
    assert "· text · run 2 of 2\n" in shown
    assert "\x1b" not in shown


def test_an_item_that_passed_has_no_difference(run_here: Run, stored: str) -> None:
    shown = run_here("show", stored, "answering_rightly", "text").out
    assert "✔ passed" in shown
    assert "difference" not in shown


def test_what_strangers_wrote_does_not_steer_the_terminal(run_here: Run, stored: str) -> None:
    shown = run_here("show", stored, "answering", "hostile#1").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "  \\x1b[31mred\\x1b[0m\n  [bold]✔ passed[/bold]\\u202e\n" in shown
    assert not [line for line in shown.splitlines() if line.startswith("[bold]")]


def test_json_has_all_of_it(run_here: Run, stored: str) -> None:
    document = run_here("show", stored, "answering", "table", "--json").json
    assert document["item"]["runId"] == stored
    assert (document["input"], document["expected"]["value"]) == (TASKS[0]["input"], TASKS[0]["expected"])
    assert [change["path"] for change in document["difference"]["changes"]] == ["rows[1].b", "total", "totals"]


@pytest.mark.slow
@each_row(
    ("arguments", "says"),
    [
        pytest.param(["answring", "table"], "has no such skill (did you mean 'answering'?)", id="no-such-skill"),
        pytest.param(["answering", "tabel"], "has no such task (did you mean 'table'?)", id="no-such-task"),
        pytest.param(["answering", "table#3"], "this task has no run 3", id="no-such-run"),
        pytest.param(["answering", "table#0"], "'0' is not a run", id="runs-count-from-1"),
        pytest.param(["answering", "table#x"], "'x' is not a run", id="not-a-number"),
    ],
)
def test_what_is_not_there_is_refused(run_here: Run, stored: str, arguments: list[str], says: str) -> None:
    result = run_here("show", stored, *arguments)
    assert (result.code, result.out, says in result.err) == (2, "", True)


@pytest.mark.slow
def test_the_version_of_a_skill_is_asked_for_where_there_are_two(
    place: Any, run_here: Run, copy: Callable[..., Path], examples: Path
) -> None:
    skills = [copy(examples / "calculator", place.folder / f"v{number}", version=f"{number}.0.0") for number in (2, 3)]
    run_id = es.evaluate(skills, "coding-easy", store=str(place.folder / "eval-store")).run_id
    result = run_here("show", run_id, "calculator", "factorial-five")
    assert (result.code, "2 versions of this skill; name one: calculator@2.0.0, calculator@3.0.0" in result.err) == (2, True)
    assert run_here("show", run_id, "calculator@3.0.0", "factorial-five").code == 0


def test_where_the_tasks_are_gone_the_rest_is_shown(place: Any, run_here: Run, stored: str) -> None:
    (place.folder / "tasks.json").unlink()
    result = run_here("show", stored, "answering", "table")
    assert result.code == 0
    assert "what was asked and expected is not known" in result.err
    assert "expected\n" not in result.out
    assert "OUTPUT_MISMATCH" in result.out


@pytest.mark.slow
def test_the_command_that_asks_again_asks_that_task_alone(
    place: Any, run_here: Run, copy: Callable[..., Path], examples: Path
) -> None:
    skill = copy(examples / "calculator_buggy", place.folder / "buggy skill")
    run_id = es.evaluate(skill, "coding-easy", store=str(place.folder / "eval-store")).run_id
    again = run_here("show", run_id, "calculator_buggy", "evaluate-division").out.splitlines()[-1].strip()
    assert again == "eval-skills eval --skills 'buggy skill' --benchmark coding-easy --filter id=evaluate-division"
    plan = run_here(*shlex.split(again)[1:], "--dry-run", "--json").json
    assert (plan["items"], plan["skills"]) == (1, ["calculator_buggy@1.0.0"])
    (place.folder / "eval-store").rename(place.folder / "moved")
    shown = run_here("show", run_id, "calculator_buggy", "evaluate-division", "--store", "moved").out
    assert shown.splitlines()[-1].strip() == f"{again} --store moved"
