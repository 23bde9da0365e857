"""A trajectory: its messages by role, and its tool calls; keys of a reference that look like known ones are refused, since what
they hold would not be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from eval_skills.core.messages.blocks import blocks_of
from eval_skills.core.messages.responses_items import in_turns, item_role
from eval_skills.core.messages.roles import ROLES, inner_message
from eval_skills.core.messages.tool_calls import raw_calls
from eval_skills.core.messages.tool_results import result_in
from eval_skills.scorers.trajectory.calls import Call, Spelling, read_call
from eval_skills.scorers.trajectory.shapes import UnreadableTrajectory, message_of, messages_in, role_of

OUTPUT, REFERENCE = "outputs", "reference_outputs"
"""How errors name the two sides."""


class Message(NamedTuple):
    """A message by its role; its calls are ``trajectory.calls[start:stop]``. Texts, ids and results do not count."""

    role: str
    start: int
    stop: int

    @property
    def calls(self) -> range:
        """The places of its calls in the trajectory."""
        return range(self.start, self.stop)


_WITHOUT_CALLS = {role: Message(role, 0, 0) for role in ROLES.values()}
"""Most messages: one for all of a role."""


class Trajectory(NamedTuple):
    """The messages of a run in order, and all their tool calls in order."""

    messages: list[Message]
    calls: list[Call]


def read_trajectory(given: Any, side: str = OUTPUT, spelling: Spelling | None = None) -> Trajectory:
    """The trajectory in `given`, which is left as it was; see `shapes` for what may be given. `side` names it in errors.

    A message with several tool results counts as several; items of OpenAI's Responses API count by turns. Calls on messages of
    other roles than the assistant do not count.

    Raises:
        UnreadableTrajectory: it is not a trajectory, or a role is unknown.
    """
    messages: list[Message] = []
    calls: list[Call] = []
    for number, raw in enumerate(messages_in(given, side), start=1):
        message = raw
        # the common case, without a call of a function
        role = ROLES.get(named) if raw.__class__ is dict and (named := raw.get("role")).__class__ is str else None
        if role is None:
            if item_role(raw) is not None:  # once: in turns there is none left
                return read_trajectory(in_turns(messages_in(given, side)), side, spelling)
            where = f"{side}: message {number}"
            message = message_of(raw, where)
            role = role_of(message, where)
        if role == "assistant" and (found := raw_calls(message)):
            start = len(calls)
            calls += [read_call(each, spelling) for each in found]
            messages.append(Message(role, start, len(calls)))
            continue
        if role == "user" and message.get("content").__class__ is not str and (results := _results_in(message)):
            messages += [_WITHOUT_CALLS["tool"]] * results
            if results == len(blocks_of(message)):
                continue
        messages.append(_WITHOUT_CALLS[role])
    return Trajectory(messages, calls)


def read_reference(given: Any, side: str = REFERENCE, spelling: Spelling | None = None) -> Trajectory:
    """`read_trajectory` of what is expected, which must be readable throughout.

    Raises:
        UnreadableTrajectory: as there, or a call has no name or its arguments are not a JSON object, or a key is nearly a known
            one.
    """
    trajectory = read_trajectory(given, side, spelling)
    reject_unknown_keys(messages_in(given, side), side)
    for place, call in enumerate(trajectory.calls):
        if call.arguments is None:
            number = next(number for number, each in enumerate(trajectory.messages, start=1) if place in each.calls)
            what = "arguments that are not a JSON object" if call.name else "no name"
            raise UnreadableTrajectory(f"message {number} has a call with {what}: {call}; fix it", source=side)
    return trajectory


def _results_in(message: Mapping[str, Any]) -> int:
    """How many tool results stand in a user's message, as the interfaces of Anthropic, Bedrock and Gemini have them."""
    return sum(result_in(block) is not None for block in blocks_of(message))


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
"""The check for a dict comes first: that of the abstract class takes ten times as long."""


def reject_unknown_keys(messages: Iterable[Any], side: str) -> None:
    """Refuse a message of a reference, or a call in it, with a key that is nearly one of those that are compared.

    Further keys are fine: real messages carry many. Objects are taken as they are.

    Raises:
        UnreadableTrajectory: there is such a key, or `tool_calls` is not a list; it names the message and the nearest key.
    """
    for number, raw in enumerate(messages, start=1):
        if raw.__class__ is dict and raw.get("content").__class__ is str and _PLAIN.issuperset(raw):
            continue  # text alone, and nothing in which a call could stand
        if isinstance(raw, _MAPPINGS) and (problem := _problem(inner_message(raw))):
            raise UnreadableTrajectory(problem, source=f"{side}: message {number}")


def _problem(message: Mapping[Any, Any]) -> str | None:
    calls = message.get("tool_calls")
    if not isinstance(calls, list | tuple | None):
        return "tool_calls is not a list of calls; fix it"
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
