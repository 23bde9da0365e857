"""A tool call as skills report it: what is meant is read, and nothing is lost without a word."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from eval_skills.core.models import ToolCall
from tests.tables import each_row


@each_row(
    ("said", "arguments"),
    [
        ({"arguments": {"q": 1}}, {"q": 1}),
        ({"args": {"q": 1}}, {"q": 1}),
        ({"args": {"q": 1}, "arguments": {"q": 2}}, {"q": 2}),
        ({"type": "tool_use", "input": {"q": 1}}, {"q": 1}),
        ({"parameters": {"q": 1}}, {"q": 1}),
        ({"type": "tool_call", "index": 0, "tool_name": "x"}, None),
    ],
)
def test_arguments_have_several_names_and_foreign_keys_are_let_through(said: dict[str, Any], arguments: Any) -> None:
    before = dict(said)
    assert ToolCall.model_validate({"name": "search", **said}).arguments == arguments
    assert said == before


@pytest.mark.parametrize(("key", "meant"), [("argument", "arguments"), ("argments", "arguments"), ("results", "result")])
def test_p60_a_misspelled_key_is_refused(key: str, meant: str) -> None:
    with pytest.raises(ValidationError, match=f"unknown key '{key}' of a tool call .did you mean '{meant}'"):
        ToolCall.model_validate({"name": "search", key: {}})


def test_what_was_written_is_read_again() -> None:
    call = ToolCall(name="search", arguments={"args": 1}, result={"results": []})
    assert ToolCall.model_validate(call.model_dump()) == call
