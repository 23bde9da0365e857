"""Reasons: why an item was judged so, with what was expected and what came, in bounded length."""

from __future__ import annotations

import json
from typing import Any

from eval_skills.core.models import Reason

EXCERPT_CHARS = 200
"""How much of an expected or given value a message shows."""

REMARK = "remark: "
"""How the message of a reason begins that explains nothing about a failure."""


def remark(reason: Reason) -> Reason:
    """The reason, marked as information: it did not make the item fail."""
    return reason if is_remark(reason) else reason.model_copy(update={"message": REMARK + reason.message})


def is_remark(reason: Reason) -> bool:
    """Whether the reason is information only."""
    return reason.message.startswith(REMARK)


def excerpt(value: Any, limit: int = EXCERPT_CHARS) -> str:
    """The value's JSON text on one line, cut after `limit` characters with an ellipsis.

    Only the beginning of a long value is encoded, so the cost is bounded too.
    """
    if isinstance(value, str):
        return _cut(json.dumps(value[: limit + 1], ensure_ascii=False), limit)
    text = ""
    for chunk in json.JSONEncoder(ensure_ascii=False, default=str).iterencode(value):
        text += chunk[: limit + 1]
        if len(text) > limit:
            break
    return _cut(text, limit)


def expected_but_got(expected: Any, got: Any) -> str:
    """The sentence of a mismatch."""
    return f"expected {excerpt(expected)}, got {excerpt(got)}"


def one_line(text: str, limit: int = EXCERPT_CHARS) -> str:
    """The text with every run of white space as one blank, cut after `limit` characters."""
    return _cut(" ".join(text[: 4 * limit].split()), limit)


def _cut(text: str, limit: int) -> str:
    short = text if len(text) <= limit else text[:limit] + "…"
    return short.encode("utf-8", "backslashreplace").decode("utf-8")  # half a surrogate pair could be written nowhere
