"""Messages show what was expected and what came, in bounded length."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.models import Reason
from eval_skills.scorers.reasons import EXCERPT_CHARS, excerpt, expected_but_got, is_remark, one_line, remark


@pytest.mark.parametrize(
    ("value", "text"),
    [("a\nb", '"a\\nb"'), ({"k": [1, None, True]}, '{"k": [1, null, true]}'), ("grün", '"grün"'), ({1}, '"{1}"')],
)
def test_short_values_are_shown_whole_on_one_line(value: Any, text: str) -> None:
    assert excerpt(value) == text


@pytest.mark.parametrize("value", ["x" * 10_000_000, ["x" * 1000] * 100_000, {"k" * 1000: 1}], ids=["text", "list", "key"])
def test_long_values_are_cut(value: Any) -> None:
    assert len(excerpt(value)) == EXCERPT_CHARS + 1
    assert len(expected_but_got(value, value)) < 2 * EXCERPT_CHARS + 30


def test_what_no_file_could_hold_is_escaped() -> None:
    assert excerpt("half \ud800") == '"half \\ud800"'
    assert excerpt(["\ud800"]).encode("utf-8")


def test_one_line_folds_white_space() -> None:
    assert one_line(" a\n\n b\t") == "a b"


def test_a_remark_is_marked_once() -> None:
    reason = Reason(code="X", message="called twice")
    marked = remark(remark(reason))
    assert (marked.code, marked.message) == ("X", "remark: called twice")
    assert (is_remark(marked), is_remark(reason)) == (True, False)
