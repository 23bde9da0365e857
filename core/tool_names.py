"""How tool names are compared: regardless of case, separators and invisible characters."""

from __future__ import annotations

import unicodedata

FORBIDDEN_TOOL_CALLED = "FORBIDDEN_TOOL_CALLED"
"""The code of the reason for which every report shows an alert."""

_SEPARATORS = str.maketrans("", "", "-_. \t\n")


def normalise_tool_name(name: str) -> str:
    """The name without case, ``-``, ``_``, dots and blanks: `editFile`, `edit-file`, `EDIT FILE` are one.

    Full-width letters and invisible characters make no difference either.
    """
    seen = "".join(letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    return seen.casefold().translate(_SEPARATORS)
