"""References of a document: which form cycles, and whether answers can be checked against the schemas they lead to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from eval_skills.core.errors import InputError


class ReferenceCycles:
    """Tells of every reference whether its target refers back to it; each target is walked once."""

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


class SchemaChecks:
    """Checks schemas of one document, and remembers the result for each definition, as operations share them.

    Checking takes about ten times as long as building, and where all components of a document refer to one another, every
    operation needs all of them.
    """

    def __init__(self) -> None:
        self._problems: dict[str, str | None] = {}

    def problem(self, schema: dict[str, Any]) -> str | None:
        """Why an answer cannot be checked against `schema`, or None when it can; its references lead to its ``$defs``."""
        own = {key: part for key, part in schema.items() if key != "$defs"}
        found = (self._problem(part) for part in (own, *schema.get("$defs", {}).values()))
        return next((problem for problem in found if problem is not None), None)

    def _problem(self, part: dict[str, Any] | bool) -> str | None:
        text = json.dumps(part)
        if text not in self._problems:
            self._problems[text] = _problem(part)
        return self._problems[text]


def _problem(part: dict[str, Any] | bool) -> str | None:
    from eval_skills.core.documents.json_schema import BoundedSchema

    # what it refers to is checked by itself; a placeholder of that name keeps the reference valid
    names = {reference.removeprefix("#/$defs/"): True for reference in references(part)}
    try:
        BoundedSchema({**part, "$defs": names} if isinstance(part, dict) else part)
    except InputError as error:
        return error.message
    return None
