"""What is wrong with data that fits no model: where, what was given and what would be valid, in terms of the data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from eval_skills.core.documents.yaml_documents import TRUTH_WORDS
from eval_skills.core.models.base import IN_WORDS
from eval_skills.core.models.skill import ADAPTER_TYPES, nearest_adapter
from eval_skills.core.text import nearest

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
_NUMBERS = {"int_type": int, "float_type": float}
_BRANCH = re.compile(r"str|int|float|bool|constrained-\w+|literal\b.*|[a-z-]+\[.*|[A-Z]\w*")
"""How pydantic names the types of a union inside a location, where no key of that name is."""

_CHOICE = re.compile(r"'([^']*)'")
_SHOWN = 80

Place = tuple[int | str, ...]


class Problem(NamedTuple):
    """What is wrong at a place of the data (``tasks[3].evaluator``)."""

    path: str
    message: str


def problems_in(error: ValidationError, data: Any) -> list[Problem]:
    """What is wrong with `data`, in order. What may be of several types is one problem, for the type that fits best."""
    groups: dict[Place, list[tuple[Place, ErrorDetails]]] = {}
    for number, each in enumerate(error.errors(include_url=False)):
        place, union = _place(each["loc"], data)
        groups.setdefault(union if union is not None else (number, *place), []).append((place, each))
    return [_problem(group) for group in groups.values()]


def with_truth(error: ValidationError, data: Any) -> Any:
    """A copy of `data` with truth values for the words of YAML 1.1 that the `error` is about; None where there are none."""
    places = [
        each["loc"]
        for each in error.errors(include_url=False)
        if each["type"] == "bool_type" and isinstance(each["input"], str) and each["input"].lower() in TRUTH_WORDS
    ]
    read = data
    for place in places:
        read = _with_truth_at(read, place)
    return None if read is data else read


def _with_truth_at(part: Any, place: Place) -> Any:
    """The part with the truth value of the word at this place; as it is where the place is not one of the data's own."""
    if not place:
        return TRUTH_WORDS[part.lower()] if isinstance(part, str) and part.lower() in TRUTH_WORDS else part
    first, *rest = place
    is_there = first in part if isinstance(part, dict) else isinstance(part, list) and isinstance(first, int)
    if not is_there:
        return part
    inside = _with_truth_at(part[first], tuple(rest))
    if inside is part[first]:
        return part
    copy = part.copy()
    copy[first] = inside
    return copy


def wrong_in(error: ErrorDetails) -> str:
    """What is wrong, without the value: what would be valid, where that can be said."""
    if (words := kind_wanted(error)) is not None:
        return f"give {words}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{message[0].lower()}{message[1:]}"


def nearest_choice(error: Mapping[str, Any]) -> str:
    """Where one of pydantic's errors lists what can be chosen: the suggestion of the nearest, to append to a message."""
    given = error["input"]
    if error["type"] not in {"literal_error", "enum"} or not isinstance(given, str):
        return ""
    choices = _CHOICE.findall(error["ctx"]["expected"])
    return nearest_adapter(given) if choices == list(ADAPTER_TYPES) else nearest(given, choices)


def path_of(place: Iterable[int | str]) -> str:
    """The place as people write it."""
    path = ""
    for part in place:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _place(location: Place, data: Any) -> tuple[Place, Place | None]:
    """Where an error is, without the types that pydantic tried there; and where it tried several, if it did."""
    place: list[int | str] = []
    union: Place | None = None
    for part in location:
        if part == "[key]":  # the key itself is wrong, and named already
            continue
        there = isinstance(data, dict | list) and _has(data, part)
        if not there and isinstance(part, str) and _BRANCH.fullmatch(part):
            union = tuple(place) if union is None else union
            continue
        place.append(part)
        data = data[part] if there else None
    return tuple(place), union


def _has(data: Any, part: int | str) -> bool:
    return part in data if isinstance(data, dict) else isinstance(part, int) and part < len(data)


def _problem(group: list[tuple[Place, ErrorDetails]]) -> Problem:
    deepest = max(len(place) for place, _ in group)
    at = [(place, error) for place, error in group if len(place) == deepest]
    place, first = at[0]
    kinds = list(dict.fromkeys(_KINDS[error["type"]] for _, error in at if error["type"] in _KINDS))
    if len(kinds) > 1:
        return Problem(path_of(place), f"give {' or '.join(kinds)}; got {_shown(first['input'])}")
    return Problem(path_of(place), _message(first))


def _message(error: ErrorDetails) -> str:
    kind, message = error["type"], error["msg"].removeprefix("Value error, ")
    if kind == "missing":
        return "this key is required and missing" if isinstance(error["loc"][-1], str) else "an item is missing here"
    if kind == "string_pattern_mismatch" and error["ctx"]["pattern"] == r"\S":
        return "blank text; give a value"
    if kind in {"value_error", "unknown_key"}:
        return message
    return f"{wrong_in(error)}; got {_shown(error['input'])}{_unquoted(error)}{nearest_choice(error)}"


def kind_wanted(error: ErrorDetails) -> str | None:
    """What kind of value would be valid, in words; None where the error is about something else."""
    if error["type"] == "string_pattern_mismatch":
        return IN_WORDS.get(error["ctx"]["pattern"])
    if error["type"] == "model_type":
        return IN_WORDS.get(error["ctx"]["class_name"], _KINDS["model_type"])
    if error["type"] == "too_short":
        least = error["ctx"]["min_length"]
        return f"at least {least} item{'s' if least > 1 else ''}"
    if error["type"] == "too_long":
        most = error["ctx"]["max_length"]
        return f"at most {most} item{'' if most == 1 else 's'}"
    return _KINDS.get(error["type"])


def _unquoted(error: ErrorDetails) -> str:
    """The remark that a number was written as a text, where it was."""
    text, number = error["input"], _NUMBERS.get(error["type"])
    if number is None or not isinstance(text, str):
        return ""
    try:
        number(text)
    except ValueError:
        return ""
    return f" (write {text.strip()[:_SHOWN]} without quotes)"


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except Exception:  # noqa: BLE001 - of a Python caller it may be anything, and its own code may say what it is
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
