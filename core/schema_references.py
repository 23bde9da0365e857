"""What a JSON schema may not hold: references that lead outside, unknown drafts inside, unbounded matching."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonschema_specifications import REGISTRY as METASCHEMAS
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from eval_skills.core.errors import InputError
from eval_skills.core.excerpts import excerpt
from eval_skills.core.patterns import compiled_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.protocols import Validator
    from referencing import Resource
    from referencing._core import Resolver

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def refuse_foreign_parts(schema: dict[str, Any] | bool, draft: type[Validator]) -> None:
    """Walk every subschema of a valid schema once, so that judging an answer cannot meet what it cannot resolve.

    Raises:
        InputError: a reference leads to nothing within the schema, a pattern is invalid, a subschema names a draft of its own, or
            `unevaluatedProperties` stands in a schema with `patternProperties` (whose matches there have no time limit).
    """
    dialect = draft.META_SCHEMA.get("$id") or draft.META_SCHEMA.get("id", "")
    root = specification_with(dialect).create_resource(schema)
    registry = METASCHEMAS.with_resource(root.id() or "", root).crawl()  # once: else every reference to an anchor does it anew
    parts = list(_subschemas(root, registry.resolver(root.id() or "")))
    for contents, resolver in parts:
        _refuse_lost_references(contents, resolver)
        for pattern in [contents.get("pattern"), *_mapping(contents.get("patternProperties"))]:
            if isinstance(pattern, str):
                compiled_pattern(pattern, "schema")
        if "$schema" in contents:
            raise InputError(
                f"a part names the draft {excerpt(contents['$schema'])}; name one for the whole schema", path="schema"
            )
    used = {keyword for contents, _ in parts for keyword in contents}
    if {"unevaluatedProperties", "patternProperties"} <= used:
        raise InputError("patternProperties cannot stand beside unevaluatedProperties; use additionalProperties", path="schema")


def _subschemas(resource: Resource[Any], resolver: Resolver[Any]) -> Iterator[tuple[dict[str, Any], Resolver[Any]]]:
    if isinstance(resource.contents, dict):
        yield resource.contents, resolver
    for part in resource.subresources():
        yield from _subschemas(part, resolver.in_subresource(part))


def _refuse_lost_references(contents: dict[str, Any], resolver: Resolver[Any]) -> None:
    for keyword in _REFERENCES:
        reference = contents.get(keyword)
        if not isinstance(reference, str):
            continue
        try:
            resolver.lookup(reference)
        except Unresolvable:
            message = (
                f"{keyword} {excerpt(reference)} leads to nothing within the schema, and nothing is fetched; put it under $defs"
            )
            raise InputError(message, path="schema") from None


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
