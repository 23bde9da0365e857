"""The way to one value inside the arguments of a call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from eval_skills.core.errors import InputError

ABSENT = object()
"""What a path leads to where there is nothing."""

_DOT = re.compile(r"(?<!\\)\.")


@dataclass(frozen=True, slots=True)
class KeyPath:
    r"""A path such as ``filter.dates.0``: dots walk objects, whole numbers walk lists, ``\.`` is a dot in a name."""

    written: str
    steps: tuple[str, ...]

    @classmethod
    def of(cls, written: object) -> KeyPath:
        """The path that is written so.

        Raises:
            InputError: it is no text, or blank.
        """
        if not isinstance(written, str) or not written.strip():
            raise InputError(f"{written!r} is no key path; write one such as 'query' or 'filter.dates.0'")
        return cls(written, tuple(step.replace("\\.", ".") for step in _DOT.split(written)))

    def value(self, arguments: Any) -> Any:
        """What the path leads to, which may be null, or `ABSENT`."""
        for step in self.steps:
            if isinstance(arguments, dict) and step in arguments:
                arguments = arguments[step]
            elif isinstance(arguments, list | tuple) and _is_place(step) and int(step) < len(arguments):
                arguments = arguments[int(step)]
            else:
                return ABSENT
        return arguments


def _is_place(step: str) -> bool:
    return step.isascii() and step.isdigit() and len(step) < 10
