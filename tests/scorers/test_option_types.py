"""What a wrong option is told: what was expected, what came, and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from eval_skills.core.models.base import Rate, Text
from eval_skills.scorers.option_types import converted, misfit
from tests.tables import each_row

Scale = tuple[float, float] | None
Models = tuple[Text | None, ...]
Choices = dict[str, Rate] | None
Short = Annotated[str, Field(min_length=2)]


class Range(BaseModel):
    low: int


@each_row(
    ("hint", "value", "place", "message"),
    [
        pytest.param(bool, 1, "", "expected true or false, got 1", id="bool"),
        pytest.param(int, True, "", "expected a whole number, got true", id="no-bool-for-a-number"),
        pytest.param(float, float("nan"), "", "expected a number, got NaN", id="p06-nan"),
        pytest.param(Rate, 2, "", "expected a number from 0 to 1, got 2", id="bounds"),
        pytest.param(Annotated[int, Field(gt=0)], 0, "", "expected a whole number above 0, got 0", id="open-bound"),
        pytest.param(Text | None, " ", "", "expected text that is not blank, got ' '", id="null-is-left-out"),
        pytest.param(Scale, "0-1", "", "expected a list of 2 values, each a number, got '0-1'", id="no-list"),
        pytest.param(Scale, [0], "", "expected a list of 2 values, each a number, got [0]", id="too-short"),
        pytest.param(Scale, [0, "1"], "[1]", "expected a number, got '1'", id="an-end"),
        pytest.param(Models, ["a", 5], "[1]", "expected null or text that is not blank, got 5", id="item"),
        pytest.param(Choices, {"a": 1, "b": [1]}, ".b", "expected a number from 0 to 1, got [1]", id="value"),
        pytest.param(str | tuple[str, ...], {}, "", "expected text or a list of values, each text, got {}", id="either"),
        pytest.param(str | tuple[str, ...], ["a", None], "[1]", "expected text, got null", id="inside-the-list"),
        pytest.param(
            Literal["one", "each"], "eech", "", "expected one of 'one', 'each', got 'eech' (did you mean 'each'?)", id="choice"
        ),
        pytest.param(list[str], ["a", 1], "[1]", "expected text, got 1", id="list"),
        pytest.param(list[str], "a", "", "expected a list of values, each text, got 'a'", id="text-is-no-list"),
        pytest.param(set[str] | None, ["a", 1], "[1]", "expected text, got 1", id="set"),
        pytest.param(set[str], [["a"]], "[0]", 'expected text, got ["a"]', id="set-of-lists"),
        pytest.param(Sequence[str], ["a", 1], "[1]", "expected text, got 1", id="sequence"),
        pytest.param(tuple, 1, "", "expected a list, got 1", id="bare-tuple"),
        pytest.param(tuple[()], [1], "", "expected an empty list, got [1]", id="empty-tuple"),
        pytest.param(tuple[int, str], 5, "", "expected a list of 2 values: a whole number, text, got 5", id="unlike-places"),
        pytest.param(dict[str, list[str]], {"a": ["b", 1]}, ".a[1]", "expected text, got 1", id="list-in-an-object"),
        pytest.param(dict[int, str], {"a": "b"}, ".a", "expected a whole number, got 'a'", id="key"),
        pytest.param(Short, "a", "", "String should have at least 2 characters, got 'a'", id="rule-without-words"),
        pytest.param(Short | None, 5, "", "expected text, got 5", id="kind-before-rule"),
        pytest.param(list[Short], ["ab", "a"], "[1]", "String should have at least 2 characters, got 'a'", id="rule-inside"),
        pytest.param(Range, {"low": "x"}, ".low", "expected a whole number, got 'x'", id="model"),
        pytest.param(list[Range], [{"low": 1}, 5], "[1]", "expected an object, got 5", id="models"),
        pytest.param(Range | str, 5, "", "expected a value of type Range or text, got 5", id="model-or-text"),
        pytest.param(bool, "x" * 1_000, "", f"expected true or false, got '{'x' * 79}…", id="p08-huge"),
    ],
)
def test_p40_a_wrong_value_is_told_in_words_with_its_place(hint: Any, value: Any, place: str, message: str) -> None:
    with pytest.raises(ValidationError):
        converted(hint, value)
    wrong = misfit(hint, value)
    assert (wrong.place, str(wrong)) == (place, message)


@pytest.mark.parametrize(
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
    assert converted(hint, value) == found
