"""One tool call of a trajectory, with its arguments read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from eval_skills.core.documents.loading import refuse_constant
from eval_skills.core.messages.blocks import as_dict
from eval_skills.core.messages.tool_calls import NO_ARGUMENTS, name_and_arguments
from eval_skills.core.text import excerpt, one_line

Spelling = Callable[[str], str]
"""From a tool's name as written to the name that is compared."""

_SHOWN_ARGUMENTS = 6
_SHOWN_CHARS = 60
_BLANKS = " \t\n\r"


class Call(NamedTuple):
    """A call: the name that is compared, its arguments, the arguments as they were given, and the name as written.

    `arguments` is None where they are not a JSON object, or where the call has no name; such a call is *malformed*. It may be the
    caller's own object: nothing here changes it. A tuple, since a match makes dozens of them.
    """

    name: str
    arguments: dict[str, Any] | None
    raw: Any
    written: str

    def __str__(self) -> str:
        """The call as a line of code, shortened: ``book(id=7)``."""
        if self.arguments is None:
            return f"{self.shown_name}({shown(self.raw)})"
        parts = [f"{one_line(str(key), 40)}={shown(value)}" for key, value in self._first_arguments()]
        return f"{self.shown_name}({', '.join(parts)}{', …' if len(self.arguments) > _SHOWN_ARGUMENTS else ''})"

    @property
    def shown_name(self) -> str:
        """The name as written, on one line and shortened."""
        return one_line(self.written, 80)

    def _first_arguments(self) -> list[tuple[str, Any]]:
        return list((self.arguments or {}).items())[:_SHOWN_ARGUMENTS]


def shown(value: Any) -> str:
    """The beginning of the value's JSON text, on one line."""
    try:
        return excerpt(value, _SHOWN_CHARS)
    except RecursionError:
        return "a value nested too deeply to show"


def read_call(raw: Any, spelling: Spelling | None = None) -> Call:
    """The call behind a raw one: a mapping in any notation, or an object with ``model_dump``, as OpenAI's client makes them."""
    given = raw if raw.__class__ is dict else as_dict(raw)
    name, arguments = name_and_arguments(given)
    if name.__class__ is not str or not name:
        return Call("", None, raw, "call without a name")
    read: dict[str, Any] | None = {} if arguments is NO_ARGUMENTS else read_arguments(arguments)
    return Call(name if spelling is None else spelling(name), read, arguments, name)


def read_arguments(raw: Any) -> dict[str, Any] | None:
    """Arguments as an object: text is parsed, and empty text means none. None for everything that is not a JSON object."""
    if raw.__class__ is dict:
        arguments: dict[str, Any] = raw
        return arguments
    if isinstance(raw, str):
        return _parsed(raw)
    return dict(raw) if isinstance(raw, Mapping) else None


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value, end = _DECODER.raw_decode(text) if text[:1] == "{" else (_DECODER.decode(text), len(text))
    except (ValueError, RecursionError):
        return None if text.strip() else {}
    if end != len(text) and text[end:].strip(_BLANKS):
        return None
    return value if isinstance(value, dict) else None


# made once: json.loads makes a decoder for every text that it reads with an option
_DECODER = json.JSONDecoder(parse_constant=refuse_constant)
