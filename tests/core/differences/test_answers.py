"""An answer compared with what was expected of it."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.differences import answer_difference, difference_of
from eval_skills.core.models import TaskResult
from tests.tables import each_row


def item(**fields: Any) -> TaskResult:
    given: dict[str, Any] = {
        "task_id": "t",
        "run_index": 0,
        "status": "fail",
        "passed": False,
        "expected": {"value": 5},
        "output": 6,
    }
    return TaskResult.model_validate(given | fields)


@each_row(
    ("expected", "output", "found"),
    [
        pytest.param("5", 5.0, {}, id="scalars-are-texts"),
        pytest.param(
            5, {"result": 6}, {"words": [["removed", "5"], ["added", "6"]],
            "notes": ["what the answer holds under 'result' is compared"]},
            id="unwrapped",
        ),
        pytest.param(
            {"result": 5}, {"result": 6}, {"changes": [{"path": "result", "kind": "value", "expected": "5", "got": "6"}]},
            id="an-expected-object-is-compared-whole",
        ),
        pytest.param(
            {"a": 1}, '{"a": 2}',
            {
                "changes": [{"path": "a", "kind": "value", "expected": "1", "got": "2"}],
                "notes": ["the answer is a text; the JSON that it spells is compared"],
            },
            id="json-in-a-text",
        ),
        pytest.param(
            {"a": 1}, "none", {"changes": [
                {"path": "", "kind": "type", "expected": '{"a": 1}', "got": '"none"', "types": ["object", "text"]}
            ]},
            id="another-type",
        ),
    ],
)  # fmt: skip
def test_answers(expected: Any, output: Any, found: dict[str, Any]) -> None:
    difference = answer_difference(expected, output)
    assert {name: value for name, value in difference.to_json().items() if not (difference.is_empty and name == "words")} == found


@each_row(
    "fields",
    [
        pytest.param({"status": "pass", "passed": True}, id="passed"),
        pytest.param({"status": "error", "output": None}, id="error"),
        pytest.param({"error_kind": "skill", "output": None}, id="forbidden-call-without-an-answer"),
        pytest.param({"expected": {"keywords": ["a"]}}, id="no-value-expected"),
        pytest.param({"expected": None}, id="nothing-expected"),
        pytest.param({"output": " 5 "}, id="equal"),
    ],
)
def test_nothing_to_compare(fields: dict[str, Any]) -> None:
    assert difference_of(item(), item().expected) is not None
    assert difference_of(item(**fields), item(**fields).expected) is None


def test_an_expected_null_is_compared() -> None:
    found = difference_of(item(output="x"), {"value": None})
    assert found is not None
    assert found.words is not None
    assert [part.text for part in found.words.parts] == ["null", "x"]
