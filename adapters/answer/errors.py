"""What an error reply reports of the run before it: the calls, the messages, what it cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from eval_skills.adapters.answer.json_text import parse_json
from eval_skills.core.models import SkillResponse
from eval_skills.core.text import one_line

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


def partial_response_in(body: bytes) -> SkillResponse | None:
    """`partial_response` of a body, which need not be JSON."""
    try:
        return partial_response(parse_json(body))
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
