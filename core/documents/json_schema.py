"""JSON Schema validation in bounded time, without reading anything from elsewhere.

Why not jsonschema-rs: 0.60 was measured against the same cases. It is faster and its patterns cannot backtrack, but it has no
deadline and holds the interpreter's lock while it validates: references that double 22 times stopped all other threads for 0.7 s,
and each further one doubles that, so `timeoutMs` could not be kept. It also refuses ``\\Z``, matches only ASCII digits with
``\\d``, raises for lone surrogates, calls an array of 5,000 levels invalid instead of too deep, and ignores the format ``color``.
"""

from __future__ import annotations

import json
import math
from contextvars import ContextVar
from decimal import Decimal
from fractions import Fraction
from functools import cache
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from weakref import WeakValueDictionary

import regex
from jsonschema import FormatChecker, validators
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from jsonschema_specifications import REGISTRY as METASCHEMAS
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from eval_skills.core.documents.json_equality import json_key
from eval_skills.core.documents.metaschema import check_schema
from eval_skills.core.documents.patterns import compiled_pattern
from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason
from eval_skills.core.text import excerpt, nearest, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema.protocols import Validator
    from referencing import Resource
    from referencing._core import Resolver

    Draft = Any  # the published types of jsonschema leave out half of what a draft's class has
    Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]

MIXED_ENTRIES = 500
"""How many values that cannot be sorted one list of a schema of draft 4 may hold."""

_WITH_IRIS = (validators.Draft7Validator, validators.Draft201909Validator, validators.Draft202012Validator)
_ASCII = "".join(map(chr, range(128)))

_deadline: ContextVar[float] = ContextVar("deadline of the validation under way")


class BoundedSchema:
    """A schema, checked once, that validates many values.

    Each has a registry of its own, so one schema's ``$id`` means nothing to another. Without `formats`, ``format`` is not
    checked, which is the default since draft 2019-09. With `known_valid` the schema itself is not checked: that takes longer than
    many a validation.

    Raises:
        InputError: the schema is invalid, names an unknown draft, or refers to something outside itself.
    """

    def __init__(self, schema: dict[str, Any] | bool, *, formats: bool = True, known_valid: bool = False) -> None:
        draft = _draft(schema)
        try:
            self._validator = _checked(schema, draft, formats=formats, known_valid=known_valid)
        except SchemaError as error:
            message = f"not a valid schema: {one_line(error.message)}; see https://json-schema.org"
            raise InputError(message, path=error.json_path.replace("$", "schema", 1)) from None
        except RecursionError:
            raise InputError("nested too deeply to be checked; flatten it with $defs", path="schema") from None

    def reason(self, value: Any, timeout_s: float) -> Reason | None:
        """Why the value is not valid, or None when it is.

        Raises:
            TimeoutError: validation did not end in time.
        """
        token = _deadline.set(monotonic() + timeout_s)
        try:
            error = best_match(self._validator.iter_errors(value))
        except RecursionError:
            return Reason(code="OUTPUT_SCHEMA_DEPTH", message=f"nested too deeply to be checked: {excerpt(value)}", where="$")
        finally:
            _deadline.reset(token)
        return None if error is None else _reason(error)


def _checked(schema: dict[str, Any] | bool, draft: Draft, *, formats: bool, known_valid: bool) -> Any:
    if draft.META_SCHEMA["properties"].get("enum", {}).get("uniqueItems"):
        _refuse_long_mixtures(schema)
    if known_valid:
        return _built(schema, draft, formats=formats)  # not kept: what was not checked is found by nobody else
    digest = _digest(schema)
    validator = None if digest is None else _in_use.get((draft, digest, formats))
    if validator is None:
        _check_once(schema, draft, digest)
        validator = _built(schema, draft, formats=formats)
        if digest is not None:
            _in_use[draft, digest, formats] = validator
    return validator


def _built(schema: dict[str, Any] | bool, draft: Draft, *, formats: bool) -> Any:
    # the draft is settled: naming it again below would make jsonschema choose its own, unbounded keywords
    own = {key: value for key, value in schema.items() if key != "$schema"} if isinstance(schema, dict) else schema
    refuse_foreign_parts(own, draft)
    return _bounded(draft)(own, registry=METASCHEMAS, format_checker=_formats(draft) if formats else None)


