"""What `benchmarks lint` finds, rule by rule, and what it leaves alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import EvalTask, ItemResult
from eval_skills.core.store import Store, land_items
from eval_skills.engine.definition.benchmark import task_digest
from eval_skills.engine.task_linting.case import ASKS_A_MODEL, NEEDS_A_CALL
from eval_skills.engine.task_linting.finding import RULES, Lint
from eval_skills.engine.task_linting.linting import lint
from eval_skills.engine.task_linting.similarity import near_pairs
from tests.tables import each_row

CAPITAL = {"q": "What is the capital of France?"}


def value(answer: Any, **more: Any) -> dict[str, Any]:
    return {"expectedOutput": {"value": answer}, **more}


def linted(tmp_path: Path, *tasks: dict[str, Any], store: Store | None = None, runs: int = 1) -> Lint:
    named = [{"id": f"t{index}", **task} for index, task in enumerate(tasks)]
    path = tmp_path / "own.json"
    path.write_text(json.dumps({"id": "own", "name": "Own", "version": "1.0.0", "tasks": named}), encoding="utf-8")
    return lint(str(path), store=store, runs=runs)


def conversation(turn: str | None = None, whole: str | None = None) -> dict[str, Any]:
    second = {"input": "And then?", **(value(turn) if turn else {})}
    return {"turns": [{"input": "hi"}, second], **(value(whole) if whole else {})}


def rules(found: Lint) -> list[tuple[str, str | None]]:
    """Without the note on power, which any small benchmark gets."""
    return [(each.rule, each.task) for each in found.findings if each.rule != "smallest-difference"]


GOOD = [{"inputData": {"q": f"Spell the number {n}"}, **value(word)} for n, word in enumerate(("nil", "one", "two", "three"))]


def test_good_tasks_have_no_findings(tmp_path: Path) -> None:
    found = linted(tmp_path, *GOOD)
    assert rules(found) == []
    assert (found.checked, found.unchecked) == (4, {})


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        pytest.param(
            [{"inputData": CAPITAL, **value("Paris")}, {"inputData": CAPITAL, **value("Lyon")}],
            "contradiction",
            id="contradiction",
        ),
        pytest.param(
            [{"inputData": CAPITAL, **value("Paris")}, {"inputData": CAPITAL, **value("Paris")}],
            "duplicate-input",
            id="duplicate",
        ),
        pytest.param([conversation(turn="a"), conversation(turn="b")], "contradiction", id="contradiction-in-a-turn"),
        pytest.param([conversation(whole="a"), conversation(whole="b")], "contradiction", id="contradiction-of-conversations"),
        pytest.param([conversation(turn="a"), conversation(turn="a")], "duplicate-input", id="duplicate-conversation"),
        pytest.param([conversation(turn="a"), conversation(whole="b")], "duplicate-input", id="conversations-of-two-questions"),
        pytest.param(
            [{"inputData": CAPITAL, **value("Paris")}, {"inputData": {"q": "what is the capital of france"}, **value("Paris")}],
            "near-duplicate",
            id="near",
        ),
    ],
)
def test_the_later_of_two_tasks_that_ask_the_same_is_found(tmp_path: Path, tasks: list[dict[str, Any]], expected: str) -> None:
    assert rules(linted(tmp_path, *tasks)) == [(expected, "t1")]


@each_row(
    ("one", "other"),
    [
        pytest.param({"a": 2, "b": 3}, {"a": 2, "b": 4}, id="other-number"),
        pytest.param({"n": 1}, {"n": -1}, id="sign"),
        pytest.param("+", "-", id="signs-alone"),
        pytest.param("ab", "ac", id="short"),
    ],
)
def test_inputs_that_differ_in_what_counts_are_not_alike(one: Any, other: Any) -> None:
    assert near_pairs([one, other], [0, 0]) == ([], 0)


def test_tasks_that_expect_different_answers_are_meant_to_differ(tmp_path: Path) -> None:
    asked = [{"q": f"Is the word {word!r} in the list of all colours that we sell?"} for word in ("green", "greek")]
    assert rules(linted(tmp_path, {"inputData": asked[0], **value(True)}, {"inputData": asked[1], **value(False)})) == []


@pytest.mark.parametrize(
    "task",
    [
        pytest.param({"expectedOutput": {"type": "regex", "patterns": ["^bye$"], "value": "hello"}}, id="pattern"),
        pytest.param({"expectedOutput": {"type": "json_schema", "schema": {"type": "integer"}, "value": "x"}}, id="schema"),
        pytest.param({"evaluator": {"type": "contains", "keywords": ["left"], "notContains": ["LEFT"]}}, id="contains"),
        pytest.param({**value("yes"), "expected": {"output": {"contains": ["no"]}}}, id="text-beside-it"),
        pytest.param(
            {"evaluators": ["exact", {"type": "regex", "patterns": ["^b"]}], "expectedOutput": {"value": "a"}}, id="set"
        ),
        pytest.param(
            {"turns": [{"input": "hi", "expectedOutput": {"type": "regex", "patterns": ["y"], "value": "x"}}]}, id="turn"
        ),
        pytest.param(
            {"turns": [{"input": "hi"}], "expectedOutput": {"type": "regex", "patterns": ["y"], "value": "x"}}, id="conversation"
        ),
    ],
)
def test_an_answer_that_fails_its_own_evaluator_is_an_error(tmp_path: Path, task: dict[str, Any]) -> None:
    asked = {} if "turns" in task else {"inputData": {"q": 1}}
    found = linted(tmp_path, {**asked, **task})
    assert ("impossible-expectation", "t0") in rules(found)
    assert found.count("error") == 1


@pytest.mark.parametrize(
    "task",
    [
        pytest.param({"expectedOutput": {"type": "rouge_l", "value": ["one way", "another way"]}}, id="one-of-several"),
        pytest.param(value(None), id="null"),
        pytest.param({"evaluator": {"type": "contains", "keywords": ["a", "b"]}}, id="keywords"),
        pytest.param({**value("x"), "expected": {"tools": ["search"]}, "thresholds": {"maxLatency": 1}}, id="beside-tools"),
        pytest.param(
            {"evaluators": ["json_schema", "contains"], "expectedOutput": {"schema": True, "keywords": ["k"]}}, id="set"
        ),
        pytest.param({"evaluator": {"type": "regex", "patterns": ["x"]}}, id="only-a-rule"),
    ],
)
def test_what_can_be_answered_is_no_error(tmp_path: Path, task: dict[str, Any]) -> None:
    found = linted(tmp_path, {"inputData": {"q": 1}, **task})
    assert (found.count("error"), found.checked, found.unchecked) == (0, 1, {})


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        pytest.param({"evaluator": "llm_judge", "expectedOutput": {"criteria": "good"}}, ASKS_A_MODEL, id="model"),
        pytest.param({"expected": {"tools": ["search"]}}, "it says nothing of the answer itself", id="tools"),
        pytest.param(
            {"evaluator": {"type": "latency", "limitMs": 5}}, NEEDS_A_CALL,
            id="latency",
        ),
    ],
)  # fmt: skip
def test_what_is_not_run_is_counted_by_its_reason(tmp_path: Path, task: dict[str, Any], reason: str) -> None:
    found = linted(tmp_path, {"inputData": {"q": 1}, **task})
    assert (found.unchecked, found.checked) == ({reason: 1}, 0)


def test_custom_code_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "scorer.py").write_text("open('ran', 'w').close()\ndef score(response): return 1.0\n", encoding="utf-8")
    found = linted(tmp_path, {"inputData": 1, "evaluator": {"type": "custom", "customScorerPath": "scorer.py"}})
    assert found.unchecked == {"its evaluator runs custom code": 1}
    assert not (tmp_path / "ran").exists()


def test_an_answer_that_stands_in_the_input_leaks(tmp_path: Path) -> None:
    leak = {"inputData": {"q": "The capital of Spain is Madrid. What is it?"}, **value("madrid")}
    within = {"inputData": {"q": "How many Madrilenians are there?"}, **value("Madrid")}
    assert rules(linted(tmp_path, leak, within)) == [("leaked-answer", "t0")]


def test_a_list_to_choose_from_leaks_nothing(tmp_path: Path) -> None:
    asked = [{"q": f"Is this positive or negative: {text}"} for text in ("I love it", "I hate it")]
    labels = ("positive", "negative")
    tasks = [{"inputData": each, **value(label)} for each, label in zip(asked, labels, strict=True)]
    assert rules(linted(tmp_path, *tasks)) == []


@pytest.mark.parametrize(
    ("tasks", "severity", "says"),
    [
        pytest.param(
            [{"inputData": {"q": f"{n} apples"}, **value("yes")} for n in range(4)], "error", "passes all 4 expectations (100 %)",
            id="always-the-same",
        ),
        pytest.param(
            [{"inputData": f"say {n}", **value(f"say {n}")} for n in range(3)] + GOOD[:1], "warning",
            "the input as the answer passes 3 of 4 expectations (75 %)", id="echo",
        ),
        pytest.param(
            [{"inputData": {"q": n}, "evaluator": {"type": "regex", "patterns": [f".{{0,{n}}}"]}} for n in range(3)], "error",
            "an empty answer passes all 3", id="empty",
        ),
    ],
)  # fmt: skip
def test_trivial_answers_are_really_scored(tmp_path: Path, tasks: list[dict[str, Any]], severity: str, says: str) -> None:
    found = [each for each in linted(tmp_path, *tasks).findings if each.rule == "no-negative-case" and says in each.message]
    assert [each.severity for each in found] == [severity]


def test_an_empty_answer_that_is_the_right_one_is_no_finding(tmp_path: Path) -> None:
    assert rules(linted(tmp_path, {"inputData": {"q": "reverse"}, **value("")}, *GOOD)) == []


def test_generated_tasks_are_named_and_those_without_expectation_are_errors(tmp_path: Path) -> None:
    marked = {"metadata": {"generated": {"by": "schema"}, "reviewed": False}}
    accepted = {"metadata": {"generated": {"by": "schema"}, "reviewed": True}}
    found = linted(
        tmp_path, {"inputData": 1, **marked}, {"inputData": 2, **value("a"), **marked}, {"inputData": 3, **value("b"), **accepted}
    )
    assert rules(found) == [("no-expectation", "t0"), ("unreviewed", "t1")]


def test_the_smallest_difference_is_said_with_what_would_show_ten_points(tmp_path: Path) -> None:
    [note] = linted(tmp_path, *GOOD).findings
    assert (note.rule, note.severity, note.task) == ("smallest-difference", "note", None)
    assert "4 tasks × 1 run" in note.message
    assert "completion 80 %, flakiness 10 % assumed" in note.message
    assert "tasks show 10 points" in note.fix


def test_every_rule_has_a_sentence() -> None:
    assert all(RULES.values())


def landed(store: Store, run: int, skill: str, verdicts: dict[str, bool], digests: dict[str, str]) -> None:
    run_id = f"202611{run + 10}T233824Z-3f9a"
    items = [
        ItemResult(
            run_id=run_id, skill_id=skill, skill_version="1.0.0", benchmark_id="own", benchmark_version="1.0.0", task_id=task,
            run_index=0, status="pass" if passed else "fail", passed=passed, score=float(passed), latency_ms=1.0,
            started_at=datetime(2026, 11, run + 10, tzinfo=UTC), task_digest=digests[task],
        )
        for task, passed in verdicts.items()
    ]  # fmt: skip
    land_items(store, run_id, items)


@pytest.fixture
def past(tmp_path: Path) -> Store:
    """Five runs of each of two skills: t0 always passed, t1 never did, t2 now and then, t3 always before it was changed."""
    store, tasks = Store(str(tmp_path / "store")), [EvalTask(id=f"t{n}", **each) for n, each in enumerate(GOOD)]
    digests = {task.id: task_digest(task, None) for task in tasks} | {"t3": "sha256:0"}
    for run in range(10):
        verdicts = {"t0": True, "t1": False, "t2": run % 2 == 0, "t3": True}
        landed(store, run, "one" if run < 5 else "other", verdicts, digests)
    return store


@pytest.mark.slow
def test_tasks_that_every_stored_run_passed_or_failed_tell_nobody_apart(tmp_path: Path, past: Store) -> None:
    found = linted(tmp_path, *GOOD, store=past)
    assert rules(found) == [("never-discriminates", "t0"), ("never-discriminates", "t1")]
    said = [each.message for each in found.findings[:2]]
    assert said == [f"{what} in all 10 stored items (2 skills, 10 runs)" for what in ("passed", "failed")]
    assert found.figures["stored"] == {"items": 30, "ofOlderTasks": 10}
    assert found.remarks == ["10 stored items of tasks that were changed or removed since did not count"]


@pytest.mark.slow
def test_the_smallest_difference_is_that_of_the_tasks_in_the_store(tmp_path: Path, past: Store) -> None:
    [note] = [each for each in linted(tmp_path, *GOOD, store=past).findings if each.rule == "smallest-difference"]
    assert "completion 50 %" in note.message
    assert "from stored runs" in note.message


@pytest.mark.slow
def test_one_skill_alone_shows_nothing(tmp_path: Path) -> None:
    store, task = Store(str(tmp_path / "store")), EvalTask(id="t0", **GOOD[0])
    for run in range(12):
        landed(store, run, "one", {"t0": True}, {"t0": task_digest(task, None)})
    assert rules(linted(tmp_path, GOOD[0], store=store)) == []
