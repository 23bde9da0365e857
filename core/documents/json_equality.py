"""When two JSON values are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

_SCALARS = frozenset({str, int, float, bool})


def same_scalar(one: Any, other: Any) -> bool:
    """Equality of JSON scalars: ``1 == 1.0``, while ``true != 1``, ``"1" != 1`` and null equals null alone."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def json_equal(one: Any, other: Any, *, scalars: Callable[[Any, Any], bool] = same_scalar) -> bool:
    """Deep equality of two JSON values, however deeply nested.

    Objects are equal when they hold the same keys with equal values (null is not absent), arrays when they hold equal values
    in the same order. Tuples count as arrays. `scalars` compares everything else, by default as `same_scalar` says.
    """
    plain = scalars is same_scalar
    pairs = [(one, other)]
    while pairs:  # a stack of its own: an answer may be nested deeper than Python recurses
        left, right = pairs.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            for key, value in left.items():
                other_value = right[key]
                if plain and value.__class__ is other_value.__class__ and value.__class__ in _SCALARS:
                    if value != other_value:
                        return False
                else:
                    pairs.append((value, other_value))
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
            if len(left) != len(right):
                return False
            pairs.extend(zip(left, right, strict=True))
        elif isinstance(left, dict | list | tuple) or isinstance(right, dict | list | tuple) or not scalars(left, right):
            return False
    return True


def json_key(value: Any) -> Hashable:
    """A hashable stand-in: two values have equal keys exactly when `json_equal` holds for them.

    Raises:
        RecursionError: the value is nested deeper than Python recurses.
    """
    if isinstance(value, dict):
        return ("object", frozenset((name, json_key(part)) for name, part in value.items()))
    if isinstance(value, list | tuple):
        return ("array", tuple(json_key(part) for part in value))
    return (isinstance(value, bool), value)
