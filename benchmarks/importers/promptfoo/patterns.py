"""Regular expressions of JavaScript as those of the scorer ``regex``.

Without flags, as promptfoo makes them (``new RegExp(value)`` in ``src/assertions/regex.ts``): ``\\d``, ``\\w`` and ``\\b`` are
of ASCII, ``\\s`` is of Unicode, ``$`` is the very end of the text, and a dot matches no line terminator. Source: ECMA-262.
"""

from __future__ import annotations

import re

_SPACES = r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_PART = re.compile(r"\\.|[\[\]$.]", re.DOTALL)
_OUTSIDE = {"$": r"\Z", ".": r"[^\n\r\u2028\u2029]", r"\s": f"[{_SPACES}]", r"\S": f"[^{_SPACES}]"}
_INSIDE = {r"\s": _SPACES}
_OF_ASCII = frozenset({r"\d", r"\D", r"\w", r"\W", r"\b", r"\B"})


def python_pattern(pattern: str) -> str | None:
    """The pattern that matches the same; None where it has ``\\S`` in brackets, which is not written here."""
    inside, of_ascii, parts, place = False, False, [], 0
    for found in _PART.finditer(pattern):
        part = found[0]
        if inside and part == r"\S":
            return None
        of_ascii = of_ascii or part in _OF_ASCII
        parts += [pattern[place : found.start()], (_INSIDE if inside else _OUTSIDE).get(part, part)]
        place = found.end()
        inside = part == "[" or (inside and part != "]")
    return ("(?a)" if of_ascii else "") + "".join(parts) + pattern[place:]