_in_use: WeakValueDictionary[tuple[Draft, bytes, bool], Any] = WeakValueDictionary()
"""The validators that are in use, by draft, digest of the schema, and whether formats are checked: many tasks of a benchmark have
the same schema."""

_found_valid: set[tuple[Draft, bytes]] = set()
"""The schemas that were valid by their draft, as digests: one benchmark may be read again and again in a process."""


def _digest(schema: dict[str, Any] | bool) -> bytes | None:
    try:
        return sha256(json.dumps(schema, sort_keys=True).encode()).digest()
    except (TypeError, ValueError):  # from Python: it holds something that JSON does not
        return None


def _check_once(schema: dict[str, Any] | bool, draft: Draft, digest: bytes | None) -> None:
    if digest is None or (draft, digest) not in _found_valid:
        check_schema(schema, draft, _formats(draft))
        if digest is not None:
            _found_valid.add((draft, digest))


def _refuse_long_mixtures(schema: dict[str, Any] | bool) -> None:
    """Draft 4 wants the entries of an `enum` to differ, and what cannot be sorted is compared pair by pair."""
    rest: list[Any] = [schema]
    kinds = (str, int | float)
    while rest:  # a stack of its own: a schema may be nested deeper than Python recurses
        part = rest.pop()
        sortable = isinstance(part, list) and any(all(isinstance(each, kind) for each in part) for kind in kinds)
        if isinstance(part, list) and len(part) > MIXED_ENTRIES and not sortable:
            raise InputError(f"a list of {len(part):,} values of several kinds takes too long to check", path="schema")
        if isinstance(part, dict | list):
            rest.extend(part.values() if isinstance(part, dict) else part)


def _reason(error: ValidationError) -> Reason:
    rule = f"{error.validator} {excerpt(error.validator_value)}" if error.validator else "nothing at all"
    message = f"at {error.json_path}: expected {rule}, got {excerpt(error.instance)}"
    return Reason(code="OUTPUT_SCHEMA", message=message, where=one_line(error.json_path))


def _draft(schema: dict[str, Any] | bool) -> Draft:
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if named is None:
        return validators.Draft202012Validator
    unknown: Any = None
    draft = validators.validator_for(schema, default=unknown) if isinstance(named, str) else None
    if draft in (None, validators.Draft3Validator):  # draft 3 (2010) cannot be walked: its subschemas may be mere type names
        known = [uri for uri in METASCHEMAS if uri.endswith("schema") and "draft-03" not in uri]
        raise InputError(
            f"unknown draft {excerpt(named)}{nearest(str(named), known)}; known: {', '.join(known)}", path="schema.$schema"
        )
    return draft


@cache
def _formats(draft: Draft) -> FormatChecker:
    checker = FormatChecker(formats=())
    checker.checkers = dict(draft.FORMAT_CHECKER.checkers)
    checker.checks("regex", raises=regex.error)(lambda text: not isinstance(text, str) or bool(regex.compile(text)))
    if draft in _WITH_IRIS:  # jsonschema wants a package for them that takes seconds to load
        for name in ("iri", "iri-reference"):
            checker.checkers[name] = (_of_ascii(checker.checkers[name.replace("iri", "uri")][0]), ())
    return checker


def _of_ascii(check: Callable[[object], bool]) -> Callable[[object], bool]:
    """An IRI is what maps to a URI (RFC 3987, section 3.1)."""
    return lambda text: check(quote(text, safe=_ASCII) if isinstance(text, str) else text)


@cache
def _bounded(draft: Draft) -> Draft:
    """The draft with every keyword held to the deadline.

    Those that match patterns or compare items are done in bounded time, and multiples are those of the numbers as written.
    """
    own = {
        "multipleOf": _multiple_of,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
    }
    if "additionalProperties" in draft.VALIDATORS:
        own["additionalProperties"] = _additional_properties
    keywords = {**draft.VALIDATORS, **{name: keyword for name, keyword in own.items() if name in draft.VALIDATORS}}
    extend: Any = validators.extend
    return extend(draft, {name: _in_time(keyword) for name, keyword in keywords.items()})


