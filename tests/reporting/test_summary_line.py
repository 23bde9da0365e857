"""A run in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import RunCounts, count_run, summary_line

MakeReport = Callable[..., SkillCompletionReport]


def counts(**fields: Any) -> RunCounts:
    usual = {"passed": 140, "failed": 30, "errors": 10, "timeouts": 0, "skills": 3, "tasks": 20, "runs": 3, "seconds": 4.2}
    return RunCounts(**{**usual, **fields})


@pytest.mark.parametrize(
    ("given", "line"),
    [
        pytest.param(counts(), "3 skills × 20 tasks × 3 runs: 140 passed, 30 failed, 10 errors in 4.2 s", id="plain"),
        pytest.param(
            counts(skills=1, tasks=1, runs=1, errors=1, timeouts=1, seconds=61),
            "1 skill × 1 task × 1 run: 140 passed, 30 failed, 1 error, 1 timeout in 1 min 1 s",
            id="one-of-each",
        ),
        pytest.param(
            counts(passed=12_345, timeouts=2),
            "3 skills × 20 tasks × 3 runs: 12,345 passed, 30 failed, 10 errors, 2 timeouts in 4.2 s",
            id="timeouts",
        ),
    ],
)
def test_line(given: RunCounts, line: str) -> None:
    assert summary_line(given) == line


def test_counts_of_reports(make_report: MakeReport) -> None:
    first = {"counts": {"pass": 1, "fail": 1, "timeout": 1}, "tasks": 1, "runs": 3}
    second = {"counts": {"pass": 1, "error": 1}, "tasks": 2, "runs": 1}
    reports = [make_report("a", summary=first), make_report("b", summary=second), make_report("c")]
    expected = RunCounts(passed=2, failed=1, errors=1, timeouts=1, skills=3, tasks=2, runs=3, seconds=0.5)
    assert count_run(reports, 0.5) == expected


def test_counts_of_nothing() -> None:
    assert summary_line(count_run([], 0.0)) == "0 skills × 0 tasks × 0 runs: 0 passed, 0 failed, 0 errors in 0.0 s"
