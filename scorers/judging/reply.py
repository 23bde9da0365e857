"""A model's reply: its JSON schema, in the subset that providers enforce, and how the object is read or refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple, NoReturn, TypeVar
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval_skills.scorers.judging.quotes import Quotable

R = TypeVar("R", bound="Reply")

READ_CHARS = 200_000
"""A reply beyond this is not read."""

_OBJECT = re.compile(r'\{\s*["}]')
"""Where a JSON object begins; other braces are prose."""

_FENCE = re.compile(r"(`+|~{3,})[\w+-]*\Z")
"""What opens the code fence of an object, at the end of what stands before it."""

_FENCE_CHARS = 40
"""How far before an object its fence is looked for: a search through all of a reply could take long."""

_THINKING = r"[<\[]{}(?:think(?:ing)?|thought|reasoning)[>\]]"
_OPENED, _CLOSED = (re.compile(_THINKING.format(slash), re.IGNORECASE) for slash in ("", "/"))
"""Around what a model thinks, where its server leaves that in the reply; the first one may stand in the prompt."""

_BEGINS = re.compile(rf"(?:(?:`+|~{{3,}})[\w+-]*\s*)?{_OBJECT.pattern}")
"""How a reply begins that is not preceded by anything."""

_LOOKED_AT = 1_000
"""So many objects of a judged text are compared with the reply."""

_WHOLE = re.compile(r"(?<=\d)\.0+(?!\d)")
"""What a whole number may be written with."""

_FREE = re.compile(r"\s+|\\+[nrt]?")
"""What may differ where the same words stand twice: white space, and how JSON escapes it and quotation marks."""


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


class _Found(NamedTuple):
    """A JSON object, and where in the reply it begins and ends."""

    value: dict[str, Any]
    begin: int
    end: int


def read_reply(text: str | None, reply: type[R], judged: Iterable[str] = ()) -> R:
    """The reply in `text`: the JSON object that it ends with, in a code fence or not, after what the model thinks.

    Thinking stands before ``</think>``, or a tag like that; where it was only opened, its objects are drafts and do not count.

    Nothing is repaired, clamped or guessed. An object that words follow is one that the model talks about, and does not count: it
    may be an example, or a verdict that an answer forged. Nor does one that words precede where it stands in one of the texts
    that were `judged`, however it is written there, as JSON or not. Of several objects the last one alone counts; where another
    one fits as well, and differs in the fields that are read, it is not known which is the model's own, and neither counts.
    Nothing is looked for inside a malformed object, for the same reason.

    Raises:
        Unreadable: there is no such object, it does not fit, or there are several verdicts.
    """
    whole = (text or "").removeprefix("\ufeff").strip()
    stripped = _after_thinking(whole)
    if not stripped:
        raise Unreadable("it was empty")
    if len(stripped) > READ_CHARS:
        raise Unreadable("it was far too long")
    *others, found = _objects(stripped)
    if _OPENED.search(stripped, 0, found.begin):
        raise Unreadable("it broke off while it thought")
    read = _fitting(found.value, reply)
    if any(_fitting_or_none(other.value, reply) not in (None, read) for other in others):
        raise Unreadable("it held several verdicts")
    before, after = _around(found, stripped)
    if after:
        raise Unreadable("it went on after its JSON object")
    if before or stripped != whole:
        shown = tuple(judged)
        if _stands_in(shown, found, stripped) or _is_said_in(shown, read, reply) or _is_worded_in(shown, read):
            raise Unreadable("its JSON object is a quotation from the material")
    return read


def _after_thinking(text: str) -> str:
    """What follows the last closing tag; all of a text that begins with an object, which may quote such tags."""
    ends = [] if _BEGINS.match(text) else [tag.end() for tag in _CLOSED.finditer(text)]
    return text[ends[-1] :].strip() if ends else text


def _objects(text: str) -> list[_Found]:
    decoder = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_no_constant)
    found: list[_Found] = []
    begin = _OBJECT.search(text)
    while begin is not None:
        try:
            last, end = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"its JSON is broken ({error})" if isinstance(error, _Defect) else "its JSON is broken") from None
        found.append(_Found(last, begin.start(), end))
        begin = _OBJECT.search(text, end)
    if not found:
        raise Unreadable("it held no JSON object")
    return [each for each in found if each.value] or found  # an empty one is not a verdict


def _around(found: _Found, text: str) -> tuple[str, str]:
    """What stands before and after an object, without the code fence that holds it alone."""
    before, after = text[: found.begin].rstrip(), text[found.end :].strip()
    fence = _FENCE.search(before[-_FENCE_CHARS:])
    if fence is not None and after == fence[1]:
        return before.removesuffix(fence[0]).rstrip(), ""
    return before, after


def _stands_in(judged: Iterable[str], found: _Found, text: str) -> bool:
    """Whether an object is in one of the texts, as the reply has it or as JSON is usually written."""
    forms = {_bare(text[found.begin : found.end]), _bare(json.dumps(found.value, ensure_ascii=False))}
    return any(form in bare for bare in map(_bare, judged) for form in forms)


def _is_said_in(judged: Iterable[str], read: R, reply: type[R]) -> bool:
    """Whether an object in one of the texts says the same, also one in a JSON text: keys and numbers may be written otherwise."""
    texts = (form for text in judged for form in dict.fromkeys((text, text.replace('\\"', '"'))))
    objects = (value for text in texts for value in _all_objects(text) if reply.model_fields.keys() <= value.keys())
    return any(_fitting_or_none(value, reply) == read for value in objects)


def _is_worded_in(judged: Iterable[str], read: Reply) -> bool:
    """Whether each field stands in one of the texts by its words, as ``'score': 1`` or ``score = 1``: what looks like an object
    there need not be JSON. A reply of one field may be but a word or two, which stand in many texts.
    """
    fields = [f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in read.model_dump(mode="json").items()]
    return len(fields) > 1 and Quotable.of_texts(_WHOLE.sub("", text) for text in judged).holds_all(
        _WHOLE.sub("", field) for field in fields
    )


def _all_objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in any text, those inside others, too; of very many the first ones."""
    decoder = json.JSONDecoder()
    for begin in islice(_OBJECT.finditer(text), _LOOKED_AT):
        with suppress(ValueError, RecursionError):
            yield decoder.raw_decode(text, begin.start())[0]


def _bare(text: str) -> str:
    return _FREE.sub("", text)


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
    except RecursionError:  # what could just be read may be too deep to be written
        raise Unreadable("the object: it is nested too deeply") from None


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


_schemas: WeakKeyDictionary[type[Reply], dict[str, Any]] = WeakKeyDictionary()
"""By class, for as long as that is there: a scorer makes one of its own for its scale or choices."""


def reply_schema(reply: type[Reply]) -> dict[str, Any]:
    """The schema: every key required, no other allowed, in the order of the class. It is shared: do not change it."""
    if (schema := _schemas.get(reply)) is None:
        schema = _schemas[reply] = _strict(reply.model_json_schema())
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
