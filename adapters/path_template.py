"""``{name}`` marks in the path of an address."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, urlsplit, urlunsplit

_MARK = re.compile(r"\{([^{}/]+)\}")


def path_marks(url: str) -> list[str]:
    """The names of the marks in the path of `url`, in order."""
    return _MARK.findall(urlsplit(url).path)


def filled_path(url: str, text_of_mark: Callable[[str], str]) -> str:
    """`url` with every mark in its path replaced by its text, percent-encoded: a text never leaves its segment.

    Raises:
        ValueError: a segment with a mark became empty, ``.`` or ``..``, which would lead to another place.
    """
    parts = urlsplit(url)
    segments = [_segment(segment, text_of_mark) for segment in parts.path.split("/")]
    return urlunsplit(parts._replace(path="/".join(segments)))


def _segment(segment: str, text_of_mark: Callable[[str], str]) -> str:
    if not _MARK.search(segment):
        return segment
    filled = _MARK.sub(lambda mark: quote(text_of_mark(mark[1]), safe=""), segment)
    if filled in {"", ".", ".."}:
        raise ValueError(f"{segment} in the path became {filled!r}, which would lead elsewhere")
    return filled
