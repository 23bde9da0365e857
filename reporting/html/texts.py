"""The texts of an HTML report: each stored once, however many items show it, and bounded so that the file stays small."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from eval_skills.reporting.escape import json_text, script_json, visible

TEXT_LIMIT = 2_000
SHORTEST_LIMIT = 125
TEXTS_BUDGET = 1_900_000
ONE_LINE = 80

Row: TypeAlias = tuple[str, str, int]
"""What is shown, the kind of value it was (``text``, ``number`` …), and how many characters were cut off."""


@dataclass(slots=True)
class TextTable:
    """Distinct values as people read them, of at most `limit` characters, known by their index.

    Two values longer than `limit` share an entry when what is shown of them, their length and their kind are the same.
    """

    limit: int = TEXT_LIMIT
    characters: int = 0
    _index: dict[Row, int] = field(default_factory=dict)

    def add(self, value: Any) -> int | None:
        """The index of any JSON value; None for None, which has nothing to show."""
        if value is None:
            return None
        text = readable(value)
        row = (visible(text[: self.limit]), _kind(value), max(0, len(text) - self.limit))
        if row not in self._index:
            self._index[row] = len(self._index)
            self.characters += len(row[0])
        return self._index[row]

    @property
    def uncut(self) -> list[Row]:
        """The texts by index, as they were added."""
        return list(self._index)

    def rows(self, budget: int = TEXTS_BUDGET) -> list[Row]:
        """The texts by index, cut to `limit` characters, or to half of that and so on until they fit into `budget` bytes.

        Below `SHORTEST_LIMIT` nothing is cut further, whatever the budget.
        """
        rows, limit = self.uncut, self.limit
        while limit // 2 >= SHORTEST_LIMIT and len(script_json(rows).encode()) > budget:
            limit //= 2
            rows = [_cut(row, limit) for row in rows]
        return rows


def _cut(row: Row, limit: int) -> Row:
    shown, kind, more = row
    return (shown[:limit], kind, more + max(0, len(shown) - limit))


def readable(value: Any) -> str:
    """Text as it is; other JSON on one line where it is short, else indented, unless it is too long to be shown whole."""
    if isinstance(value, str):
        return value
    text = json_text(value)
    short = len(text) <= ONE_LINE or len(text) > 2 * TEXT_LIMIT or not isinstance(value, dict | list)
    return text if short else json_text(value, indent=2)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    kinds: dict[type, str] = {str: "text", int: "number", float: "number", dict: "object", list: "list"}
    return kinds.get(type(value), "value")