def _in_time(keyword: Keyword) -> Keyword:
    def check(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        _time_left()
        return keyword(validator, rule, instance, schema)

    return check


def _time_left() -> float:
    left = _deadline.get() - monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _matches(pattern: str, text: str) -> bool:
    return regex.search(pattern, text, timeout=_time_left(), concurrent=True) is not None


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not _matches(pattern, instance):
        yield ValidationError(f"no match of {pattern!r}")


def _pattern_properties(validator: Any, rules: dict[str, Any], instance: Any, _: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "object"):
        for pattern, schema in rules.items():
            for name, value in instance.items():
                if _matches(pattern, name):
                    yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    patterns = schema.get("patternProperties", {})
    declared = schema.get("properties", {})
    for name, value in instance.items():
        if name not in declared and not any(_matches(pattern, name) for pattern in patterns):
            if rule is False:
                yield ValidationError(f"unexpected property {excerpt(name)}")
            else:
                yield from validator.descend(value, rule, path=name)


def _unique_items(validator: Any, unique: bool, instance: Any, _: Any) -> Iterator[ValidationError]:
    if unique and validator.is_type(instance, "array") and len(set(map(json_key, instance))) < len(instance):
        yield ValidationError("an item occurs twice")


def _multiple_of(validator: Any, step: float, instance: Any, _: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "number"):
        return
    number, unit = _exact(instance), _exact(step)
    if number is None or unit is None or number % unit:
        yield ValidationError("not a multiple")


def _exact(number: float) -> Fraction | None:
    """The number as it is written, since binary holds neither 4.35 nor 0.01 exactly; None where it is not finite."""
    if isinstance(number, int):
        return Fraction(number)
    return Fraction(Decimal(repr(number))) if math.isfinite(number) else None


_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def refuse_foreign_parts(schema: dict[str, Any] | bool, draft: type[Validator]) -> None:
    """Walk every subschema of a valid schema once, so that validation meets no reference that it cannot resolve.

    Raises:
        InputError: a reference has no target within the schema, a pattern is invalid, a subschema names a draft of its own, or
            `unevaluatedProperties` is in a schema with `patternProperties` (whose matches there have no time limit).
    """
    dialect = draft.META_SCHEMA.get("$id") or draft.META_SCHEMA.get("id", "")
    root = specification_with(dialect).create_resource(schema)
    registry = METASCHEMAS.with_resource(root.id() or "", root).crawl()  # once: else every reference to an anchor does it anew
    parts = list(_subschemas(root, registry.resolver(root.id() or "")))
    for contents, resolver in parts:
        _refuse_dangling_references(contents, resolver)
        by_pattern = contents.get("patternProperties")
        for pattern in [contents.get("pattern"), *(by_pattern if isinstance(by_pattern, dict) else ())]:
            if isinstance(pattern, str):
                compiled_pattern(pattern, "schema")
        if "$schema" in contents:
            raise InputError(
                f"a part names the draft {excerpt(contents['$schema'])}; name one for the whole schema", path="schema"
            )
    used = {keyword for contents, _ in parts for keyword in contents}
    if {"unevaluatedProperties", "patternProperties"} <= used:
        raise InputError(
            "patternProperties and unevaluatedProperties cannot be combined; use additionalProperties", path="schema"
        )


def _subschemas(resource: Resource[Any], resolver: Resolver[Any]) -> Iterator[tuple[dict[str, Any], Resolver[Any]]]:
    if isinstance(resource.contents, dict):
        yield resource.contents, resolver
    for part in resource.subresources():
        yield from _subschemas(part, resolver.in_subresource(part))


def _refuse_dangling_references(contents: dict[str, Any], resolver: Resolver[Any]) -> None:
    for keyword in _REFERENCES:
        reference = contents.get(keyword)
        if not isinstance(reference, str):
            continue
        try:
            resolver.lookup(reference)
        except Unresolvable:
            message = (
                f"{keyword} {excerpt(reference)} has no target within the schema, and nothing is fetched; put it under $defs"
            )
            raise InputError(message, path="schema") from None
