"""Numbers as people type them: nothing is rounded on the way in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cyclopts import Token


def whole(_: Any, tokens: Sequence[Token]) -> int:
    """The whole number that was typed, in decimal digits.

    Raises:
        ValueError: it is anything else; the default reader would make 2 of 1.5, and 16 of 0x10.
    """
    text = tokens[0].value
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise ValueError(f"give a whole number; got {text!r}")
    return int(text)
