"""Names of environment variables, written where a secret must never stand; people paste the secret itself there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_LONG = 16
"""From this length on, what looks like a key is not taken for a name."""


def variable_name(text: str) -> str:
    """`text`, if a variable can be called so.

    Raises:
        ValueError: it cannot; the message is a phrase without `text`.
    """
    if not _NAME.fullmatch(text):
        raise ValueError("this is no name of a variable (letters, digits and _); did you paste the secret itself?")
    return text


VariableName = Annotated[str, AfterValidator(variable_name)]
"""The name of an environment variable, never what it holds."""


def absence(name: str, environ: Mapping[str, str]) -> str:
    """Why the variable `name` holds nothing, as a phrase: it is empty or not set.

    A name that is not set and looks like a key itself (``sk_live_…``) is not shown.
    """
    if name in environ:
        return f"the environment variable {name} is empty"
    if _may_be_a_secret(name):
        return "the environment variable that it names is not set; did you paste the secret itself?"
    return f"the environment variable {name} is not set"


def _may_be_a_secret(name: str) -> bool:
    """Whether `name` is long, has digits, and is not all capitals with underscores, as names are."""
    has_digits, in_capitals = any(map(str.isdigit, name)), name.isupper() and "_" in name
    return not _NAME.fullmatch(name) or (len(name) >= _LONG and has_digits and not in_capitals)
