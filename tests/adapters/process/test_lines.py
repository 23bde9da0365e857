from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.adapters.process.streams import Lines, LineTooLong


@given(st.binary(max_size=60).map(lambda raw: raw.replace(b"\x00", b"\n")), st.lists(st.integers(0, 60), max_size=6))
def test_lines_do_not_depend_on_how_the_stream_is_cut(stream: bytes, cuts: list[int]) -> None:
    lines, seen, start = Lines(100), [], 0
    for cut in [*sorted(cuts), len(stream)]:
        seen += lines.feed(stream[start:cut])
        start = max(start, cut)
    assert [*seen, lines.flush()] == stream.split(b"\n")


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([b"x" * 11 + b"\n"], id="one-line"),
        pytest.param([b"a\n", b"x" * 6, b"x" * 5], id="unfinished"),
        pytest.param([b"a\n" + b"x" * 11 + b"\nb\n"], id="in-the-middle"),
        pytest.param([b"x" * 8, b"xxx\n"], id="finished-over-the-limit"),
    ],
)
def test_a_line_over_the_limit_is_refused(chunks: list[bytes]) -> None:
    lines = Lines(10)
    with pytest.raises(LineTooLong):
        [lines.feed(chunk) for chunk in chunks]


def test_a_line_at_the_limit_is_taken() -> None:
    assert Lines(10).feed(b"x" * 10 + b"\n") == [b"x" * 10]
