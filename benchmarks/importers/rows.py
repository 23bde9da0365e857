"""The entries of a foreign file: a row of a table, a line, an element of a list; and why one of them is not a task here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.core.text import excerpt


class Skip(Exception):
    """An entry is well-formed and cannot be a task here. The text is the reason, the same for all entries of its sort."""


@dataclass(frozen=True, slots=True)
class Row:
    """One entry: its keys and values, and the `place` that messages name (``questions.csv:7``).

    `is_text` says that every value is text, as the cells of a CSV file are, so that lists and objects in it are JSON text.
    """

    place: str
    data: Mapping[str, Any]
    is_text: bool = False

    def has(self, key: str) -> bool:
        """Whether there is a value that is neither null nor blank text."""
        value = self.data.get(key)
        return value is not None and not (isinstance(value, str) and not value.strip())

    def first(self, *keys: str) -> str | None:
        """The first of these keys that has a value; None where none has."""
        return next((key for key in keys if self.has(key)), None)

    def text(self, key: str) -> str:
        """The text under `key`, which must not be blank; a number stands for its digits.

        Raises:
            InputError: there is none, or it is something else.
        """
        if not self.has(key):
            hint = f"; --map {key}=COLUMN says which column it is" if self.is_text and key not in self.data else ""
            raise self.refusal(f"this key is missing or empty{hint}", key)
        value = self.data[key]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return str(self._of(key, str, "text"))

    def text_or_empty(self, key: str) -> str:
        """The text under `key`, or "" where there is none."""
        return self.text(key) if self.has(key) else ""

    def listed(self, key: str) -> list[Any]:
        """The list under `key`; in a table of text it is JSON.

        Raises:
            InputError: there is none, or it is something else.
        """
        value = self._parsed(key) if self.is_text else self.data.get(key)
        if not isinstance(value, list):
            raise self.refusal(f"expected a list, got {excerpt(value, 80)}", key)
        return value

    def texts(self, key: str) -> list[str]:
        """The list of texts under `key`; one text stands for a list of one.

        Raises:
            InputError: there is none, or it is something else.
        """
        value = self.data.get(key)
        if isinstance(value, str) and not (self.is_text and value.lstrip().startswith("[")):
            return [value]
        found = self.listed(key)
        for each in found:
            if not isinstance(each, str):
                raise self.refusal(f"expected a list of texts, and it holds {excerpt(each, 80)}", key)
        return found

    def mapping(self, key: str) -> dict[str, Any]:
        """The object under `key`; in a table of text it is JSON.

        Raises:
            InputError: there is none, or it is something else.
        """
        value = self._parsed(key) if self.is_text else self.data.get(key)
        if not isinstance(value, dict):
            raise self.refusal(f"expected an object, got {excerpt(value, 80)}", key)
        return value

    def refusal(self, message: str, key: str = "") -> InputError:
        """An error about this entry, to be raised."""
        return InputError(message, source=self.place, path=key)

    def _of(self, key: str, kind: type, name: str) -> Any:
        value = self.data[key]
        if not isinstance(value, kind):
            raise self.refusal(f"expected {name}, got {excerpt(value, 80)}", key)
        return value

    def _parsed(self, key: str) -> Any:
        import json

        if not self.has(key):
            return None
        try:
            return json.loads(self.text(key))
        except (ValueError, RecursionError):
            raise self.refusal(f"expected JSON in this cell, got {excerpt(self.data[key], 80)}", key) from None


def row_of(value: Any, place: str) -> Row:
    """The entry of a JSON value.

    Raises:
        InputError: it is not an object.
    """
    if not isinstance(value, dict):
        raise InputError(f"expected an object, got {excerpt(value, 80)}", source=place)
    return Row(place, {str(key): part for key, part in value.items()})


Task = dict[str, Any]
"""The data of a task, as a benchmark file has it."""

Spoken = Callable[[str], None]
"""Says a remark that the reader of the import should see, once."""
