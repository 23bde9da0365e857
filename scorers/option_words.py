"""The types of options in words, and what these words tell apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

ARRAYS, OBJECTS = (list, tuple, set, frozenset, Sequence), (dict, Mapping)
"""The types that an array of a benchmark file may stand for, and those that an object may."""

_PLAIN = {bool: "true or false", int: "a whole number", float: "a number", str: "text", NoneType: "null"}
_LIMITS = {"ge": "of at least", "gt": "above", "lt": "below", "le": "of at most"}
_SHOWN = 80


def described(hint: Any) -> str:
    """The type in words: ``a number from 0 to 1``, ``text, a list or null``."""
    plain, args = bare(hint), get_args(bare(hint))
    kind, rules = kind_of(plain), list(_rules(hint))
    if is_union(plain):
        return one_of(args)
    if kind is Literal:
        return f"one of {', '.join(repr(each) for each in args)}"
    if kind in ARRAYS:
        return _array(plain, args)
    if kind in OBJECTS:
        return "an object" if args[1:] in ((), (Any,)) else f"an object of values, each {described(args[1])}"
    if plain is str and any(getattr(rule, "pattern", None) == r"\S" for rule in rules):
        return "text that is not blank"
    return _PLAIN.get(kind, f"a value of type {getattr(kind, '__name__', kind)}") + _bounds(rules)


def has_words(hint: Any) -> bool:
    """Whether there are words of ours for the kind of value that the type is."""
    return kind_of(bare(hint)) in (*_PLAIN, *ARRAYS, *OBJECTS, Literal)


def tells_its_rules(hint: Any) -> bool:
    """Whether our words tell all the rules of an annotated type."""
    return all(getattr(each, "pattern", None) == r"\S" or any(hasattr(each, name) for name in _LIMITS) for each in _rules(hint))


def shown(value: Any) -> str:
    """The value as a benchmark file has it, shortened."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def one_of(hints: Sequence[Any]) -> str:
    """The types in words, null last."""
    words = [described(each) for each in sorted(hints, key=lambda each: each is not NoneType)]
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def bare(hint: Any) -> Any:
    """The type without the rules for it."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def kind_of(plain: Any) -> Any:
    """What a type is of: ``list`` of ``list[str]``, and of ``list``."""
    return get_origin(plain) or plain


def is_union(hint: Any) -> bool:
    """Whether it is one type or another."""
    return get_origin(hint) in (Union, UnionType)


def is_of_fixed_length(plain: Any) -> bool:
    """Whether it is a tuple that says what stands at each place; ``tuple[()]`` does, and a bare ``tuple`` does not."""
    return kind_of(plain) is tuple and hasattr(plain, "__args__") and Ellipsis not in get_args(plain)


def _array(plain: Any, args: tuple[Any, ...]) -> str:
    if not is_of_fixed_length(plain):
        return "a list" if args[:1] in ((), (Any,)) else f"a list of values, each {described(args[0])}"
    if any(each != args[0] for each in args):
        return f"a list of {len(args)} values: {', '.join(map(described, args))}"
    return f"a list of {len(args)} values, each {described(args[0])}" if args else "an empty list"


def _rules(hint: Any) -> Iterable[Any]:
    for each in get_args(hint)[1:] if get_origin(hint) is Annotated else ():
        yield from getattr(each, "metadata", None) or [each]


def _bounds(rules: list[Any]) -> str:
    given = {name: f"{limit:g}" for rule in rules for name in _LIMITS if (limit := getattr(rule, name, None)) is not None}
    if {"ge", "le"} <= given.keys():
        return f" from {given['ge']} to {given['le']}"
    words = [f"{_LIMITS[name]} {limit}" for name, limit in given.items()]
    return f" {' and '.join(words)}" if words else ""
