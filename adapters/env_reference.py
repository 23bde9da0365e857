"""``${NAME}`` in a text of a configuration: what the environment variable NAME holds, to be filled in when it is sent."""

from __future__ import annotations

import os
import re

_MARK = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{")
"""Two dollars before a brace stand for one that is meant as it is."""


def refuse_malformed_references(text: str) -> str:
    """`text`, if every ``${`` in it begins a reference.

    Raises:
        ValueError: one begins none; the message is a phrase that says what would be valid.
    """
    if any(mark[0] == "${" for mark in _MARK.finditer(text)):
        raise ValueError(
            "holds a ${ that names no variable; write ${NAME}, or $${ for the signs; did you paste the secret itself?"
        )
    return text


def referenced(text: str) -> list[str]:
    """The names of the variables that `text` refers to, in order."""
    return [mark[1] for mark in _MARK.finditer(text) if mark[1]]


def held(name: str) -> str:
    """What the variable `name` holds, without blanks around it (a file's last line break gets into many a variable)."""
    return os.environ.get(name, "").strip()


def with_references_filled(text: str) -> str:
    """`text` with every reference replaced by what its variable holds; one that is not set holds nothing."""
    return _MARK.sub(lambda mark: held(mark[1]) if mark[1] else "${", text)
