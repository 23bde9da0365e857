"""Keys of a reference that look like known ones: whoever reads past them compares with less than was meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from eval_skills.core.message_roles import inner_message
from eval_skills.scorers.call_notations import raw_calls
from eval_skills.scorers.trajectory.message_shapes import UnreadableTrajectory

_OF_A_MESSAGE = ("role", "content", "tool_calls")
_OF_A_CALL = ("name", "args", "arguments", "function")
_BESIDE = (
    "additional_kwargs annotations artifact audio caller contents context error example extras function_call id index input "
    "invalid_tool_calls reasoning_content refusal response_metadata result status tool_call_chunks tool_call_id tool_use_id type "
    "usage_metadata"
)
_KNOWN = frozenset({*_OF_A_MESSAGE, *_OF_A_CALL, *_BESIDE.split()})
"""What messages and calls carry beside what is compared; like the keys below it is never taken for a misspelling."""

_PLAIN = frozenset({"role", "content", "tool_call_id", "name"})
"""What a message of text alone may have."""


_MAPPINGS = (dict, Mapping)
"""A dict is told at once; to ask the abstract class takes ten times as long."""


def refuse_misspelt(messages: Iterable[Any], side: str) -> None:
    """That no message of a reference, and no call in it, has a key that is nearly one of those that are compared.

    Further keys are fine: real messages carry many. Objects are taken as they are.

    Raises:
        UnreadableTrajectory: there is such a key, or `tool_calls` is no list; it names the message and the nearest key.
    """
    for number, raw in enumerate(messages, start=1):
        if raw.__class__ is dict and raw.get("content").__class__ is str and _PLAIN.issuperset(raw):
            continue  # text alone, and nothing in which a call could stand
        if isinstance(raw, _MAPPINGS) and (problem := _problem(inner_message(raw))):
            raise UnreadableTrajectory(problem, source=f"{side}: message {number}")


def _problem(message: Mapping[Any, Any]) -> str | None:
    calls = message.get("tool_calls")
    if not isinstance(calls, list | tuple | None):
        return "tool_calls is no list of calls; mend it"
    if problem := _misspelt(message, _OF_A_MESSAGE):
        return problem
    for call in raw_calls(message):
        for part in (call, call.get("function")) if isinstance(call, _MAPPINGS) else ():
            if isinstance(part, _MAPPINGS) and (problem := _misspelt(part, _OF_A_CALL)):
                return problem
    return None


def _misspelt(given: Mapping[Any, Any], compared: tuple[str, ...]) -> str | None:
    if _KNOWN.issuperset(given):
        return None
    for key in given:
        if key not in _KNOWN and isinstance(key, str) and (meant := _meant(key, compared)) is not None:
            return f"unknown key {key!r} (did you mean {meant!r}?)"
    return None


def _meant(key: str, compared: tuple[str, ...]) -> str | None:
    lowered = key.lower()
    shuffled = (each for each in compared if sorted(each) == sorted(lowered))
    return next(shuffled, None) or next(iter(get_close_matches(lowered, compared, n=1, cutoff=0.8)), None)
