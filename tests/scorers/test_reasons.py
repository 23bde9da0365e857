"""Messages show what was expected and what came, in bounded length."""

from __future__ import annotations

from eval_skills.core.models import Reason
from eval_skills.core.text import EXCERPT_CHARS
from eval_skills.scorers.score import expected_but_got


def test_long_values_are_cut() -> None:
    assert len(expected_but_got("x" * 10_000_000, ["x" * 1000] * 100_000)) < 2 * EXCERPT_CHARS + 30


def test_a_remark_is_marked_once() -> None:
    reason = Reason(code="X", message="called twice")
    marked = reason.as_remark().as_remark()
    assert (marked.code, marked.message, marked.text) == ("X", "called twice", "remark: called twice")
    assert (marked.informational, reason.informational) == (True, False)
