"""``benchmark.json``: the sign of the difference, and what is unknown."""

from __future__ import annotations

from typing import Any

from eval_skills.agent_skills.workspaces.benchmark_file import BenchmarkFile, MeasuredRun, as_number, benchmark_content
from eval_skills.agent_skills.workspaces.grading import GradedAssertion
from tests.tables import each_row


def measured(configuration: str, passed: bool, **more: Any) -> MeasuredRun:
    held = (GradedAssertion(text="a", passed=passed),)
    return MeasuredRun(eval_id=1, eval_name="one", configuration=configuration, number=1, assertions=held, **more)


@each_row(
    ("runs", "first", "delta"),
    [
        ([measured("without_skill", False), measured("with_skill", True)], "with_skill", "+1.00"),
        ([measured("old_skill", True), measured("with_skill", False)], "with_skill", "-1.00"),
        ([measured("a", True), measured("sham_skill", False), measured("with_skill", True)], "with_skill", "+1.00"),
    ],
)
def test_the_difference_is_with_minus_the_other(runs: list[MeasuredRun], first: str, delta: str) -> None:
    summary = benchmark_content(runs, {})["run_summary"]
    assert next(iter(summary)) == first
    assert summary["delta"]["pass_rate"] == delta


def test_unknown_figures_are_null_and_never_0() -> None:
    content = benchmark_content([measured("with_skill", True), measured("without_skill", True, seconds=2.0)], {})
    assert content["run_summary"]["with_skill"]["time_seconds"] is None
    assert content["run_summary"]["without_skill"]["time_seconds"]["mean"] == 2
    assert content["run_summary"]["delta"] == {"pass_rate": "+0.00", "time_seconds": None, "tokens": None}
    assert [run["result"]["tokens"] for run in content["runs"]] == [None, None]


def test_what_is_written_is_read_back() -> None:
    content = benchmark_content([measured("with_skill", True, tokens=10), measured("without_skill", False, tokens=5)], {})
    read = BenchmarkFile.model_validate(content)
    assert [(run.configuration, run.result.pass_rate, run.eval_id) for run in read.runs] == [
        ("with_skill", 1.0, "1"),
        ("without_skill", 0.0, "1"),
    ]
    assert read.delta == {"pass_rate": 1.0, "time_seconds": None, "tokens": 5.0}


@each_row(
    ("value", "number"),
    [
        ("+0.50", 0.5),
        ("−3.0s", -3.0),
        (0.5, 0.5),
        (1, 1.0),
        ("—", None),
        (True, None),
        ("nan", None),
        ({}, None),
        ("9" * 400, None),
    ],
)
def test_a_difference_is_a_number_or_signed_text(value: Any, number: float | None) -> None:
    assert as_number(value) == number
