"""A trajectory: its messages by role, and its tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from eval_skills.core.message_blocks import blocks_of
from eval_skills.core.message_items import in_turns, item_role
from eval_skills.core.message_roles import ROLES
from eval_skills.core.tool_results import result_in
from eval_skills.scorers.call_notations import raw_calls
from eval_skills.scorers.trajectory.calls import Call, Spelling, read_call
from eval_skills.scorers.trajectory.message_shapes import UnreadableTrajectory, message_of, messages_in, role_of
from eval_skills.scorers.trajectory.misspelt import refuse_misspelt

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
    """The trajectory in `given`, which is left as it was; see `message_shapes` for what may be given. `side` names it in errors.

    A message with several tool results counts as several; items of OpenAI's Responses API count by turns. Calls on messages of
    anybody but the assistant do not count.

    Raises:
        UnreadableTrajectory: it is no trajectory, or a role is unknown.
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
        UnreadableTrajectory: as there, or a call has no name or its arguments are no JSON object, or a key is nearly a known one.
    """
    trajectory = read_trajectory(given, side, spelling)
    refuse_misspelt(messages_in(given, side), side)
    for place, call in enumerate(trajectory.calls):
        if call.arguments is None:
            number = next(number for number, each in enumerate(trajectory.messages, start=1) if place in each.calls)
            what = "arguments that are no JSON object" if call.name else "no name"
            raise UnreadableTrajectory(f"message {number} has a call with {what}: {call}; mend it", source=side)
    return trajectory


def _results_in(message: Mapping[str, Any]) -> int:
    """How many tool results stand in a user's message, as the interfaces of Anthropic, Bedrock and Gemini have them."""
    return sum(result_in(block) is not None for block in blocks_of(message))
