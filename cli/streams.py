"""Streams that cannot hold every character: an old terminal, a pipe with another encoding, ``PYTHONIOENCODING=latin-1``.

What was paid for is shown all the same: our signs have plain ones in their place, and any other character its JSON escape.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TextIO

_HANDLER = "eval_skills.plain_signs"
_PLAIN = {
    "–": "-", "—": "-", "−": "-", "…": "...", "×": "x", "✔": "+", "✘": "x", "✓": "+", "✗": "x", "→": "->", "↑": "^", "↓": "v",
    "±": "+-", "≤": "<=", "≥": ">=", "⏎": "|", "·": "*", "●": "*", "’": "'", "“": '"', "”": '"',
    "━": "-", "─": "-", "│": "|", "╭": "+", "╮": "+", "╰": "+", "╯": "+",
}  # fmt: skip


def print_everywhere() -> None:
    """Have stdout and stderr print every text, whatever their encoding. Not those that hold all of Unicode, nor foreign ones.

    Where the caller has closed one (``>&-``), what is printed goes nowhere, and no file that is opened takes its number.
    """
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not holds_unicode(stream):
            codecs.register_error(_HANDLER, _plain)
            stream.reconfigure(errors=_HANDLER)


def _open_closed() -> None:
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as the process
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def holds_unicode(stream: TextIO) -> bool:
    """Whether any text can be written to it."""
    return codecs.lookup(stream.encoding or "utf-8").name.startswith("utf-")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(letter) or _escaped(letter) for letter in letters), error.end


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
