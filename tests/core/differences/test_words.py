"""Two texts compared word by word."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.differences import word_difference
from eval_skills.core.differences.words import MAX_WORDS, Part, matched_runs
from tests.tables import each_row


@each_row(
    ("expected", "got", "parts"),
    [
        pytest.param("a cat sat", "a dog sat", "a |-cat |+dog |sat", id="word"),
        pytest.param("The answer is 42.", "The answer is 43.", "The answer is |-42|+43|.", id="marks-are-words"),
        pytest.param("It is 3.5, not 4.", "It is 3.6, not 4.", "It is |-3.5|+3.6|, not 4.", id="a-decimal-is-a-word"),
        pytest.param("one two three", "one three", "one |-two |three", id="removed"),
        pytest.param("one three", "one two three", "one |+two |three", id="added"),
        pytest.param(" a\n b ", "a\n b", "a\n b", id="outer-white-space-is-free"),
        pytest.param("a  b", "a b", "a |- |b", id="white-space-alone"),
        pytest.param("red green", "red\tgreen blue", "red\tgreen |+blue", id="white-space-beside-a-word"),
        pytest.param("Paris", "The city is Lyon", "-Paris|+The city is Lyon", id="little-in-common"),
        pytest.param("", "x", "+x", id="nothing-expected"),
        pytest.param("x", "", "-x", id="no-answer"),
        pytest.param("", "", "", id="both-empty"),
        pytest.param(
            "we keep long words here of nothing else", "we keep many other of things else",
            "we keep |-long words here of nothing |+many other of things |else", id="a-word-alike-by-chance",
        ),
    ],
)  # fmt: skip
def test_parts(expected: str, got: str, parts: str) -> None:
    signs = {"removed": "-", "added": "+"}
    assert "|".join(signs.get(kind, "") + text for kind, text in word_difference(expected, got).parts) == parts


@given(st.text("ab .\n", max_size=60), st.text("ab .\n", max_size=60))
def test_the_parts_are_the_texts(expected: str, got: str) -> None:
    found = word_difference(expected, got)
    both = {kind: "".join(text for each, text in found.parts if each in ("equal", kind)) for kind in ("removed", "added")}
    assert both["added"] == got.strip()
    assert both["removed"].split() == expected.split() or "".join(both["removed"].split()) == "".join(expected.split())
    assert found.is_equal == (expected.strip() == got.strip())


def test_numbers_of_one_hash_differ() -> None:
    assert [same for same, _, _ in matched_runs([-1], [-2])] == [False]


def test_long_parts_are_cut_and_say_so() -> None:
    words = " ".join(f"w{number}" for number in range(1_000))
    parts = word_difference(f"{words} x", f"{words} y").parts
    assert [part.kind for part in parts] == ["equal", "skipped", "equal", "removed", "added"]
    assert parts[1] == Part("skipped", f"{len(words) + 1 - 400:,} more characters")


def test_huge_texts_are_compared_in_time_and_what_is_left_out_is_said() -> None:
    started = time.perf_counter()
    found = word_difference("a " * 1_000_000, "a b " * 1_000_000)
    assert time.perf_counter() - started < 5
    rest = [f"{2_000_000 - 1 - 2 * MAX_WORDS:,} characters", f"{4_000_000 - 1 - 2 * MAX_WORDS:,} characters"]
    assert found.left_out == f"not compared: the last {rest[0]} of the expected text and {rest[1]} of the answer"
    assert not found.is_equal
