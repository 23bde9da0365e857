"""What a function that judges was made with: two of one source judge differently where these differ."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import Any, cast

_PLAIN: tuple[type, ...] = (
    type(None), bool, int, float, complex, str, bytes, Decimal, Fraction, datetime, date, time, timedelta, PurePath,
    range,
)  # fmt: skip

_LONG_BITS, _MOST_LEVELS = 10_000, 200


def own_parameters(function: Callable[..., Any]) -> list[str]:
    """The values that the function got when it was made, each with its name, as far as they are plain data.

    They are the values that it closes over, its defaults, the arguments of a partial function, and the attributes of an object
    that can be called, or whose method it is; so are those of a function that it wraps. Plain data is what JSON has, with tuples,
    sets, ranges, dates, decimals, enums, data classes and patterns of `re`; a part of it that is something else counts by its
    type. Neither what the function calls nor what it reads elsewhere is seen.
    """
    named = {f"{place}.{name}": value for place, values in _held(function) for name, value in values.items()}
    return [f"{name}={_written(value)}" for name, value in sorted(named.items()) if _is_plain(value)]


def _held(function: Any, place: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The values of the function by their names, and those of the functions in it, each with where it is."""
    if isinstance(function, functools.partial):
        yield f"{place}partial", _by_place(function.args) | function.keywords
        yield from _held(function.func, f"{place}partial.")
    elif inspect.ismethod(function):
        if not isinstance(function.__self__, type):
            yield f"{place}self", _attributes(function.__self__)
        yield from _held(function.__func__, f"{place}method.")
    elif inspect.isfunction(function):
        yield f"{place}default", _by_place(function.__defaults__ or ()) | (function.__kwdefaults__ or {})
        yield f"{place}closure", _closure(function)
        if (wrapped := getattr(function, "__wrapped__", None)) is not None:
            yield from _held(wrapped, f"{place}wrapped.")
    elif not inspect.isroutine(function):
        yield f"{place}self", _attributes(function)
        yield from _held(inspect.getattr_static(type(function), "__call__", None), f"{place}method.")


def _by_place(values: tuple[Any, ...]) -> dict[str, Any]:
    return {str(place): value for place, value in enumerate(values)}


def _closure(function: Any) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    return {name: value for name, cell in cells for value in _content(cell)}


def _content(cell: Any) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # it is empty: the name has no value yet
        return []


def _attributes(target: Any) -> dict[str, Any]:
    slots = [name for each in type(target).__mro__ for name in _names(getattr(each, "__slots__", ()))]
    return {name: getattr(target, name) for name in slots if hasattr(target, name)} | dict(getattr(target, "__dict__", {}))


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_plain(value: Any) -> bool:
    return isinstance(value, (*_PLAIN, Enum, re.Pattern, list, tuple, set, frozenset, dict)) or _is_record(value)


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _written(value: Any, around: tuple[int, ...] = ()) -> str:
    """The value as a text that is the same in every process; a part that holds itself, or lies too deep, counts by its type."""
    kind = f"<{type(value).__module__}.{type(value).__qualname__}>"
    if isinstance(value, Enum):
        return f"{kind}.{value.name}"
    if isinstance(value, re.Pattern):
        return f"{kind}({value.pattern!r}, {value.flags})"  # its own text ends after 200 characters
    if isinstance(value, int) and value.bit_length() > _LONG_BITS:
        return int.__format__(value, "x")  # Python writes no more than 4,300 decimal digits
    if (plain := next((each for each in _PLAIN if isinstance(value, each)), None)) is not None:
        return str(cast(Any, plain).__repr__(value))  # not that of a subclass, which may be anybody's
    if not _is_plain(value) or id(value) in around or len(around) > _MOST_LEVELS:
        return kind
    inside = (*around, id(value))
    if _is_record(value):
        value = _attributes(value)
    if isinstance(value, dict):
        parts = [f"{_written(name, inside)}: {_written(part, inside)}" for name, part in value.items()]
    else:
        parts = [_written(part, inside) for part in value]
    ordered = parts if isinstance(value, list | tuple) else sorted(parts)
    return f"{kind}({', '.join(ordered)})"
