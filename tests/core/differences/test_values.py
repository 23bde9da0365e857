"""Two JSON values compared place by place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from eval_skills.core.differences import json_changes
from eval_skills.core.differences.values import MAX_CHANGES, MAX_VALUES
from eval_skills.core.documents.json_equality import json_equal
from tests.core.documents.test_json_equality import JSON
from tests.tables import each_row


@each_row(
    ("expected", "got", "lines"),
    [
        pytest.param({"rows": [{"b": 1}, {"b": 3.6}]}, {"rows": [{"b": 1}, {"b": 3.5}]}, ["rows[1].b: 3.6 ≠ 3.5"], id="value"),
        pytest.param({"a": 5}, {"a": "5"}, ['a: number 5 ≠ text "5"'], id="other-type"),
        pytest.param({"a": 1}, {"a": True}, ["a: number 1 ≠ boolean true"], id="true-is-not-1"),
        pytest.param({"a": 1, "b": None}, {"a": 1.0}, ["b: missing, null"], id="null-is-not-absent"),
        pytest.param({}, {"x": {"y": [1]}}, ['x: extra, {"y": [1]}'], id="extra"),
        pytest.param([1, 2, 3, 4], [1, 3, 4], ["[1]: missing, 2"], id="one-entry-is-missing"),
        pytest.param([1, -1], [1, -2, -1], ["[1]: extra, -2"], id="one-entry-is-extra"),
        pytest.param([0, 1, {"a": 1}], [1, {"a": 2}], ["[0]: missing, 0", "[2].a (in the answer [1].a): 1 ≠ 2"], id="moved"),
        pytest.param({"a.b": {"": 1}}, {"a.b": {"": 2}}, ['["a.b"][""]: 1 ≠ 2'], id="odd-names"),
        pytest.param([1], "[1]", ['the whole: list [1] ≠ text "[1]"'], id="the-whole"),
        pytest.param({"b": 1, "a": 2}, {"a": 2.0, "b": 1}, [], id="equal"),
    ],
)
def test_places(expected: Any, got: Any, lines: list[str]) -> None:
    assert [change.text for change in json_changes(expected, got).changes] == lines


@given(JSON, JSON)
def test_no_change_is_equality(one: Any, other: Any) -> None:
    assert (not json_changes(one, other).changes) == json_equal(one, other)


def test_longer_texts_inside_are_compared_by_word() -> None:
    (change,) = json_changes({"a": "the quick brown fox"}, {"a": "the quick red fox"}).changes
    assert change.words is not None
    assert [part.text for part in change.words.parts if part.kind != "equal"] == ["brown ", "red "]


def test_many_changes_are_counted() -> None:
    found = json_changes(list(range(300)), list(range(1, 301)))
    assert (len(found.changes), found.more, found.is_complete) == (MAX_CHANGES, 300 - MAX_CHANGES, True)


@pytest.mark.slow
def test_what_is_huge_is_not_compared_to_its_end() -> None:
    found = json_changes([0] * (MAX_VALUES + 1), [0] * MAX_VALUES + [1])
    assert (found.changes, found.is_complete) == ((), False)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [pytest.param(3_000, id="deep"), pytest.param(200_000, id="too-deep")])
def test_values_may_be_nested_deeper_than_python_recurses(depth: int) -> None:
    one: Any = 1
    other: Any = 2
    for _ in range(depth):
        one, other = [one], [other]
    found = json_changes({"a": [one, 1]}, {"a": [other]})
    assert found.is_complete == (depth < MAX_VALUES)
    if found.is_complete:
        assert [change.kind for change in found.changes] == ["value", "missing"]
        assert found.changes[0].path.startswith("…")
