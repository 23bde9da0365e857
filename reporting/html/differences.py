"""The differences of the answers in a page, each stored once, and bounded so that the file stays small."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eval_skills.core.differences import Difference, difference_of
from eval_skills.core.models import TaskResult
from eval_skills.reporting.escape import script_json, visible
from eval_skills.reporting.html.runs import readable

Json = dict[str, Any]

BUDGET = 60_000
"""Bytes of a report that differences may take."""

LEFT_OUT = -1
"""Stands for a difference that is not in the page."""


def difference_json(difference: Difference | None) -> Json | None:
    """A difference as the page's script reads it, harmless to show."""
    return None if difference is None else _visible(difference.to_json())


@dataclass(slots=True)
class DifferenceTable:
    """Differences by their index; after `budget` bytes no more is compared."""

    budget: int = BUDGET
    rows: list[Json] = field(default_factory=list)
    _index: dict[tuple[int, int], int | None] = field(default_factory=dict)

    def add(self, item: TaskResult, task: int) -> int | None:
        """The index of the difference of a failed item of a `task`; None where it has none, `LEFT_OUT` past the budget."""
        key = (task, hash(readable(item.output)))
        if key not in self._index:
            self._index[key] = self._added(item)
        return self._index[key]

    def _added(self, item: TaskResult) -> int | None:
        if self.budget <= 0:
            return LEFT_OUT
        found = difference_json(difference_of(item, item.expected))
        if found is None:
            return None
        self.budget -= len(script_json(found).encode())
        self.rows.append(found)
        return len(self.rows) - 1


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [_visible(each) for each in value]
    return {name: _visible(each) for name, each in value.items()} if isinstance(value, dict) else value
