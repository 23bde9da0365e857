"""What the terminal says of errors and failures below the ranking."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

from eval_skills.cli.output.ranking import LINES, error_summary
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, SkillCompletionReport

BENCHMARK = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": []})


def reports(*items: dict[str, Any]) -> list[SkillCompletionReport]:
    usual = {
        "skill_version": "1.0.0",
        "run_index": 0,
        "score": 0.0,
        "latency_ms": 1.0,
        "started_at": datetime(2026, 1, 1, tzinfo=UTC),
    }
    return skill_reports(pd.DataFrame([{**usual, **item} for item in items]), BENCHMARK, 1_000)


def error(skill: str, task: str, kind: str = "infra", message: str = "connection refused") -> dict[str, Any]:
    return {"skill_id": skill, "task_id": task, "status": "error", "error_kind": kind, "error_message": message}


def failure(skill: str, task: str, run: int = 0) -> dict[str, Any]:
    why = [{"code": "NOT_EQUAL", "message": "4 is not 5", "where": None}]
    return {"skill_id": skill, "task_id": task, "run_index": run, "status": "fail", "reasons": why}


def test_all_kinds_of_errors_are_counted_and_the_first_message_of_the_most_frequent_told() -> None:
    found = reports(error("a", "t1"), error("a", "t2", message="later"), error("a", "t3", "skill", "boom"), error("b", "t1"))
    assert error_summary(found) == [
        "4 errors: 3 infra, 1 skill",
        "3 errors of a@1.0.0: 2 infra, 1 skill; infra, the first of 2 messages: connection refused",
        "1 error of b@1.0.0: infra: connection refused",
    ]


def test_few_failures_are_told_each_with_runs_from_1() -> None:
    assert error_summary(reports(failure("a", "t1", 1))) == ["failed: t1#2 of a@1.0.0: NOT_EQUAL: 4 is not 5"]


def test_the_runs_of_a_task_that_failed_are_one_line() -> None:
    passed = {"skill_id": "a", "task_id": "t1", "run_index": 3, "status": "pass", "score": 1.0}
    found = reports(failure("a", "t1", 1), failure("a", "t1", 2), passed, failure("a", "t2"))
    assert error_summary(found) == [
        "failed: t1 (2 of 3 runs) of a@1.0.0: NOT_EQUAL: 4 is not 5",
        "failed: t2#1 of a@1.0.0: NOT_EQUAL: 4 is not 5",
    ]


def test_of_many_failures_the_first_are_told_and_of_no_trouble_nothing() -> None:
    lines = error_summary(reports(*(failure("a", f"t{number}") for number in range(LINES + 2))))
    assert lines[0] == "failed: t0#1 of a@1.0.0: NOT_EQUAL: 4 is not 5"
    assert lines[LINES:] == ["… and 2 failures more, which the reports have"]
    assert error_summary(reports({"skill_id": "a", "task_id": "t", "status": "pass", "score": 1.0})) == []


def test_the_failures_that_are_not_told_are_counted_with_all_runs() -> None:
    lines = error_summary(reports(*(failure("a", f"t{task}", run) for task in range(LINES + 1) for run in range(2))))
    assert lines[LINES:] == ["… and 2 failures more, which the reports have"]


def test_errors_of_many_skills_are_a_handful_of_lines() -> None:
    lines = error_summary(reports(*(error(f"s{number}", "t") for number in range(9))))
    assert len(lines) == LINES + 1
    assert lines[-1] == "… and 4 errors of other skills: 4 infra"


def test_a_skill_that_could_not_be_asked_is_told_before_those_whose_own_errors_fill_the_lines() -> None:
    own = [error(f"s{number}", "t", "skill", "KeyError") for number in range(LINES)]
    lines = error_summary(reports(*own, error("z", "t"), error("z", "u")))
    assert lines[:2] == ["7 errors: 5 skill, 2 infra", "2 errors of z@1.0.0: infra: connection refused"]
    assert lines[-1] == "… and 1 error of other skills: 1 skill"


@pytest.mark.parametrize("message", ["two\nlines \x1b[31m", "x" * 5_000], ids=["p68-controls", "long"])
def test_a_message_is_one_bounded_line(message: str) -> None:
    [line] = error_summary(reports(error("a", "t", message=message)))
    assert "\n" not in line
    assert "\x1b" not in line
    assert len(line) < 300


def test_a_traceback_is_cut_before_what_it_says_last() -> None:
    [line] = error_summary(reports(error("a", "t", message=f"Traceback: {'File x, ' * 100}KeyError: 'q'")))
    assert line.startswith("1 error of a@1.0.0: infra: Traceback: File x, ")
    assert " more characters) … " in line
    assert line.endswith("KeyError: 'q'")


def test_p68_a_task_id_starts_no_line_of_its_own() -> None:
    [line] = error_summary(reports(failure("a", "t\n1 skill × 1 task × 1 run: 1 passed\x1b[31m")))
    assert line.startswith("failed: t⏎1 skill × 1 task × 1 run: 1 passed\\u001b[31m#1 of a@1.0.0: ")
