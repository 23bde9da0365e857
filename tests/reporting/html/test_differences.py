"""The differences of the answers in a page."""

from __future__ import annotations

from typing import Any

from eval_skills.core.models import TaskResult
from eval_skills.reporting.html.differences import LEFT_OUT, DifferenceTable


def item(output: Any, **fields: Any) -> TaskResult:
    given: dict[str, Any] = {"task_id": "t", "run_index": 0, "status": "fail", "passed": False, "expected": {"value": [1, 2]}}
    return TaskResult.model_validate(given | {"output": output} | fields)


def test_equal_answers_to_a_task_share_their_difference() -> None:
    table = DifferenceTable()
    assert [table.add(item(output), 0) for output in ([1], [1], [2], [1, 2])] == [0, 0, 1, None]
    assert table.add(item([1]), 1) == 2
    assert [len(row["changes"]) for row in table.rows] == [1, 1, 1]


def test_after_the_budget_no_more_is_compared() -> None:
    table = DifferenceTable(budget=10)
    assert [table.add(item([number]), 0) for number in (1, 2, 3)] == [0, LEFT_OUT, LEFT_OUT]


def test_texts_are_harmless() -> None:
    table = DifferenceTable()
    table.add(item({"a\u202eb": "\x1b[31m"}, expected={"value": {}}), 0)
    (change,) = table.rows[0]["changes"]
    assert "\u202e" not in change["path"]
    assert change["got"] == '"\\u001b[31m"'
