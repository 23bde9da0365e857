"""A skill's answer: a bare JSON value, or an envelope around it; and what an error reports of the run before it.

JSON is strict on the way in, plain ASCII on the way out. An answer that was meant as an envelope and is malformed is refused: as
a bare value it would hide what it reports of the run.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from eval_skills.core.documents.validation_errors import problems_in
from eval_skills.core.errors import ContractError
from eval_skills.core.models import SkillResponse
from eval_skills.core.text import one_line

MAX_DEPTH = 200
"""How deep an answer may nest; what lies deeper breaks the programs that compare, store and show it."""


def parse_json(data: bytes, twice: Callable[[str], None] | None = None) -> Any:
    """The value of a JSON text in UTF-8 (a byte-order mark is let through).

    Refused although Python's parser takes it: NaN and infinities (also by overflow, ``1e999``), more than `MAX_DEPTH`
    levels, and halves of surrogate pairs, which no file or table can hold. Of a key that one object gives twice the last value
    counts; `twice` is called with each such key.

    Raises:
        ValueError: the text is refused; the message is a phrase that says why.
    """
    try:
        value = decoded(data.decode("utf-8-sig"), twice)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        if "digits" not in str(error):
            raise
        raise ValueError(f"a whole number of more than {sys.get_int_max_str_digits():,} digits") from None
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        _refuse_deep(value)
    if b"\\ud" in data.lower():
        _refuse_surrogates(value)
    return value


def write_json(value: Any) -> bytes:
    """`value` as ASCII JSON on one line.

    Raises:
        ValueError: it holds something that is not JSON (NaN, a Python object, a circle).
    """
    try:
        return json.dumps(value, allow_nan=False).encode("ascii")
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _refuse_deep(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
        if not level:
            return
    raise ValueError(f"nested deeper than {MAX_DEPTH} levels")


def _children(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _refuse_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair in a text") from None


ENVELOPE_KEYS = frozenset({"output", "messages", "toolCalls", "usage", "costUsd", "metadata"})


def is_envelope(answer: Any) -> bool:
    """Whether `answer` is an object that has `output` and otherwise only keys of an envelope.

    ``{"output": 1}`` is an envelope; ``{"output": 1, "confidence": 0.9}`` is a bare value.
    """
    return isinstance(answer, dict) and "output" in answer and answer.keys() <= ENVELOPE_KEYS


def read_answer(answer: Any) -> SkillResponse:
    """`answer` as a response. In an envelope, null stands for "unknown" in every part but `output`.

    Raises:
        ContractError: a part of the envelope is malformed; the message names the part and what was seen there. Or the answer was
            meant as an envelope and is not one (`refuse_failed_envelope`).
    """
    if not is_envelope(answer):
        if isinstance(answer, dict):
            refuse_failed_envelope(answer)
        return SkillResponse(output=answer)
    parts = {key: part for key, part in answer.items() if part is not None or key == "output"}
    try:
        return SkillResponse.model_validate(parts)
    except ValidationError as error:
        first = problems_in(error, parts)[0]
        raise ContractError(f"malformed envelope: {first.path}: {first.message}", known=partial_response(answer)) from None


_CLOSE = 0.8
"""How alike a key and the one that is meant are at least, apart from case, dashes and underscores."""

_LISTS = ("toolCalls", "messages")


def refuse_failed_envelope(answer: dict[str, Any]) -> None:
    """Refuse an object that is not an envelope by one slip: a key that is nearly one of an envelope, or a missing `output`.

    It is a slip where every key is one of an envelope or nearly so, with a value such as stands there, and there is an
    `output`, or calls or messages. Anything else (``{"output": 3, "message": "ok"}``) is a bare value.

    Raises:
        ContractError: it is a slip; `known` is what the answer reports of the run, so that a forbidden call in it is seen.
    """
    meant: dict[str, Any] = {}
    misspelt: dict[str, str] = {}
    for given, part in answer.items():
        if (key := _meant(given, part, answer)) is None:
            return
        if key != given:
            misspelt[given] = key
        meant[key] = [*meant[key], *part] if _is_list(key, meant.get(key)) and _is_list(key, part) else part
    reported = [key for key in _LISTS if _is_list(key, meant.get(key))]
    if misspelt and (reported or "output" in answer):
        given, key = next(iter(misspelt.items()))
        raise ContractError(f"unknown key {given!r} of an envelope (did you mean {key!r}?)", known=partial_response(meant))
    if reported and "output" not in answer:
        missing = f"the answer has {' and '.join(reported)} but no output; an envelope needs `output` (null where there is none)"
        raise ContractError(missing, known=partial_response(meant))


def _meant(given: str, part: Any, answer: dict[str, Any]) -> str | None:
    """The key of an envelope that `given` is, or was to be; None where it is something else."""
    if given in _FITS:
        return given
    close = get_close_matches(_plain(given), map(_plain, _FITS), n=1, cutoff=_CLOSE)
    key = next((key for key in _FITS if close == [_plain(key)]), None)
    is_twice = key in answer and key not in _LISTS
    return None if key is None or is_twice or not _FITS[key](part) else key


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


def _is_list(key: str, part: Any) -> bool:
    return key in _LISTS and _FITS[key](part)


def _are_objects(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(each, dict) for each in part)


def _are_messages(part: Any) -> bool:
    return _are_objects(part) and all(isinstance(each.get("role", each.get("type")), str) for each in part)


_FITS: dict[str, Callable[[Any], bool]] = {
    "output": lambda part: True,
    "messages": _are_messages,
    "toolCalls": _are_objects,
    "usage": lambda part: isinstance(part, dict),
    "costUsd": lambda part: isinstance(part, int | float) and not isinstance(part, bool),
    "metadata": lambda part: isinstance(part, dict),
}
"""Whether a value has the form that belongs to the key; an empty list holds nothing that could be lost."""


_LISTS, _FIGURES = ("toolCalls", "messages"), ("usage", "costUsd")
RUN_KEYS = (*_LISTS, *_FIGURES)
"""The keys under which an error reports the run."""

_BELOW = ("data", "error", "detail")
_DEPTH = 3
_MENDED = 10_000
"""How many parts of a list are looked at one by one where not all of them can be read: each one costs."""


def partial_response(error: Any) -> SkillResponse | None:
    """The parts of an envelope that an error holds: `toolCalls`, `messages`, `usage` and `costUsd`; None where it has none.

    They stand in the error itself or in an object below its `data` (JSON-RPC), `error` or `detail` (frameworks of HTTP), at most
    three deep; the outermost that is not empty counts. Keys beside them are the error's own. Errors say anything: what cannot be
    read is left out, call by call, and nothing is refused for it. An output is not read: an error is not an answer.
    """
    known: dict[str, Any] = {}
    for holder in _holders(error):
        for key in _LISTS:
            if isinstance(given := holder.get(key), list) and not known.get(key):
                parts = _readable(key, given)
                known |= {key: parts} if parts or not given else {}  # what cannot be read need not be empty
        for key in _FIGURES:
            if (given := holder.get(key)) is not None and key not in known and _read({key: given}) is not None:
                known[key] = given
    return SkillResponse.model_validate(known) if known else None


def without_partial_response(data: dict[str, Any]) -> dict[str, Any]:
    """What an error's data say beside what `partial_response` reads there."""
    return {key: part for key, part in data.items() if key not in RUN_KEYS or partial_response({key: part}) is None}


