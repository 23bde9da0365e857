"""Exact match: scalars by text, the rest by JSON equality."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.models import SkillResponse
from eval_skills.scorers.builtin.exact_match import ExactMatch, within
from tests.tables import each_row


def value_of(expected: Any, output: Any, **options: Any) -> float:
    return ExactMatch(value=expected, **options).score(SkillResponse(output=output)).value


@each_row(
    ("expected", "output", "value"),
    [
        pytest.param("a", " a\n", 1, id="outer-space"),
        pytest.param("a", "A", 0, id="case"),
        pytest.param("5", 5, 1, id="number-as-text"),
        pytest.param(5, 5.0, 1, id="whole-float"),
        pytest.param("true", True, 1, id="true-as-text"),
        pytest.param(1, True, 0, id="true-is-not-1"),
        pytest.param(None, None, 1, id="null"),
        pytest.param(None, "", 0, id="null-is-not-empty"),
        pytest.param("", None, 0, id="empty-is-not-null"),
        pytest.param("x", {"result": "x"}, 1, id="unwrapped"),
        pytest.param({"result": "x"}, {"result": "x"}, 1, id="an-expected-object-is-not-unwrapped"),
        pytest.param({"a": 1}, {"result": {"a": 1}}, 0, id="nor-is-the-answer-then"),
        pytest.param({"a": 1, "b": [1]}, {"b": [1.0], "a": 1.0}, 1, id="key-order-and-1.0"),
        pytest.param({"a": None}, {}, 0, id="null-is-not-absent"),
        pytest.param([1, 2], [2, 1], 0, id="list-order"),
    ],
)
def test_value(expected: Any, output: Any, value: float) -> None:
    assert value_of(expected, output) == value


@each_row(
    ("expected", "output"),
    [
        pytest.param({"b": 2}, {"a": 1}, id="objects"),
        pytest.param([1, 2, 3], "1,2,3", id="list-and-its-text"),
        pytest.param("[object Object]", {"a": 1}, id="object-and-a-text"),
        pytest.param({"a": 1}, '{"a": 1}', id="object-and-its-json-text"),
        pytest.param(["1"], [1], id="text-and-number-inside"),
        pytest.param([True], [1], id="true-and-1-inside"),
    ],
)
def test_p01_objects_and_arrays_never_compare_as_text(expected: Any, output: Any) -> None:
    assert value_of(expected, output) == 0


@pytest.mark.parametrize(
    ("expected", "output"),
    [("Blue", "bLUE "), (["Blue"], ["blue"]), ({"k": "ß"}, {"k": "SS"})],
)
def test_p02_case_sensitive_reaches_the_scorer_at_every_depth(expected: Any, output: Any) -> None:
    assert value_of(expected, output, case_sensitive=False) == 1
    assert value_of(expected, output) == 0


def test_keys_keep_their_case() -> None:
    assert value_of({"K": "a"}, {"k": "a"}, case_sensitive=False) == 0


@each_row(
    ("expected", "output", "value"),
    [
        pytest.param(3.14, 3.14159, 1, id="number"),
        pytest.param("3.14", " 3.145 ", 1, id="text-that-reads-as-number"),
        pytest.param(3.14, 3.16, 0, id="too-far"),
        pytest.param(1.0, 1.01, 1, id="at-the-limit"),
        pytest.param([{"x": 1.0}], [{"x": 1.005}], 1, id="inside"),
        pytest.param(["1.0"], ["1.001"], 0, id="texts-inside-stay-texts"),
        pytest.param([1], [True], 0, id="a-boolean-is-no-number"),
        pytest.param("nan", "NaN!", 0, id="no-number"),
        pytest.param("nan", "NaN", 0, id="nan-is-near-nothing"),
        pytest.param(1, 10**400, 0, id="beyond-floats"),
        pytest.param(1.5, 10**400, 0, id="beyond-floats-beside-one"),
        pytest.param(10, "1_0", 0, id="an-underscore-is-of-no-number"),
        pytest.param(1, "１", 0, id="nor-is-a-wide-digit"),
        pytest.param(1e17, 1.0000000000000002e17, 1, id="floats-by-their-precision"),
    ],
)
def test_numeric_tolerance(expected: Any, output: Any, value: float) -> None:
    assert value_of(expected, output, numeric_tolerance=0.01) == value


@pytest.mark.parametrize("tolerance", [0, 0.01])
@each_row(
    ("expected", "output", "value"),
    [
        pytest.param(1234567890123456789, 1234567890123456788, 0, id="numbers"),
        pytest.param("1234567890123456789", "1234567890123456788", 0, id="texts"),
        pytest.param({"id": 1234567890123456789, "price": 9.99}, {"id": 1234567890123456788, "price": 9.99}, 0, id="inside"),
        pytest.param([2**70], [2**70], 1, id="the-same"),
        pytest.param([2**70], [float(2**70)], 1, id="a-float-of-the-same-value"),
    ],
)
def test_whole_numbers_beyond_the_precision_of_floats_are_compared_exactly(
    expected: Any, output: Any, value: float, tolerance: float
) -> None:
    assert value_of(expected, output, numeric_tolerance=tolerance) == value


def test_a_tolerance_of_whole_numbers_holds_at_any_size() -> None:
    assert [within(2**70, 2**70 + off, 2) for off in (1, 2, 3)] == [True, True, False]


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1e3))
def test_tolerance_is_symmetric_and_zero_means_equal(one: float, other: float, tolerance: float) -> None:
    assert within(one, other, tolerance) == within(other, one, tolerance)
    assert within(one, other, 0) == (one == other)


@each_row(
    ("expected", "output", "options", "said"),
    [
        pytest.param("x" * 900 + "a", "x" * 900 + "b", {}, '; they differ from character 901 on: "a" and "b"', id="late"),
        pytest.param("x" * 900, "x" * 900 + " y", {}, '; they differ from character 901 on: "" and " y"', id="longer"),
        pytest.param(["x" * 900, 1], ["x" * 900, 2], {}, 'on: "1]" and "2]"', id="in-a-list"),
        pytest.param({"a": "x" * 900, "b": 1}, {"b": 2, "a": "x" * 900}, {}, None, id="seen-by-the-first-key"),
        pytest.param("X" * 900 + "a", "x" * 900 + "b", {"case_sensitive": False}, 'on: "a" and "b"', id="not-by-case"),
        pytest.param("Crème", "Cre\u0300me", {}, "; they differ in how accents are written", id="accents"),
        pytest.param(["Crème"], ["Cre\u0300me"], {}, "; they differ in how accents are written", id="accents-in-a-list"),
        pytest.param("10 000 €", "10\u00a0000 €", {}, "; they differ in their spaces: SPACE and NO-BREAK SPACE", id="spaces"),
        pytest.param(["a\u2009b"], ["a b"], {}, "; they differ in their spaces: THIN SPACE and SPACE", id="spaces-in-a-list"),
        pytest.param([float("nan")], [float("nan")], {}, None, id="nan-beside-nan"),
        pytest.param("Crème", "Creme", {}, None, id="seen"),
    ],
)
def test_a_mismatch_that_cannot_be_seen_says_where_it_is(
    expected: Any, output: Any, options: dict[str, Any], said: str | None
) -> None:
    [reason] = ExactMatch(value=expected, **options).score(SkillResponse(output=output)).reasons
    assert (said or "") in reason.message
    assert ("they differ" in reason.message) is (said is not None)


def test_a_mismatch_deeper_than_python_recurses_is_one() -> None:
    expected: Any = 1
    output: Any = 2
    for _ in range(5_000):
        expected, output = {"a": expected}, {"a": output}
    assert ExactMatch(value=expected).score(SkillResponse(output=output)).value == 0


def test_a_mismatch_shows_both_values() -> None:
    score = ExactMatch(value="Bern").score(SkillResponse(output={"result": "Basel"}))
    assert [(each.code, each.message, each.where) for each in score.reasons] == [
        ("OUTPUT_MISMATCH", 'expected "Bern", got "Basel"', "output")
    ]
