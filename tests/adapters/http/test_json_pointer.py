from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from eval_skills.adapters.http.config import JsonPointer, value_at
from tests.tables import each_row

# The examples of RFC 6901, section 5.
DOCUMENT = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, " ": 7, "m~n": 8}


@each_row(
    ("pointer", "value"),
    [
        ("", DOCUMENT), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%d", 2), ("/e^f", 3),
        ("/g|h", 4),        ("/i\\j", 5), ('/k"l', 6), ("/ ", 7), ("/m~0n", 8),
    ],
)  # fmt: skip
def test_the_examples_of_the_standard(pointer: str, value: Any) -> None:
    assert TypeAdapter(JsonPointer).validate_python(pointer) == pointer
    assert value_at(pointer, DOCUMENT) == value


@each_row("pointer", ["/bar", "/foo/2", "/foo/01", "/foo/-", "/foo/-1", "/foo/0/x", "/foo/٠"])
def test_nothing_stands_there(pointer: str) -> None:
    with pytest.raises(LookupError):
        value_at(pointer, DOCUMENT)


@each_row("pointer", ["foo", "#/foo", "/a~2", "/a~"])
def test_what_is_no_pointer_is_refused(pointer: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(JsonPointer).validate_python(pointer)
