"""The mean of each dimension, over the items that were scored on it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark, SkillCompletionReport
from eval_skills.core.models.report import in_order
from tests.tables import each_row

BENCHMARK = Benchmark.model_validate({"id": "b", "name": "B", "version": "1.0.0", "tasks": []})


def reports(*rows: dict[str, Any]) -> list[SkillCompletionReport]:
    """The reports of items that differ in these columns only; each is a task of its own."""
    known = {"skill_id": "s", "skill_version": "1.0.0", "run_index": 0, "status": "fail", "score": 0.0, "latency_ms": 1.0}
    frame = pd.DataFrame([{**known, "task_id": f"t{index}", **row} for index, row in enumerate(rows)])
    return skill_reports(frame, BENCHMARK, timeout_ms=1000)


def means(report: SkillCompletionReport) -> dict[str, tuple[float, int]]:
    return {name: (found.mean, found.items) for name, found in report.dimensions.items()}


MIXED = {"zeal": 1, "hallucination": 0.0, "tool_accuracy": 0.2}


@each_row(
    ("cells", "expected"),
    [
        pytest.param([{"x": 1.0}, {}, {"x": 0.0}, {"x": 0.5}], {"x": (0.5, 3)}, id="not-configured-is-not-zero"),
        pytest.param([[("x", 1.0)], None, float("nan")], {"x": (1.0, 1)}, id="maps-as-pairs-and-nothing-at-all"),
        pytest.param([{}, {}], {}, id="none"),
        pytest.param([MIXED], {"tool_accuracy": (0.2, 1), "hallucination": (0.0, 1), "zeal": (1.0, 1)}, id="any-name"),
    ],
)
def test_means(cells: list[Any], expected: dict[str, tuple[float, int]]) -> None:
    [report] = reports(*({"dimensions": cell} for cell in cells))
    assert means(report) == expected
    assert list(report.dimensions) == list(expected), "those of agent runs come first"


def test_each_skill_has_its_own_whatever_the_order_of_the_rows() -> None:
    rows = [{"skill_id": name, "dimensions": {"x": value}} for name, value in [("b", 1.0), ("a", 0.0), ("b", 0.5), ("a", 0.5)]]
    assert [means(report) for report in reports(*rows)] == [{"x": (0.25, 2)}, {"x": (0.75, 2)}]


def test_which_item_ended_first_does_not_change_the_order_of_the_names() -> None:
    rows = [{"task_id": "a", "dimensions": {"zeal": 1.0}}, {"task_id": "b", "dimensions": {"duration": 1.0, "zeal": 0.0}}]
    for ended in (rows, rows[::-1]):
        [report] = reports(*ended)
        assert list(report.dimensions) == ["zeal", "duration"]


def test_columns_of_their_own_stand_in_for_the_map() -> None:
    [report] = reports({"tool_accuracy": 0.5, "forbidden_tools_called": 2}, {"tool_accuracy": None, "forbidden_tools_called": 0})
    assert means(report) == {"tool_accuracy": (0.5, 1)}
    assert report.summary.forbidden_items == 1


def test_an_item_that_called_two_forbidden_tools_is_one() -> None:
    said = [{"code": "FORBIDDEN_TOOL_CALLED", "message": "m", "where": ""}]
    [report] = reports({"reasons": said * 2}, {"reasons": said}, {"reasons": []})
    assert report.summary.forbidden_items == 2


def test_what_the_items_do_not_know_is_unknown() -> None:
    [report] = reports({})
    assert (report.dimensions, report.summary.forbidden_items) == ({}, None)


@each_row("value", [1.5, -0.1, "1", True])
def test_a_score_outside_its_range_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="dimension 'x' must"):
        reports({"dimensions": {"x": value}})


def test_names_keep_their_place() -> None:
    assert in_order(["b", "hallucination", "a", "tool_accuracy", "b"]) == ["tool_accuracy", "hallucination", "b", "a"]
