"""Finding the answer in an output, and its text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_skills.core.text import LONG_CHARS, is_long
from eval_skills.scorers.answer import scalar_text, searchable_text, text_of, unwrapped
from tests.tables import each_row

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@each_row(
    ("output", "answer"),
    [
        pytest.param({"answer": 1, "output": 2, "result": 3}, 3, id="result-first"),
        pytest.param({"answer": 1, "output": 2}, 2, id="then-output"),
        pytest.param({"answer": 1}, 1, id="then-answer"),
        pytest.param({"result": None, "output": 2}, None, id="null-is-an-answer"),
        pytest.param({"result": {"result": 1}}, {"result": 1}, id="once"),
        pytest.param({"other": 1}, {"other": 1}, id="object-without-them"),
        pytest.param([{"result": 1}], [{"result": 1}], id="list"),
        pytest.param("text", "text", id="text"),
    ],
)
def test_unwrapping(output: Any, answer: Any) -> None:
    assert unwrapped(output) == answer


@each_row(
    ("value", "text"),
    [(True, "true"), (None, "null"), (5, "5"), (5.0, "5"), (0.5, "0.5"), (-0.0, "0"), ("true", "true"), (1e300, "1e+300")],
)
def test_text_of_scalars_is_their_json(value: Any, text: str) -> None:
    assert scalar_text(value) == text


def test_p03_keys_are_no_text() -> None:
    assert text_of({"key": {"inner": "value", "flag": True}, "n": [1, None, 2.5]}) == "value\ntrue\n1\n2.5"


def test_p04_text_is_decoded() -> None:
    assert text_of({"k": 'two\nlines and "quotes"'}) == 'two\nlines and "quotes"'


@each_row("empty", [None, "", {}, [], [None], {"k": {}}])
def test_nothing_is_empty_text(empty: Any) -> None:
    assert text_of(empty) == ""


def test_any_depth_can_be_read() -> None:
    deep: Any = "bottom"
    for _ in range(20_000):
        deep = [deep]
    assert text_of(deep) == "bottom"
    assert is_long(deep)


@pytest.mark.slow
@settings(max_examples=50)
@given(JSON)
def test_every_text_inside_is_found_and_short_values_are_short(value: Any) -> None:
    text = text_of({"k": ["needle", value]})
    assert "needle" in text.split("\n")
    assert not is_long(value, 10_000_000)


@each_row(
    "value",
    ["x" * (LONG_CHARS + 1), ["x"] * LONG_CHARS, {"k": list(range(LONG_CHARS))}, {"x" * LONG_CHARS: "y"}],
)
async def test_long_values_are_known_and_read_all_the_same(value: Any) -> None:
    assert is_long(value)
    assert await searchable_text(value) == text_of(value)
