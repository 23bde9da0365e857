"""The answer inside an output, and its text."""

from __future__ import annotations

import asyncio
import json
from typing import Any

ENVELOPE_KEYS = ("result", "output", "answer")
"""Where an object holds its answer; the first that is present counts."""

LONG_CHARS = 4_096
"""Text beyond this is judged off the event loop."""


def unwrapped(output: Any) -> Any:
    """The answer of an object under `result`, else `output`, else `answer`; unwrapped once. Anything else is its own answer."""
    if isinstance(output, dict):
        for key in ENVELOPE_KEYS:
            if key in output:
                return output[key]
    return output


def scalar_text(value: Any) -> str:
    """The text of a scalar: text as it is, else its JSON text: ``true``, ``null``, ``5`` (a whole float reads as an integer)."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, default=str)


def text_of(value: Any) -> str:
    """The text of a value as a reader would search it.

    Scalars as `scalar_text`; of objects and arrays the scalars inside, one a line, in document order, decoded: keys,
    quotes, brackets and escapes are no part of it. An empty object or array is empty text, and so is null.
    """
    if not isinstance(value, dict | list | tuple):
        return "" if value is None else scalar_text(value)
    texts: list[str] = []
    rest = [value]
    while rest:  # a stack of its own: an answer may be nested deeper than Python recurses
        part = rest.pop()
        if isinstance(part, dict):
            rest.extend(reversed(part.values()))
        elif isinstance(part, list | tuple):
            rest.extend(reversed(part))
        elif part is not None:
            texts.append(scalar_text(part))
    return "\n".join(texts)


async def searchable_text(output: Any) -> str:
    """`text_of` of the unwrapped output; a long one is put together in a thread."""
    return await asyncio.to_thread(text_of, unwrapped(output)) if is_long(output) else text_of(unwrapped(output))


def is_long(value: Any, limit: int = LONG_CHARS) -> bool:
    """Whether a value's text exceeds `limit` characters, or it holds more than `limit` / 8 values; stops counting there."""
    size, rest = 0, [value]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            size += sum(map(len, part))
            rest.extend(part.values())
        elif isinstance(part, list | tuple):
            rest.extend(part[: limit + 1])
        size += len(part) if isinstance(part, str) else 8
        if size > limit:
            return True
    return False
