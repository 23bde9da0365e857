"""Making untrusted text safe to show: whatever a skill answers, it stays text inside its own cell."""

from __future__ import annotations

import json
import re
from typing import Any

from markupsafe import Markup

from eval_skills.core.text import encodable
from eval_skills.reporting.numbers import UNKNOWN

LINE_BREAK = "⏎"
_BREAKS = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"  # control, direction, surrogate
    r"\xad\u061c\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"  # without a width of their own
)
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_MARKS = re.compile(r"[\\`*\[|~$]|(?<![^\W_])_|_(?![^\W_])|(?<!\S)#")
_SCRIPT_SIGNS = ("<", ">", "&", "\u2028", "\u2029")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_NEGATIVE = re.compile(r"-[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def markdown(value: Any) -> Markup:
    """Text as one line of literal Markdown, fit for a table cell, a heading or a list item.

    Line breaks become ``⏎``; control, direction, invisible and surrogate characters become ``\\uXXXX``; HTML and Markdown marks
    are escaped. An underscore within a word means nothing in Markdown and stays, so that names remain readable. None is a dash.
    """
    if isinstance(value, Markup):
        return value
    if value is None:
        return Markup(UNKNOWN)  # noqa: S704 - a constant
    text = _MARKS.sub(lambda mark: f"\\{mark[0]}", visible_line(str(value)))
    return Markup(re.sub(r"[&<>]", lambda sign: _HTML[sign[0]], text))  # noqa: S704 - this is the escaping itself


def visible_line(text: str) -> str:
    """The text as one line without effect on a terminal: line breaks as ``⏎``, control, direction, invisible and surrogate
    characters as ``\\uXXXX``.
    """
    return _CONTROLS.sub(_code_point, _BREAKS.sub(LINE_BREAK, text))


def csv_cell(value: str) -> str:
    """Text that no spreadsheet takes for a formula: one that starts like it gets a leading apostrophe.

    A negative number, as JSON has it, computes nothing and stays as it is.
    """
    return f"'{value}" if value.startswith(_FORMULA_STARTS) and not _NEGATIVE.fullmatch(value) else value


def visible(text: str) -> str:
    """The text with control, direction, invisible and surrogate characters as ``\\uXXXX``; line breaks and tabs stay, and so do
    the joiners that scripts and emoji are written with.
    """
    return _CONTROLS.sub(_code_point, text)


def script_json(value: Any) -> Markup:
    """JSON that can stand inside a ``<script>``: none of its texts can end the element, open a comment or start an entity.

    ``<``, ``>``, ``&`` and the line separators U+2028 and U+2029 are JSON escapes, so that it parses to the same value.

    Raises:
        ValueError: the value holds NaN or an infinite number.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in _SCRIPT_SIGNS:
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(encodable(text))  # noqa: S704 - this is the escaping itself


def json_document(data: Any) -> str:
    """JSON as files hold it, indented and unrounded, fit to be written as UTF-8.

    Raises:
        ValueError: the data hold NaN or an infinite number.
    """
    return encodable(json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2))


_NOTE = 40
"""A cut that hides fewer characters than it takes to say so is none."""


def shortened(value: Any, limit: int) -> str:
    """Any JSON as text of about `limit` characters; says how much it leaves out."""
    text = value if isinstance(value, str) else json_text(value)
    return text if len(text) <= limit else f"{text[:limit]} … ({len(text) - limit:,} more characters)"


def both_ends(text: str, limit: int) -> str:
    """A text of about `limit` characters: of a longer one the beginning and the end, where a traceback says what happened."""
    kept = limit // 2
    hidden = len(text) - 2 * kept
    return text if hidden <= _NOTE else f"{text[:kept]} … ({hidden:,} more characters) … {text[-kept:]}"


def json_text(value: Any, indent: int | None = None) -> str:
    """Any JSON as text for people; values that nest deeper than Python follows are named as such."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, indent=indent)
    except RecursionError:
        return "(nested too deeply to show)"


def _code_point(character: re.Match[str]) -> str:
    code = ord(character[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
