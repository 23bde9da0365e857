"""Reasons: why an item was judged so, with what was expected and what came, in bounded length."""

from __future__ import annotations

from typing import Any

from eval_skills.core.excerpts import EXCERPT_CHARS, excerpt, one_line
from eval_skills.core.models import Reason

__all__ = ["EXCERPT_CHARS", "excerpt", "expected_but_got", "is_remark", "one_line", "remark"]

REMARK = "remark: "
"""How the message of a reason begins that explains nothing about a failure."""


def remark(reason: Reason) -> Reason:
    """The reason, marked as information: it did not make the item fail."""
    return reason if is_remark(reason) else reason.model_copy(update={"message": REMARK + reason.message})


def is_remark(reason: Reason) -> bool:
    """Whether the reason is information only."""
    return reason.message.startswith(REMARK)


def expected_but_got(expected: Any, got: Any) -> str:
    """The sentence of a mismatch."""
    return f"expected {excerpt(expected)}, got {excerpt(got)}"
