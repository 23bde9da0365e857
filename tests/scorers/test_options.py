"""Options come from `evaluator` and `expectedOutput`, are checked strictly, and every one reaches the scorer."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask
from eval_skills.scorers import ScoringSettings
from eval_skills.scorers.options import given_options
from eval_skills.scorers.registry import find_scorer
from tests.tables import each_row


def options(evaluator: dict[str, Any] | None, expected: dict[str, Any] | None = None) -> dict[str, Any]:
    task = EvalTask.model_validate({"id": "t", "evaluator": evaluator, "expectedOutput": expected})
    entry = find_scorer(task.evaluator_type or "exact")
    return given_options(entry.name, entry.options, task, ScoringSettings())


@each_row(
    ("evaluator", "expected", "given"),
    [
        pytest.param(None, {"value": None}, {"value": None}, id="p10-null-is-a-value"),
        pytest.param(
            {"type": "exact", "caseSensitive": False}, {"value": 1}, {"value": 1, "case_sensitive": False}, id="p02-camel"
        ),
        pytest.param({"type": "exact", "case_sensitive": False}, {"value": 1}, {"value": 1, "case_sensitive": False}, id="snake"),
        pytest.param({"type": "contains", "keywords": ["a"]}, None, {"keywords": ("a",)}, id="all-in-evaluator"),
        pytest.param(
            {"type": "exact", "numericTolerance": 1}, {"value": 1}, {"value": 1, "numeric_tolerance": 1.0}, id="int-for-float"
        ),
        pytest.param(
            {"type": "contains"}, {"keywords": ["a"], "value": "x"}, {"keywords": ("a",)}, id="other-scorers-fields-wait"
        ),
        pytest.param({"type": "schema"}, {"schema": False}, {"schema": False}, id="false-is-a-schema"),
    ],
)
def test_given(evaluator: dict[str, Any] | None, expected: dict[str, Any] | None, given: dict[str, Any]) -> None:
    assert options(evaluator, expected) == given


@each_row(
    ("evaluator", "expected", "path", "message"),
    [
        pytest.param(
            {"type": "exact", "caseSensitiv": 1}, {"value": 1}, "evaluator.caseSensitiv", "did you mean 'caseSensitive'", id="p02"
        ),
        pytest.param(
            {"type": "custom", "settings": {}}, {"customScorerPath": "x"}, "evaluator.settings", "no such", id="filled-in"
        ),
        pytest.param({"type": "exact", "caseSensitive": "no"}, {"value": 1}, "evaluator.caseSensitive", "got 'no'", id="text"),
        pytest.param(
            {"type": "exact", "numericTolerance": -1},
            {"value": 1},
            "evaluator.numericTolerance",
            "a number of at least 0, got -1",
            id="negative",
        ),
        pytest.param(
            {"type": "exact", "numericTolerance": float("nan")},
            {"value": 1},
            "evaluator.numericTolerance",
            "got NaN",
            id="p06-nan",
        ),
        pytest.param(
            {"type": "contains", "keywords": ["a", 1]}, None, "evaluator.keywords[1]", "expected text, got 1", id="item"
        ),
        pytest.param(
            {"type": "contains", "keywords": ["a"]}, {"keywords": ["b"]}, "evaluator.keywords", "keep one", id="two-places"
        ),
        pytest.param(
            {"type": "contains", "notContains": [], "not_contains": []},
            {"keywords": ["b"]},
            "evaluator.not_contains",
            "twice",
            id="two",
        ),
        pytest.param({"type": "exact"}, None, "expectedOutput.value", "needs this value", id="p10-no-value"),
        pytest.param(
            None, {"type": "contains", "value": "x"}, "expectedOutput.keywords", "needs this value", id="p10-no-keywords"
        ),
        pytest.param({"type": "sequence"}, None, "evaluator.expected", "needs this value", id="own-option-missing"),
    ],
)
def test_refused(evaluator: dict[str, Any] | None, expected: dict[str, Any] | None, path: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        options(evaluator, expected)
    assert caught.value.path == path
