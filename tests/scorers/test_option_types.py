"""What a wrong option is told: what was expected, what came, and where."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError

from eval_skills.core.models.base import Rate, Text
from eval_skills.scorers.option_types import converted, misfit

Scale = tuple[float, float] | None
Models = tuple[Text | None, ...]
Choices = dict[str, Rate] | None


@pytest.mark.parametrize(
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
        pytest.param(bool, "x" * 1_000, "", f"expected true or false, got '{'x' * 79}…", id="p08-huge"),
    ],
)
def test_p40_a_wrong_value_is_told_in_words_with_its_place(hint: Any, value: Any, place: str, message: str) -> None:
    with pytest.raises(ValidationError):
        converted(hint, value)
    wrong = misfit(hint, value)
    assert (wrong.place, str(wrong)) == (place, message)
