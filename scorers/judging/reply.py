"""A model's reply: its JSON schema, in the subset that providers enforce, and how the object is read or refused."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

R = TypeVar("R", bound="Reply")

READ_CHARS = 200_000
"""A reply beyond this is not read."""

_OBJECT = re.compile(r'\{\s*["}]')
"""Where a JSON object begins; other braces are prose."""


class Reply(BaseModel):
    """The base of all replies: fields in the order in which a model should write them, reasoning first.

    Types are strict and NaN is refused, so neither ``"0.9"`` nor ``true`` is a number. Keys beside the fields are ignored. Bounds
    belong into the fields (``Field(ge=0, le=1)``), and into their description, which is what the model sees.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)


REASONING = Field(min_length=1, description="Why: what in the material speaks for and against, before the score is decided")


class _Defect(ValueError):
    """A defect of JSON that the model may be shown."""


class Unreadable(ValueError):
    """The reply cannot be used. The message is shown to the model and holds nothing of its reply."""


def read_reply(text: str | None, reply: type[R]) -> R:
    """The reply in `text`: all of it, or what follows ``</think>``, or the last JSON object in prose or in a fence.

    Nothing is repaired, clamped or guessed. Of several objects the last one alone counts, for a model may quote what it judges
    before its own verdict; where another one fits as well, and differs in the fields that are read, it is not known
    which is the model's own, and neither counts. Nothing is looked for inside a malformed object, for the same reason.

    Raises:
        Unreadable: there is no such object, it does not fit, or there are several verdicts.
    """
    stripped = (text or "").rpartition("</think>")[2].strip()
    if not stripped:
        raise Unreadable("it was empty")
    if len(stripped) > READ_CHARS:
        raise Unreadable("it was far too long")
    *others, found = _objects(stripped)
    read = _fitting(found, reply)
    if any(_fitting_or_none(other, reply) not in (None, read) for other in others):
        raise Unreadable("it held several verdicts")
    return read


def _objects(text: str) -> list[dict[str, Any]]:
    decoder = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_no_constant)
    found: list[dict[str, Any]] = []
    begin = _OBJECT.search(text)
    while begin is not None:
        try:
            last, end = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"its JSON is broken ({error})" if isinstance(error, _Defect) else "its JSON is broken") from None
        found.append(last)
        begin = _OBJECT.search(text, end)
    if not found:
        raise Unreadable("it held no JSON object")
    return [each for each in found if each] or found  # an empty one is not a verdict


def _fitting_or_none(value: dict[str, Any], reply: type[R]) -> R | None:
    try:
        return _fitting(value, reply)
    except Unreadable:
        return None


def _fitting(value: dict[str, Any], reply: type[R]) -> R:
    try:
        return reply.model_validate_json(json.dumps(value))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the object"
        raise Unreadable(f"{_named(place, reply)}: {first['msg'].removeprefix('Value error, ')}") from None


def _named(place: str, reply: type[Reply]) -> str:
    """The place, unless it holds a key that the model made up."""
    known = place.partition(".")[0]
    return place if known in reply.model_fields and re.fullmatch(r"[\w.]{1,80}", place) else "the object"


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        raise _Defect("a key is given twice")
    return keys


def _no_constant(_: str) -> NoReturn:
    raise _Defect("a number is not finite")


_ENFORCED = frozenset({"type", "properties", "items", "enum", "const", "anyOf", "$ref", "$defs", "description"})
"""What strict modes know. Bounds of numbers are checked here when the reply is read; their description names them."""


@cache
def reply_schema(reply: type[Reply]) -> dict[str, Any]:
    """The schema: every key required, no other allowed, in the order of the class. It is shared: do not change it."""
    schema: dict[str, Any] = _strict(reply.model_json_schema())
    return schema


def _strict(part: Any, *, names: bool = False) -> Any:
    """`names`: the keys of `part` are names of fields, not words of JSON Schema."""
    if isinstance(part, list):
        return [_strict(each) for each in part]
    if not isinstance(part, dict):
        return part
    kept = {key: _strict(value, names=key in ("properties", "$defs")) for key, value in part.items() if names or key in _ENFORCED}
    if not names and "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept
