"""The types of options in words, and the place where a value does not fit one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter, ValidationError

from eval_skills.core.errors import nearest

_STRICT = ConfigDict(strict=True, allow_inf_nan=False)
_PLAIN = {bool: "true or false", int: "a whole number", float: "a number", str: "text", dict: "an object", NoneType: "null"}
_LIMITS = {"ge": "of at least", "gt": "above", "lt": "below", "le": "of at most"}
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Misfit:
    """A value that is not of its type: where it is inside the option (``[1]``, ``.right``), and what belongs there."""

    place: str
    expected: str
    value: Any
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"expected {self.expected}, got {shown(self.value)}{self._nearest}"

    @property
    def _nearest(self) -> str:
        return nearest(self.value, list(self.choices)) if isinstance(self.value, str) and self.choices else ""


def converted(hint: Any, value: Any) -> Any:
    """The value in the type, taken strictly: ``"5"`` is no number, and NaN is none. An array may stand for a tuple.

    Raises:
        ValidationError: it does not fit.
    """
    if isinstance(value, list) and any(get_origin(each) is tuple for each in (hint, *get_args(hint))):
        value = tuple(value)
    return TypeAdapter(hint, config=_STRICT).validate_python(value)


def misfit(hint: Any, value: Any, place: str = "") -> Misfit:
    """Where a value that does not fit a type fails it, as deep inside as can be told."""
    plain, args = _bare(hint), get_args(_bare(hint))
    if _is_union(plain):
        inner = next((each for each in args if _holds(each, value)), None)
        if inner is not None:
            return misfit(inner, value, place)
        if not place:  # null is an option that is left out
            args = tuple(each for each in args if each is not NoneType)
        return Misfit(place, _one_of(args), value, _choices(args))
    if _holds(plain, value):
        types, parts = _parts(plain, value)
        for each, (key, part) in zip(types, parts, strict=False):
            if not _fits(each, part):
                return misfit(each, part, place + key)
    return Misfit(place, described(hint), value, _choices([hint]))


def described(hint: Any) -> str:
    """The type in words: ``a number from 0 to 1``, ``text, a list or null``."""
    plain, args = _bare(hint), get_args(_bare(hint))
    if _is_union(plain):
        return _one_of(args)
    if get_origin(plain) is Literal:
        return f"one of {', '.join(repr(each) for each in args)}"
    if get_origin(plain) is tuple:
        return f"a list of {'' if args[-1] is Ellipsis else f'{len(args)} '}values, each {described(args[0])}"
    if get_origin(plain) is dict and args[1] is not Any:
        return f"an object of values, each {described(args[1])}"
    word = _PLAIN.get(get_origin(plain) or plain, "another type of value")
    rules = list(_rules(hint))
    if plain is str and any(getattr(rule, "pattern", None) == r"\S" for rule in rules):
        return "text that is not blank"
    return word + _bounds(rules)


def _one_of(hints: Sequence[Any]) -> str:
    words = [described(each) for each in sorted(hints, key=lambda each: each is not NoneType)]
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def shown(value: Any) -> str:
    """The value as a benchmark file has it, shortened."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _choices(hints: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(choice) for each in hints if get_origin(each) is Literal for choice in get_args(each))


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType)


def _holds(hint: Any, value: Any) -> bool:
    """Whether the value is of the kind of a list or an object that the type is, whatever it holds."""
    if get_origin(hint) is tuple:
        return isinstance(value, list | tuple) and (get_args(hint)[-1] is Ellipsis or len(value) == len(get_args(hint)))
    return get_origin(hint) is dict and isinstance(value, dict)


def _parts(hint: Any, value: Any) -> tuple[Iterable[Any], Iterable[tuple[str, Any]]]:
    """The types of what the value holds, and what it holds by its place."""
    if isinstance(value, dict):
        return [get_args(hint)[1]] * len(value), [(f".{key}"[:_SHOWN], each) for key, each in value.items()]
    types = get_args(hint)
    each_of = [types[0]] * len(value) if types[-1] is Ellipsis else types
    return each_of, [(f"[{number}]", each) for number, each in enumerate(value)]


def _fits(hint: Any, value: Any) -> bool:
    try:
        converted(hint, value)
    except ValidationError:
        return False
    return True


def _rules(hint: Any) -> Iterable[Any]:
    for each in get_args(hint)[1:] if get_origin(hint) is Annotated else ():
        yield from getattr(each, "metadata", None) or [each]


def _bounds(rules: list[Any]) -> str:
    given = {name: f"{limit:g}" for rule in rules for name in _LIMITS if (limit := getattr(rule, name, None)) is not None}
    if {"ge", "le"} <= given.keys():
        return f" from {given['ge']} to {given['le']}"
    words = [f"{_LIMITS[name]} {limit}" for name, limit in given.items()]
    return f" {' and '.join(words)}" if words else ""
