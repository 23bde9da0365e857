"""A place inside a JSON value (RFC 6901)."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import StringConstraints

from eval_skills.core.models.base import IN_WORDS

_POINTER = r"^(?:/(?:[^~/]|~[01])*)*$"
IN_WORDS[_POINTER] = "a JSON pointer such as /data/0"

JsonPointer = Annotated[str, StringConstraints(pattern=_POINTER)]
"""Empty for the whole value, else ``/`` before every key or index; ``~1`` is a ``/`` inside a key, ``~0`` a ``~``."""

_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")


def value_at(pointer: str, value: Any) -> Any:
    """What stands at `pointer` in `value`.

    Raises:
        LookupError: nothing stands there; the message names the first key or index that is not there.
    """
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _INDEX.match(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            raise LookupError(key)
    return value
