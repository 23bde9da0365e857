"""Options come from `evaluator` and `expectedOutput`, are checked strictly, and every one reaches the scorer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask
from eval_skills.core.models.base import Rate, Text
from eval_skills.scorers import ScoringSettings
from eval_skills.scorers.options import Option, Options, given_options
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
        pytest.param(
            {"type": "exact", "caseSensitive": "no"},
            {"value": 1},
            "evaluator.caseSensitive",
            'give true or false; got "no"',
            id="text",
        ),
        pytest.param(
            {"type": "exact", "numericTolerance": -1},
            {"value": 1},
            "evaluator.numericTolerance",
            "input should be greater than or equal to 0; got -1",
            id="negative",
        ),
        pytest.param(
            {"type": "exact", "numericTolerance": float("nan")},
            {"value": 1},
            "evaluator.numericTolerance",
            "give a finite number; got NaN",
            id="p06-nan",
        ),
        pytest.param({"type": "contains", "keywords": ["a", 1]}, None, "evaluator.keywords[1]", "give text; got 1", id="item"),
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


Scale = tuple[float, float] | None
Models = tuple[Text | None, ...]
Choices = dict[str, Rate] | None
Short = Annotated[str, Field(min_length=2)]


class Range(BaseModel):
    low: int


class Foreign:
    pass


def checked(hint: Any, value: Any) -> Any:
    """The value of the one option `size`, which has this type."""
    return Options(size=Option("size", True, hint)).checked({"size": ("evaluator.size", value)})["size"]


@each_row(
    ("hint", "value", "place", "message"),
    [
        pytest.param(bool, 1, "", "give true or false; got 1", id="bool"),
        pytest.param(int, True, "", "give a whole number; got true", id="no-bool-for-a-number"),
        pytest.param(float, float("nan"), "", "give a finite number; got NaN", id="p06-nan"),
        pytest.param(Rate, 2, "", "input should be less than or equal to 1; got 2", id="bounds"),
        pytest.param(Annotated[int, Field(gt=0)], 0, "", "input should be greater than 0; got 0", id="open-bound"),
        pytest.param(Text | None, " ", "", "blank text; give a value", id="null-is-left-out"),
        pytest.param(Scale, "0-1", "", 'give a list; got "0-1"', id="no-list"),
        pytest.param(Scale, [0], "[1]", "an item is missing here", id="too-short"),
        pytest.param(Scale, [0, "1"], "[1]", 'give a number; got "1" (write 1 without quotes)', id="an-end"),
        pytest.param(Models, ["a", 5], "[1]", "give text; got 5", id="item"),
        pytest.param(Choices, {"a": 1, "b": [1]}, ".b", "give a number; got [1]", id="value"),
        pytest.param(str | tuple[str, ...], {}, "", "give text or a list; got {}", id="either"),
        pytest.param(str | tuple[str, ...], ["a", None], "[1]", "give text; got null", id="inside-the-list"),
        pytest.param(
            Literal["one", "each"],
            "eech",
            "",
            "input should be 'one' or 'each'; got \"eech\" (did you mean 'each'?)",
            id="choice",
        ),
        pytest.param(list[str], ["a", 1], "[1]", "give text; got 1", id="list"),
        pytest.param(list[str], "a", "", 'give a list; got "a"', id="text-is-no-list"),
        pytest.param(set[str] | None, ["a", 1], "[1]", "give text; got 1", id="set"),
        pytest.param(set[str], [["a"]], "[0]", 'give text; got ["a"]', id="set-of-lists"),
        pytest.param(Sequence[str], ["a", 1], "[1]", "give text; got 1", id="sequence"),
        pytest.param(tuple, 1, "", "give a list; got 1", id="bare-tuple"),
        pytest.param(tuple[()], [1], "", "give at most 0 items; got [1]", id="empty-tuple"),
        pytest.param(tuple[int, str], 5, "", "give a list; got 5", id="unlike-places"),
        pytest.param(dict[str, list[str]], {"a": ["b", 1]}, ".a[1]", "give text; got 1", id="list-in-an-object"),
        pytest.param(dict[int, str], {"a": "b"}, ".a", 'give a whole number; got "a"', id="key"),
        pytest.param(Short, "a", "", 'string should have at least 2 characters; got "a"', id="rule-without-words"),
        pytest.param(Short | None, 5, "", "give text; got 5", id="kind-before-rule"),
        pytest.param(list[Short], ["ab", "a"], "[1]", 'string should have at least 2 characters; got "a"', id="rule-inside"),
        pytest.param(Range, {"low": "x"}, ".low", 'give a whole number; got "x"', id="model"),
        pytest.param(list[Range], [{"low": 1}, 5], "[1]", "give an object; got 5", id="models"),
        pytest.param(Range | str, 5, "", "give an object or text; got 5", id="model-or-text"),
        pytest.param(bool, "x" * 1_000, "", f'give true or false; got "{"x" * 79}…', id="p08-huge"),
        pytest.param(Scale, [0, 1, 2], "", "give at most 2 items; got [0, 1, 2]", id="too-long"),
        pytest.param(Foreign, 5, "", "input should be an instance of Foreign; got 5", id="a-class-of-a-plug-in"),
    ],
)
def test_p40_a_wrong_value_is_named_with_its_place_and_what_is_valid(hint: Any, value: Any, place: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        checked(hint, value)
    assert (caught.value.path, caught.value.message) == (f"evaluator.size{place}", message)


@each_row(
    ("hint", "value", "found"),
    [
        pytest.param(tuple, ["a"], ("a",), id="tuple"),
        pytest.param(frozenset[str] | None, ["a", "a"], frozenset({"a"}), id="set"),
        pytest.param(list[tuple[int, int]], [[1, 2]], [(1, 2)], id="inside-a-list"),
        pytest.param(dict[str, set[str]], {"a": ["b"]}, {"a": {"b"}}, id="inside-an-object"),
        pytest.param(list[int] | tuple[str, ...], ["a"], ("a",), id="whichever-fits"),
    ],
)
def test_an_array_stands_for_any_collection(hint: Any, value: Any, found: Any) -> None:
    assert checked(hint, value) == found
