"""When two JSON values are the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.documents.json_equality import json_equal, json_key
from tests.tables import each_row

SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 0.5]) | st.sampled_from(["", "1", "true"])
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner), max_leaves=6
)


@each_row(
    ("one", "other", "equal"),
    [
        pytest.param(1, 1.0, True, id="1-is-1.0"),
        pytest.param(True, 1, False, id="true-is-not-1"),
        pytest.param(0, False, False, id="false-is-not-0"),
        pytest.param("1", 1, False, id="text-is-no-number"),
        pytest.param(None, False, False, id="null-is-null-alone"),
        pytest.param({"a": None}, {}, False, id="null-is-not-absent"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, id="key-order-is-free"),
        pytest.param([1, 2], [2, 1], False, id="list-order-counts"),
        pytest.param([1], [1, 1], False, id="length-counts"),
        pytest.param([1], (1,), True, id="a-tuple-is-an-array"),
        pytest.param({}, [], False, id="object-is-no-array"),
        pytest.param([[True]], [[1]], False, id="at-every-depth"),
        pytest.param({"0": 1}, [1], False, id="no-index-for-a-key"),
    ],
)
def test_p01_equality(one: Any, other: Any, equal: bool) -> None:
    assert json_equal(one, other) is equal
    assert json_equal(other, one) is equal
    assert (json_key(one) == json_key(other)) is equal


@given(JSON, JSON)
def test_keys_agree_with_equality(one: Any, other: Any) -> None:
    assert json_equal(one, one)
    assert json_equal(one, other) == (json_key(one) == json_key(other))


def test_any_depth_can_be_compared() -> None:
    one: Any = 1
    other: Any = 1.0
    for _ in range(50_000):
        one, other = [one], [other]
    assert json_equal(one, other)


def test_scalars_may_be_compared_otherwise() -> None:
    assert json_equal({"a": ["X"]}, {"a": ["x"]}, scalars=lambda one, other: bool(one.lower() == other.lower()))
