"""Whether answers can be checked against the schemas of a document."""

from __future__ import annotations

import json
from typing import Any

from eval_skills.core.errors import InputError
from eval_skills.scaffolding.openapi.circles import references


class Soundness:
    """Judges schemas of one document, and remembers the verdict on each definition, as operations share them.

    Judging takes about ten times as long as building, and where all components of a document refer to one another, every
    operation brings all of them along.
    """

    def __init__(self) -> None:
        self._verdicts: dict[str, str | None] = {}

    def problem(self, schema: dict[str, Any]) -> str | None:
        """Why an answer cannot be checked against `schema`, or None when it can; its references lead to its ``$defs``."""
        own = {key: part for key, part in schema.items() if key != "$defs"}
        found = (self._verdict(part) for part in (own, *schema.get("$defs", {}).values()))
        return next((problem for problem in found if problem is not None), None)

    def _verdict(self, part: dict[str, Any] | bool) -> str | None:
        text = json.dumps(part)
        if text not in self._verdicts:
            self._verdicts[text] = _problem(part)
        return self._verdicts[text]


def _problem(part: dict[str, Any] | bool) -> str | None:
    from eval_skills.core.schema_validation import BoundedSchema

    # what it refers to is judged by itself; a name in its place keeps the reference from leading astray
    names = {reference.removeprefix("#/$defs/"): True for reference in references(part)}
    try:
        BoundedSchema({**part, "$defs": names} if isinstance(part, dict) else part)
    except InputError as error:
        return error.message
    return None
