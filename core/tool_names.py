"""One policy for comparing tool names without their spelling."""

from __future__ import annotations

import unicodedata

FORBIDDEN_TOOL_CALLED = "FORBIDDEN_TOOL_CALLED"
"""The code of the reason that every report raises an alarm for."""

_SEPARATORS = str.maketrans("", "", "-_. \t\n")


def normalise_tool_name(name: str) -> str:
    """The name without case, ``-``, ``_``, dots and blanks: `editFile`, `edit-file`, `EDIT FILE` are one.

    Letters of other widths and characters that nobody sees make no other name either.
    """
    seen = "".join(letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    return seen.casefold().translate(_SEPARATORS)