def unread_calls(error: dict[str, Any], known: SkillResponse | None) -> str:
    """A remark to append to a message, where `toolCalls` in an error's data are not all among what is `known`; else nothing.

    Whether a forbidden tool was called is then an open question, which must not pass for "none was".
    """
    data = error.get("data")
    given = data.get("toolCalls") if isinstance(data, dict) else None
    read = len(known.tool_calls or []) if known is not None else 0
    if given is None or (isinstance(given, list) and len(given) <= read):
        return ""
    return f"; not all of its tool_calls can be read, so which tools were called before is unknown: {one_line(json.dumps(given))}"


def without_echo(known: SkillResponse | None, input_data: Any) -> SkillResponse | None:
    """`known` without messages that are just those of the input: many an error repeats what was asked."""
    given = input_data.get("messages") if isinstance(input_data, dict) else None
    if known is None or not given or known.messages != given:
        return known
    return known.model_copy(update={"messages": None})


def partial_response_in(body: bytes, twice: Callable[[str], None] | None = None) -> SkillResponse | None:
    """`partial_response` of a body, which need not be JSON; `twice` as in `parse_json`."""
    try:
        return partial_response(parse_json(body, twice))
    except ValueError:
        return None


def _holders(error: Any) -> Iterator[dict[str, Any]]:
    level = [error]
    for _ in range(_DEPTH):
        level = [each for each in level if isinstance(each, dict)]
        yield from level
        level = [each[key] for each in level for key in _BELOW if key in each]


def _readable(key: str, parts: list[Any]) -> list[Any]:
    objects = [part for part in parts if isinstance(part, dict)]
    if key == "messages":
        return objects
    if (whole := _read({key: objects})) is not None:
        return whole.tool_calls or []
    return [part for part in objects[:_MENDED] if _read({key: [part]}) is not None]


def _read(part: dict[str, Any]) -> SkillResponse | None:
    try:
        return SkillResponse.model_validate(part)
    except ValidationError:
        return None


def decoded(text: str, twice: Callable[[str], None] | None = None) -> Any:
    """The value of a JSON text. Of a key that one object gives twice the last value counts; `twice` is called with each.

    Raises:
        ValueError: it is not JSON (so also NaN and infinities), or a number is too large for a float.
        RecursionError: it is nested too deeply for the decoder.
    """
    if twice is None:
        return _DECODER.decode(text)
    try:
        return _DISTINCT.decode(text)
    except _KeyTwice:  # seldom: only then is it worth decoding again to name the keys
        return _naming(twice).decode(text)


class _KeyTwice(Exception):
    """An object gives a key twice."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _KeyTwice
    return value


def _naming(twice: Callable[[str], None]) -> json.JSONDecoder:
    def named(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            for key in (key for key, times in Counter(key for key, _ in pairs).items() if times > 1):
                twice(key)
        return value

    return _decoder(named)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"not JSON: {name} is not a JSON value")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"number {text[:40]} is too large")
    return value


def _decoder(objects: Callable[[list[tuple[str, Any]]], dict[str, Any]] | None = None) -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=objects)


# Made once: json.loads() would make a new one for every call with options. The hook costs about 1 µs for every object.
_DECODER, _DISTINCT = _decoder(), _decoder(_distinct)
