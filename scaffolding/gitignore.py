"""The lines of a ``.gitignore`` that are missing, added without touching the others."""

from __future__ import annotations

import re
from collections.abc import Sequence


def with_lines(text: str, wanted: Sequence[str]) -> str:
    """`text` with those of the `wanted` lines appended that it lacks; the same text if it has them all.

    A line counts as there in any spelling of it (``reports``, ``/reports/``, ``**/reports/**``), and when it is negated: then
    somebody decided to keep those files. Line ends are as in the text; a missing one at its end is added first.
    """
    known = {_name(line) for line in text.splitlines()}
    missing = [line for line in dict.fromkeys(wanted) if _name(line) not in known]
    end = "\r\n" if "\r\n" in text else "\n"
    head = text + end if missing and text and not text.endswith("\n") else text
    return head + "".join(line + end for line in missing)


def pattern(path: str, *, is_folder: bool) -> str:
    """The line that ignores this one path, relative to the file's own folder."""
    return "/" + re.sub(r"([\\*?\[\]])", r"\\\1", path) + ("/" if is_folder else "")


def _name(line: str) -> str:
    bare = line.strip().lstrip("\ufeff").removeprefix("!").removeprefix("**/").removeprefix("/")
    return re.sub(r"/\*{0,2}$", "", bare)
