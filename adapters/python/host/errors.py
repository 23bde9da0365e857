"""What the host says of things and errors, and how it shows a traceback. Standard library only."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import importlib
import itertools
import os
import traceback
from collections.abc import Iterator
from typing import Any

MESSAGE_CHARS = 2000
"""How much of an error's text is passed on."""

SHOWN_OF_GROUP = 5
"""How many exceptions of a group are passed on."""

_HERE = os.path.dirname(os.path.abspath(__file__))
_OURS = ("<frozen importlib", os.path.dirname(importlib.__file__), os.path.dirname(asyncio.__file__), _HERE)


class NotLoaded(Exception):
    """The entrypoint names nothing that can be called; the message says what would be valid."""


class Unfinished(Exception):
    """The code stopped halfway and waits; the message says what for, and `messages` are those until then."""

    def __init__(self, message: str, messages: Any = None) -> None:
        super().__init__(message)
        self.messages = messages


class NotJson(Exception):
    """An answer holds what JSON cannot say; the message says where."""


class TooLong(Exception):
    """A generator gave more than an answer may hold."""


def a_type(value: Any) -> str:
    """The type of `value`, with an article."""
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def near(name: str, known: list[str]) -> str:
    """A suggestion, if a known name is close."""
    matches = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {matches[0]!r}?)" if matches else ""


def holding(known: list[str]) -> str:
    """What there is instead, in short."""
    return f"; it has {', '.join(known[:20])}{' …' if len(known) > 20 else ''}" if known else ""


def described(error: BaseException) -> str:
    """Type and message, as the end of a traceback has them; of a group also those of what is in it, which is what happened."""
    text = _described(error)
    if inner := list(itertools.islice(_inside(error), SHOWN_OF_GROUP)):
        text = f"{text}: {'; '.join(map(_described, inner))}"
    return text[:MESSAGE_CHARS].encode(errors="backslashreplace").decode()  # halves of surrogate pairs cannot be passed on


def _described(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def _inside(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group and in the groups in it; none of anything else."""
    waiting = list(_parts(error))
    while waiting:
        parts = _parts(each := waiting.pop(0))
        waiting[:0] = parts
        if not parts:
            yield each


def _parts(error: BaseException) -> tuple[BaseException, ...]:
    is_group = any(base.__name__ == "BaseExceptionGroup" for base in type(error).__mro__)  # of Python 3.11, or of its backport
    return tuple(getattr(error, "exceptions", ())) if is_group else ()


def show_traceback(error: BaseException) -> None:
    """Print the traceback on standard error without the frames of this program."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    with contextlib.suppress(OSError):  # the skill may have closed it
        os.write(2, text.encode(errors="backslashreplace"))
