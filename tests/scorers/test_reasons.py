"""Messages show what was expected and what came, in bounded length."""

from __future__ import annotations

from eval_skills.core.models import Reason
from eval_skills.scorers.score import EXCERPT_CHARS, expected_but_got, is_remark, remark


def test_long_values_are_cut() -> None:
    assert len(expected_but_got("x" * 10_000_000, ["x" * 1000] * 100_000)) < 2 * EXCERPT_CHARS + 30


def test_a_remark_is_marked_once() -> None:
    reason = Reason(code="X", message="called twice")
    marked = remark(remark(reason))
    assert (marked.code, marked.message) == ("X", "remark: called twice")
    assert (is_remark(marked), is_remark(reason)) == (True, False)
