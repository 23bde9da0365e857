from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.adapters.process.streams import LineSplitter, LineTooLong, LongLine, OutputTail, last_lines
from tests.tables import each_row


@given(st.binary(max_size=60).map(lambda raw: raw.replace(b"\x00", b"\n")), st.lists(st.integers(0, 60), max_size=6))
def test_lines_do_not_depend_on_how_the_stream_is_cut(stream: bytes, cuts: list[int]) -> None:
    lines, seen, start = LineSplitter(100), [], 0
    for cut in [*sorted(cuts), len(stream)]:
        seen += lines.feed(stream[start:cut])
        start = max(start, cut)
    assert [*seen, lines.flush()] == stream.split(b"\n")


@each_row(
    "chunks",
    [
        pytest.param([b"x" * 11 + b"\n"], id="one-line"),
        pytest.param([b"a\n", b"x" * 6, b"x" * 5], id="unfinished"),
        pytest.param([b"a\n" + b"x" * 11 + b"\nb\n"], id="in-the-middle"),
        pytest.param([b"x" * 8, b"xxx\n"], id="finished-over-the-limit"),
    ],
)
def test_a_line_over_the_limit_is_refused(chunks: list[bytes]) -> None:
    lines = LineSplitter(10)
    with pytest.raises(LineTooLong):
        [lines.feed(chunk) for chunk in chunks]


def test_a_line_at_the_limit_is_taken() -> None:
    assert LineSplitter(10).feed(b"x" * 10 + b"\n") == [b"x" * 10]


@each_row("size", [1, 2, 3, 7, 100_000])
def test_a_line_that_is_skipped_shows_its_ends_however_they_arrive(size: int) -> None:
    data = b"one\n\n" + b"h" * 1500 + b"x" * 5000 + b"t" * 1500 + b"\ntwo\nrest"
    lines = LineSplitter(3000)
    found = [line for at in range(0, len(data), size) for line in lines.feed_skipping(data[at : at + size])]
    assert found == [b"one", b"", LongLine(b"h" * 1000, b"t" * 1000), b"two"]
    assert lines.feed_skipping(b"\n") == [b"rest"]
    assert lines.feed_skipping(data[5:-9]) == []
    assert lines.flush_skipping() == LongLine(b"h" * 1000, b"t" * 1000)
    assert lines.flush_skipping() == b""


@pytest.mark.parametrize(("length", "kept"), [(3000, True), (3001, False)])
def test_a_line_of_the_limit_is_not_skipped(length: int, kept: bool) -> None:
    [line] = LineSplitter(3000).feed_skipping(b"x" * length + b"\n")
    assert isinstance(line, bytes) is kept


@given(st.lists(st.binary(max_size=50)), st.integers(min_value=1, max_value=40))
def test_a_tail_is_the_end_of_all_that_was_added(chunks: list[bytes], limit: int) -> None:
    tail = OutputTail(limit)
    for chunk in chunks:
        tail.add(chunk)
    whole = b"".join(chunks)
    kept = whole[-limit:].decode(errors="replace")
    assert tail.text() == (kept if len(whole) <= limit else f"[{len(whole) - limit:,} earlier bytes left out]\n{kept}")


def test_a_tail_never_holds_more_than_twice_its_limit() -> None:
    tail = OutputTail(100)
    for _ in range(1000):
        tail.add(b"x" * 77)
        assert len(tail._buffer) <= 200


def test_taking_empties() -> None:
    tail = OutputTail(3)
    tail.add(b"abcdef")
    assert tail.take() == "[3 earlier bytes left out]\ndef"
    assert tail.take() == ""


def test_last_lines_are_one_line_with_the_end_kept() -> None:
    assert last_lines("one\n\n two  words \nthree\n", count=2) == "two words | three"
    assert last_lines("y" * 50 + "z", limit=10) == "…" + "y" * 9 + "z"


@pytest.mark.parametrize(
    "error", ["Error: Cannot find module 'x'", "TypeError [ERR_X]: no", 'Exception in thread "main" a.b.BadException: no']
)
def test_the_line_that_names_the_error_outlives_the_stack_below_it(error: str) -> None:
    stack = "\n".join(f"    at Module.load (node:internal:{number})" for number in range(9))
    assert last_lines(f"throw new Error(x)\n{error}\n{stack}", count=1) == f"{error} | …at Module.load (node:internal:8)"
    cut = last_lines(f"{error}\n{stack}", limit=80)
    assert cut.startswith(error[:40])
    assert cut.endswith("internal:8)")
