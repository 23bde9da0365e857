"""Answers to a question of BFCL, made up from its accepted calls: the right one, and one for each way of being wrong."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

Call = dict[str, dict[str, Any]]
"""A call as the official checker takes it: ``{function: {parameter: value}}``."""

Answer = list[Call]

OTHER_VALUES: tuple[Any, ...] = ("", "other", 7, -1.5, True, None, [], ["a", 1], {}, {"a": 1}, [{"a": 1}], [[1]], 10**400)
"""Values of every type, of which most are wrong wherever they stand."""


def made_answers(gold: list[Call], seed: str) -> Iterator[Answer]:
    """The right answer, and others of which most are wrong in one way; the same ones for the same seed."""
    chance = random.Random(seed)
    right = [_right(call, lambda choices: choices[0]) for call in gold]
    yield right
    yield [_right(call, chance.choice) for call in gold]
    yield [_right(call, lambda choices: choices[0], optional=False) for call in gold]
    yield []
    yield [*right, right[-1]]
    yield right[::-1]
    yield chance.sample(right, len(right))
    yield [right[0]] * len(right)
    for change in CHANGES:
        changed = copy.deepcopy(right)
        change(chance.choice(changed), chance)
        yield changed


def _right(call: Call, choose: Callable[[list[Any]], Any], *, optional: bool = True) -> Call:
    [(function, allowed)] = call.items()
    chosen = {name: _value(choices, choose) for name, choices in allowed.items() if optional or "" not in choices}
    return {function: {name: value for name, value in chosen.items() if value != ""}}


def _value(choices: Any, choose: Callable[[list[Any]], Any]) -> Any:
    """One of the allowed values; of an object, one for each key."""
    there = [each for each in choices if each != ""] if isinstance(choices, list) else choices
    return _filled(choose(there) if isinstance(there, list) and there else "", choose)


def _filled(chosen: Any, choose: Callable[[list[Any]], Any]) -> Any:
    if isinstance(chosen, dict):
        filled = {key: _value(choices, choose) for key, choices in chosen.items()}
        return {key: value for key, value in filled.items() if value != ""}
    if isinstance(chosen, list) and chosen and isinstance(chosen[0], dict):
        return [_filled(each, choose) for each in chosen]
    return copy.deepcopy(chosen)


def _arguments(call: Call) -> dict[str, Any]:
    return next(iter(call.values()))


def _one_of(arguments: dict[str, Any], chance: random.Random) -> list[str]:
    return [chance.choice(list(arguments))] if arguments else []


def _rename(call: Call, _: random.Random) -> None:
    function, arguments = call.popitem()
    call[f"{function}_2"] = arguments


def _other_value(call: Call, chance: random.Random) -> None:
    """Another value of the same type."""
    arguments = _arguments(call)
    for name in _one_of(arguments, chance):
        arguments[name] = _neighbour(arguments[name])


def _neighbour(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value} z"
    if isinstance(value, list):
        return [*map(_neighbour, value[:1]), *value[1:]] or [1]
    if isinstance(value, dict) and value:
        key = next(iter(value))
        return {**value, key: _neighbour(value[key])}
    return value


def _other_type(call: Call, chance: random.Random) -> None:
    arguments = _arguments(call)
    for name in _one_of(arguments, chance):
        arguments[name] = chance.choice(OTHER_VALUES)


def _as_text(call: Call, chance: random.Random) -> None:
    arguments = _arguments(call)
    for name in _one_of(arguments, chance):
        arguments[name] = str(arguments[name])


def _spelled_otherwise(call: Call, _: random.Random) -> None:
    """Texts in upper case with blanks and punctuation, integers as floats and the other way round."""
    arguments = _arguments(call)
    for name, value in arguments.items():
        arguments[name] = _respelled(value)


def _respelled(value: Any) -> Any:
    if isinstance(value, str):
        return f" {value.upper().replace(' ', ', ')}.".replace('"', "'")
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return float(value)
    if isinstance(value, float):
        return int(value)
    if isinstance(value, list):
        return [_respelled(each) for each in value]
    return {key: _respelled(each) for key, each in value.items()} if isinstance(value, dict) else value


def _turned_round(call: Call, _: random.Random) -> None:
    """Lists in another order, or one element longer."""
    arguments = _arguments(call)
    for name, value in arguments.items():
        if isinstance(value, list):
            arguments[name] = value[::-1] if len(value) > 1 else value * 2


def _missing(call: Call, chance: random.Random) -> None:
    arguments = _arguments(call)
    for name in _one_of(arguments, chance):
        del arguments[name]


def _other_keys(call: Call, chance: random.Random) -> None:
    """A key of an object is missing, or there is one too many."""
    for value in _arguments(call).values():
        for inside in value if isinstance(value, list) else [value]:
            if isinstance(inside, dict) and inside and chance.random() < 0.5:
                inside.popitem()
            elif isinstance(inside, dict):
                inside["of_nobody"] = 1


def _extra(call: Call, _: random.Random) -> None:
    _arguments(call)["of_nobody"] = 1


CHANGES: tuple[Callable[[Call, random.Random], None], ...] = (
    _rename, _other_value, _other_type, _as_text, _spelled_otherwise, _turned_round, _missing, _other_keys, _extra,
)  # fmt: skip
"""What is done to one call of the right answer."""
