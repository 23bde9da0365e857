"""BFCL's rules by example; that they are those of the official checker is tried in `test_bfcl_official.py`."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse, ToolCall
from eval_skills.scorers import Score
from eval_skills.scorers.bfcl.scorer import Bfcl, Category
from tests.tables import each_row

PROPERTIES = {
    "count": {"type": "integer"},
    "rate": {"type": "float"},
    "city": {"type": "string"},
    "flag": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "pair": {"type": "tuple", "items": {"type": "float"}},
    "where": {"type": "dict"},
    "stops": {"type": "array", "items": {"type": "dict"}},
}
DOCUMENT = {"name": "trip.book", "parameters": {"type": "dict", "properties": PROPERTIES, "required": []}}


def scored(gold: list[dict[str, Any]], calls: list[Any], category: Category = "parallel", **options: Any) -> Score:
    judge = Bfcl(category=category, functions=(DOCUMENT,), ground_truth=tuple({"trip.book": each} for each in gold), **options)
    made = [each if isinstance(each, ToolCall) else ToolCall(name="trip_book", arguments=each) for each in calls]
    score = judge.score(SkillResponse(tool_calls=made))
    assert score is not None
    return score


@each_row(
    ("allowed", "given", "error"),
    [
        ({"count": [5]}, {"count": 5}, None),
        ({"count": [5]}, {"count": 5.0}, "BFCL_WRONG_TYPE"),
        ({"count": [1]}, {"count": True}, "BFCL_WRONG_TYPE"),
        ({"count": [5]}, {"count": 6}, "BFCL_WRONG_VALUE"),
        ({"count": ["n"]}, {"count": "n"}, None),  # a variable
        ({"count": ["n"]}, {"count": "N"}, "BFCL_WRONG_VALUE"),
        ({"rate": [5.0]}, {"rate": 5}, None),
        ({"rate": [5.0]}, {"rate": "5"}, "BFCL_WRONG_TYPE"),
        ({"flag": [True]}, {"flag": 1}, "BFCL_WRONG_TYPE"),
        ({"city": ["April 1, 2024"]}, {"city": "april12024"}, None),
        ({"city": ["5"]}, {"city": "-5"}, None),  # its published oddity
        ({"city": ["Bern", "Berne"]}, {"city": "Basel"}, "BFCL_WRONG_VALUE"),
        ({"city": ["Bern", ""]}, {}, None),
        ({"city": ["Bern"]}, {}, "BFCL_MISSING_ARGUMENT"),
        ({"city": ["Bern"]}, {"city": "Bern", "count": 1}, "BFCL_UNEXPECTED_ARGUMENT"),
        ({"tags": [["a", "B"]]}, {"tags": ["A", "b."]}, None),
        ({"tags": [["a", "b"]]}, {"tags": ["b", "a"]}, "BFCL_WRONG_VALUE"),
        ({"tags": [["a"]]}, {"tags": [1]}, "BFCL_WRONG_TYPE"),
        ({"pair": [[1.0, 2.0]]}, {"pair": [1, 2]}, "BFCL_WRONG_TYPE"),  # integers stand for floats outside of lists only
        ({"where": [{"zip": ["3000"], "street": ["", "Aare"]}]}, {"where": {"zip": "3000"}}, None),
        ({"where": [{"zip": ["3000"]}]}, {"where": {"zip": "3000", "of": 1}}, "BFCL_WRONG_VALUE"),
        ({"where": [{"zip": ["3000"]}]}, {"where": {}}, "BFCL_WRONG_VALUE"),
        ({"stops": [[{"at": [1]}, {"at": [2]}]]}, {"stops": [{"at": 1}, {"at": 2}]}, None),
        ({"stops": [[{"at": [1]}, {"at": [2]}]]}, {"stops": [{"at": 2}, {"at": 1}]}, "BFCL_WRONG_VALUE"),
        ({"stops": [[{"at": [1]}]]}, {"stops": [{"at": 1}, {"at": 1}]}, "BFCL_WRONG_VALUE"),
        ({"stops": [[{"at": [1]}], ""]}, {"stops": ["x"]}, "BFCL_WRONG_VALUE"),  # the official checker raises here
    ],
)  # fmt: skip
def test_one_argument(allowed: dict[str, Any], given: dict[str, Any], error: str | None) -> None:
    score = scored([allowed], [given], "simple")
    assert (score.passed, [each.code for each in score.reasons]) == (error is None, [error] if error else [])


@each_row(
    ("name", "code"),
    [("trip_book", None), ("trip.book", None), ("book", "BFCL_WRONG_FUNCTION"), ("trip-book", "BFCL_WRONG_FUNCTION")],
)
def test_a_function_is_known_with_its_dots_and_without(name: str, code: str | None) -> None:
    found = scored([{}], [ToolCall(name=name, arguments={})], "simple")
    assert [each.code for each in found.reasons] == ([code] if code else [])


def test_the_published_pairing_takes_the_first_fit_and_the_best_one_is_an_option() -> None:
    gold, calls = [{"count": [1, 2]}, {"count": [1]}], [{"count": 1}, {"count": 2}]
    official, optimal = scored(gold, calls), scored(gold, calls, matching="optimal")
    assert (official.value, [each.code for each in official.reasons]) == (0, ["BFCL_FIRST_FIT"])
    assert (optimal.value, [each.informational for each in optimal.reasons]) == (1, [True])
    assert optimal.metadata == official.metadata
    assert official.metadata["official"] is False
    assert scored(gold, calls[::-1]).passed


@each_row("matching", ["official", "optimal"])
def test_the_reasons_are_those_of_the_call_that_comes_nearest(matching: Any) -> None:
    gold = [{"count": [1], "city": ["Bern"]}, {"count": [2], "city": ["Rome"]}]
    calls = [{"count": 9, "city": "Oslo"}, {"count": 2, "city": "Rome"}]
    found = scored(gold, calls, matching=matching)
    assert [each.where for each in found.reasons] == ["toolCalls[0]", "toolCalls[0]"]
    calls = [{"count": 2, "city": "Oslo"}, {"count": 1, "city": "Bern"}]
    [reason] = scored(gold, calls, matching=matching).reasons
    assert reason.message == 'trip_book: city: expected "Rome", got "Oslo"'


def test_a_wrong_number_of_calls_says_which_is_missing() -> None:
    [reason] = scored([{}, {}], [{}]).reasons
    assert (reason.code, reason.message) == ("BFCL_WRONG_COUNT", 'expected 2 calls, got 1 call: missing ["trip.book"]')


@each_row(
    ("category", "calls", "passed"),
    [
        ("irrelevance", [], True),
        ("irrelevance", [ToolCall(name="x")], False),
        ("relevance", [], False),
        ("relevance", [ToolCall(name="x")], True),
        ("relevance", [ToolCall(name="x", arguments="{")], False),
    ],
)
def test_no_call_and_any_call(category: Category, calls: list[ToolCall], passed: bool) -> None:
    score = Bfcl(category=category).score(SkillResponse(output="-", tool_calls=calls))
    assert score is not None
    assert (score.passed, len(score.reasons)) == (passed, int(not passed))


def test_what_is_not_known_is_not_judged_and_what_cannot_be_read_fails() -> None:
    assert Bfcl(category="irrelevance").score(SkillResponse(output="no messages, no calls")) is None
    [reason] = scored([{}], [ToolCall(name="trip_book", arguments="{")], "simple").reasons
    assert reason.code == "BFCL_UNREADABLE"
    assert scored([{"count": [1]}], [ToolCall(name="trip_book", arguments='{"count": 1}')], "simple").passed


@each_row(
    ("category", "gold", "document", "message"),
    [
        ("simple", [], DOCUMENT, "expects one call, and here are 0"),
        ("parallel", [], DOCUMENT, "no calls are expected"),
        ("irrelevance", [{"trip.book": {}}], DOCUMENT, "expects no certain calls"),
        ("simple", [{"trip_book": {}}], DOCUMENT, "did you mean 'trip.book'"),
        ("simple", [{"a": {}, "b": {}}], DOCUMENT, "an object with one function"),
        ("simple", [{"f": {"a": [1]}}], {"name": "f", "parameters": {"properties": {"a": {"type": "long"}}}}, "got \"long\""),
        ("simple", [{"f": {"a": [1]}}], {"name": "f", "parameters": {"properties": {"a": {"type": "array"}}}}, "got null"),
        ("simple", [{"f": {}}], {"name": "f"}, "expected properties"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused(category: Category, gold: Any, document: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Bfcl(category=category, functions=(document,), ground_truth=tuple(gold))
    assert message in caught.value.message
