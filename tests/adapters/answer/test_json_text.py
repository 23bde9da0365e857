from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_skills.adapters.answer.envelope import MAX_DEPTH, parse_json, write_json
from tests.tables import each_row

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@pytest.mark.slow
@settings(max_examples=30)
@given(JSON)
def test_what_is_written_reads_back_the_same_and_is_one_ascii_line(value: Any) -> None:
    text = write_json(value)
    assert b"\n" not in text
    assert text.isascii()
    assert parse_json(text) == value


@each_row(
    ("text", "why"),
    [
        pytest.param(b"NaN", "NaN is not a JSON value", id="nan"),
        pytest.param(b"[-Infinity]", "-Infinity is not a JSON value", id="infinity"),
        pytest.param(b"1e999", "1e999 is too large", id="overflow"),
        pytest.param(b"{'a': 1}", "not JSON", id="single-quotes"),
        pytest.param(b"", "not JSON", id="nothing"),
        pytest.param(b'{"a": "\n"}', "^not JSON: Invalid control character at character 8$", id="a-control-character"),
        pytest.param(b"\xff", "not UTF-8", id="not-utf8"),
        pytest.param(rb'"\ud800"', "surrogate", id="half-a-surrogate-pair"),
        pytest.param(rb'"\uD83D"', "surrogate", id="half-a-surrogate-pair-in-capitals"),
        pytest.param(b"1" * 5000, "a whole number of more than 4,300 digits", id="a-number-of-5000-digits"),
        pytest.param(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), f"deeper than {MAX_DEPTH}", id="one-too-deep"),
        pytest.param(
            b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1), f"deeper than {MAX_DEPTH}", id="objects-too-deep"
        ),
        pytest.param(b"[" * 1_000_000, "nested deeper", id="a-million-brackets"),
    ],
)
def test_what_nobody_could_store_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_json(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(b"\xef\xbb\xbf1", 1, id="byte-order-mark"),
        pytest.param(rb'"\ud83d\ude00"', "\U0001f600", id="a-whole-surrogate-pair"),
        pytest.param(b"[[]" + b",[]" * 500 + b"]", [[] for _ in range(501)], id="many-brackets-side-by-side"),
    ],
)
def test_what_is_unusual_and_right_is_read(text: bytes, value: Any) -> None:
    assert parse_json(text) == value


def test_the_deepest_allowed_value_is_read() -> None:
    assert json.dumps(parse_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)) == "[" * MAX_DEPTH + "]" * MAX_DEPTH


@pytest.mark.parametrize("value", [pytest.param(float("nan"), id="nan"), pytest.param({1, 2}, id="a-set")])
def test_what_is_not_json_is_not_written(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(value)
