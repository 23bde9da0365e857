"""References that lead back to themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from eval_skills.core.errors import InputError


class Circles:
    """Knows of every reference whether what it leads to refers to it again; each target is walked once."""

    def __init__(self, lookup: Callable[[str, str], Any]) -> None:
        self._lookup = lookup
        self._next: dict[str, frozenset[str]] = {}
        self._back: dict[str, bool] = {}

    def leads_back(self, reference: str) -> bool:
        """Whether `reference` can be reached from what it leads to, at any distance."""
        if reference not in self._back:
            self._back[reference] = self._reaches_itself(reference)
        return self._back[reference]

    def _reaches_itself(self, reference: str) -> bool:
        seen: set[str] = set()
        rest = [reference]
        while rest:
            for each in self._following(rest.pop()):
                if each == reference:
                    return True
                if each not in seen:
                    seen.add(each)
                    rest.append(each)
        return False

    def _following(self, reference: str) -> frozenset[str]:
        if reference not in self._next:
            try:
                target = self._lookup(reference, "")
            except InputError:  # an example may hold something that only looks like a reference
                target = None
            self._next[reference] = frozenset(references(target))
        return self._next[reference]


def references(node: Any) -> Iterator[str]:
    """Every ``$ref`` in `node`, at any depth, also where it only looks like one."""
    rest = [node]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            if isinstance(reference := part.get("$ref"), str):
                yield reference
            rest.extend(part.values())
        elif isinstance(part, list):
            rest.extend(part)
