"""The answer inside an output, its text, and the files that a benchmark names in its own folder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.models.response import ENVELOPE_KEYS as ENVELOPE_KEYS
from eval_skills.core.models.response import unwrapped as unwrapped
from eval_skills.core.text import is_long
from eval_skills.core.text import scalar_text as scalar_text


def text_of(value: Any) -> str:
    """The text of a value as a reader would search it.

    Scalars as `scalar_text`; of objects and arrays the scalars inside, one a line, in document order, decoded: keys,
    quotes, brackets and escapes are not part of it. An empty object or array is empty text, and so is null.
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


def file_of_benchmark(written: str, folder: Path | None, *, option: str, what: str) -> tuple[Path, Path]:
    """The benchmark's folder and the file `written` in it, both with links followed; the file need not exist.

    `option` is what named it, and `what` it is.

    Raises:
        InputError: the folder is unknown, the file lies outside of it (compared by resolved path components), or nothing can have
            that name.
    """
    if folder is None:
        raise InputError(
            "the benchmark's folder is unknown, so its files cannot be found; load the benchmark from a file", path=option
        )
    root = folder.resolve()
    try:
        path = (root / written).resolve()
    except (OSError, ValueError, RuntimeError) as error:  # a name with a null, links in a cycle
        raise InputError(
            f"{written!r} cannot be found ({error}); name the {what} in the benchmark's folder", path=option
        ) from None
    if not path.is_relative_to(root):
        raise InputError(f"{written!r} lies outside the benchmark's folder; put the {what} into it", path=option)
    return root, path
