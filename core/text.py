"""Foreign values and texts as messages may show them: on one line, in bounded length.

One policy for finding a text inside another.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any

EXCERPT_CHARS = 200
"""How much of an expected or given value a message shows."""


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


def one_line(text: str, limit: int = EXCERPT_CHARS) -> str:
    """The text with every run of white space as one blank, cut after `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return _cut(line, limit) if len(text) <= 4 * limit else _cut(line[:limit] + "…", limit + 1)


def _cut(text: str, limit: int) -> str:
    short = text if len(text) <= limit else text[:limit] + "…"
    return short.encode("utf-8", "backslashreplace").decode("utf-8")  # half a surrogate pair could be written nowhere


def comparable(text: str, *, case_sensitive: bool = False) -> str:
    """`text` as it is searched: each letter composed with its accents (NFC), and without case unless `case_sensitive`.

    A letter may be written as one sign or as a letter and its accent; nobody sees the difference.
    """
    composed = unicodedata.normalize("NFC", text)
    return composed if case_sensitive else composed.casefold()
