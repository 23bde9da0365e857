from __future__ import annotations

import pytest

from eval_skills.adapters.process.streams import LongLine, MessageLines


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100_000])
def test_lines_are_the_same_however_they_arrive(size: int) -> None:
    data = b"one\n\n" + b"h" * 1500 + b"x" * 5000 + b"t" * 1500 + b"\ntwo\nrest"
    lines = MessageLines(3000)
    found = [line for at in range(0, len(data), size) for line in lines.feed(data[at : at + size])]
    assert found == [b"one", b"", LongLine(b"h" * 1000, b"t" * 1000), b"two"]
    assert lines.feed(b"\n") == [b"rest"]


@pytest.mark.parametrize(("length", "kept"), [(3000, True), (3001, False)])
def test_a_line_of_the_limit_is_kept(length: int, kept: bool) -> None:
    [line] = MessageLines(3000).feed(b"x" * length + b"\n")
    assert isinstance(line, bytes) is kept
