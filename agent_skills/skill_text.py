"""A ``SKILL.md`` as it was read: its fields, with the place of each, its body, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

TEXT = "str"
"""What `Scalar.reads_as` is of a text."""

# What readers of YAML 1.2 take for a number, truth value, date or null; those of 1.1 resolve themselves (`reads_as`).
_NOT_TEXT = re.compile(
    r"^(~|null|true|false|yes|no|on|off|[-+]?(\d[\d_]*|0x[\da-f]+|0o?[0-7]+)|[-+]?(\d[\d_]*)?\.?\d+(e[-+]?\d+)?|[-+]?\d+\."
    r"|[-+]?\.inf|\.nan|\d{4}-\d{1,2}-\d{1,2})$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a file: line and column, from 1."""

    line: int
    column: int = 1


TOP = Place(1)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value that is text, as it was written; `is_quoted` also for text in a block (``|`` and ``>``).

    `reads_as` is the type that an ordinary reader of YAML 1.1, such as PyYAML, makes of it: ``str``, ``int``, ``timestamp`` …
    """

    text: str
    place: Place
    is_quoted: bool = False
    reads_as: str = TEXT

    @property
    def is_text(self) -> bool:
        """Whether an ordinary YAML reader takes it for text, too, and not for a number, truth value, date or null."""
        return self.reads_as == TEXT and (self.is_quoted or not (self.text == "" or _NOT_TEXT.match(self.text)))


@dataclass(frozen=True, slots=True)
class Items:
    """A value that is a list."""

    values: tuple[Value, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Fields:
    """A value that is a map; of a key that is given twice the first value counts."""

    fields: Mapping[str, Field]
    place: Place


Value = Scalar | Items | Fields


@dataclass(frozen=True, slots=True)
class Field:
    """A key with its value; `place` is the key's."""

    name: str
    value: Value
    place: Place

    @property
    def text(self) -> str | None:
        """The value, as it was written; None for a list or a map."""
        return self.value.text if isinstance(self.value, Scalar) else None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong: `code` names the rule, `fix` says what to do."""

    code: str
    message: str
    fix: str
    place: Place = TOP


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillText:
    """A ``SKILL.md``, read as far as it can be.

    `fields` are those of the frontmatter, in order; they are empty where it cannot be read at all (`is_readable` is False then).
    `body` is what follows the closing fence and begins in line `body_line`. `text` is the whole file; its lines end in ``\\n``.
    """

    text: str
    fields: Mapping[str, Field] = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    problems: tuple[Problem, ...] = ()
    is_readable: bool = True
