from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.adapters.process.streams import Tail, last_lines
from eval_skills.core.text import one_line


@given(st.lists(st.binary(max_size=50)), st.integers(min_value=1, max_value=40))
def test_a_tail_is_the_end_of_all_that_was_added(chunks: list[bytes], limit: int) -> None:
    tail = Tail(limit)
    for chunk in chunks:
        tail.add(chunk)
    whole = b"".join(chunks)
    kept = whole[-limit:].decode(errors="replace")
    assert tail.text() == (kept if len(whole) <= limit else f"[{len(whole) - limit:,} earlier bytes left out]\n{kept}")


def test_a_tail_never_holds_more_than_twice_its_limit() -> None:
    tail = Tail(100)
    for _ in range(1000):
        tail.add(b"x" * 77)
        assert len(tail._buffer) <= 200


def test_taking_empties() -> None:
    tail = Tail(3)
    tail.add(b"abcdef")
    assert tail.take() == "[3 earlier bytes left out]\ndef"
    assert tail.take() == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\n  b\tc", "a b c", id="blanks-collapse"),
        pytest.param("x" * 301, "x" * 300 + "…", id="cut-is-marked"),
        pytest.param("x" * 300, "x" * 300, id="at-the-limit-is-whole"),
        pytest.param("a" + " " * 5000 + "b", "a…", id="what-lies-far-behind-is-marked-too"),
    ],
)
def test_excerpt(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_last_lines_are_one_line_with_the_end_kept() -> None:
    assert last_lines("one\n\n two  words \nthree\n", count=2) == "two words | three"
    assert last_lines("y" * 50 + "z", limit=10) == "…" + "y" * 9 + "z"
