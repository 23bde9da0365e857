"""A skill's answer: a bare JSON value, or an envelope around it.

An answer that was meant as an envelope and is malformed is refused: as a bare value it would hide what it reports of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from eval_skills.adapters.answer.errors import partial_response
from eval_skills.core.documents.validation_errors import problems_in
from eval_skills.core.errors import ContractError
from eval_skills.core.models import SkillResponse

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
