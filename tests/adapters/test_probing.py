from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters.http.adapter import warnings_of_reply
from eval_skills.adapters.http.client import HttpReply
from eval_skills.adapters.probing import empty_input, schema_differences
from tests.tables import each_row


@each_row(
    ("schema", "expected"),
    [
        pytest.param({}, {}, id="says-nothing"),
        pytest.param({"type": "object", "properties": {"a": {"type": "string"}}}, {}, id="nothing-is-required"),
        pytest.param(
            {"required": ["a", "b"], "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
            {"a": "", "b": 0},
            id="empty",
        ),
        pytest.param({"required": ["a"], "properties": {"a": {"enum": ["x", "y"]}}}, {"a": "x"}, id="first-choice"),
        pytest.param({"required": ["a"], "properties": {"a": {"default": 7}}}, {"a": 7}, id="default"),
        pytest.param({"required": ["a"], "properties": {"a": {"examples": ["2+3"]}}}, {"a": "2+3"}, id="example"),
        pytest.param({"required": ["a"]}, {"a": ""}, id="required-and-unknown"),
        pytest.param({"type": ["string", "null"]}, "", id="several-types"),
        pytest.param({"type": "array"}, [], id="array"),
        pytest.param({"required": "a", "properties": 3}, {}, id="malformed"),
    ],
)
def test_the_least_that_a_schema_asks_for(schema: dict[str, Any], expected: Any) -> None:
    assert empty_input(schema) == expected


TOOL = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}


@each_row(
    ("ours", "difference"),
    [
        pytest.param({}, None, id="says-nothing"),
        pytest.param(TOOL, None, id="equal"),
        pytest.param({"properties": {"a": {"type": "string", "description": "x"}}}, None, id="only-what-is-needed"),
        pytest.param({"properties": {"b": {"type": "integer"}}}, "the tool requires 'a'", id="lacks-a-required-one"),
        pytest.param({"properties": {"a": {"type": "string"}, "c": {}}}, "inputSchema has 'c'", id="has-an-unknown-one"),
        pytest.param({"properties": {"a": {"type": "number"}}}, "'a' is number in inputSchema and string in the tool", id="type"),
    ],
)
def test_where_a_skills_schema_is_not_its_tools(ours: dict[str, Any], difference: str | None) -> None:
    found = schema_differences(ours, TOOL)
    assert [each.startswith(difference or "") for each in found] == ([True] if difference else [])


def reply(status: int, **headers: str) -> HttpReply:
    return HttpReply(status, headers, b"", "http://h/a")


@each_row(("status", "doubtful"), [(200, False), (404, False), (405, False), (501, False), (401, True), (302, True), (502, True)])
def test_which_answers_to_a_get_are_doubtful(status: int, doubtful: bool) -> None:
    assert bool(warnings_of_reply(reply(status), sent=False)) is doubtful


def test_a_redirect_that_a_run_does_not_follow_is_named_with_its_target() -> None:
    (doubt,) = warnings_of_reply(reply(302, location="http://login/"), sent=True)
    assert doubt.startswith("HTTP 302 from http://h/a: redirected to http://login/, which is not followed")


@pytest.mark.parametrize(("kind", "doubtful"), [("text/html; charset=utf-8", True), ("Application/JSON", False), ("", False)])
def test_a_page_for_people_is_doubtful(kind: str, doubtful: bool) -> None:
    assert bool(warnings_of_reply(reply(200, **{"content-type": kind}), sent=False)) is doubtful
    assert warnings_of_reply(reply(404, **{"content-type": kind}), sent=False) == ()


@pytest.mark.parametrize(
    ("sent", "said"), [(True, "it refuses the credentials that a run sends"), (False, "authType is not set")]
)
def test_credentials_that_were_refused_are_told_from_those_that_are_missing(sent: bool, said: str) -> None:
    assert said in warnings_of_reply(reply(401), sent=sent)[0]
