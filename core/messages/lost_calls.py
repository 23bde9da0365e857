"""Calls that are known by their results alone: the history was trimmed, or the record of a run begins too late."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from eval_skills.core.messages.blocks import as_dict
from eval_skills.core.messages.roles import inner_message, role_in
from eval_skills.core.messages.tool_calls import ids_of, name_and_arguments, raw_calls
from eval_skills.core.messages.tool_results import ToolResult, results_of
from eval_skills.core.models import ToolCall
from eval_skills.core.text import normalise_tool_name


class LostCall(NamedTuple):
    """A call of which only the result is there, in the message at that place; the tool is unknown where it has no name."""

    place: int
    result: ToolResult

    @property
    def call(self) -> ToolCall | None:
        """The call, as far as it is known; None where its tool is not."""
        name, identity, content, error = self.result
        return None if name is None else ToolCall(name=name, id=identity, result=content, error=error or None)


def lost_calls(
    messages: Iterable[Mapping[str, Any]], reported: Sequence[ToolCall] = (), before: frozenset[str] = frozenset()
) -> list[LostCall]:
    """The results to which no call belongs.

    A result belongs to the call with its id; else to one that has no other result, of the tool that it names, or of any, where
    one of the two has no id. Calls of messages in any role count; where there are none, those that are `reported` beside them,
    which name the tool of a result by its id in any case.
    `before` are the ids of calls that were made earlier in the conversation.
    """
    inner = [inner_message(message) for message in messages]
    results = [LostCall(place, each) for place, message in enumerate(inner) for each in results_of(message, role_in(message))]
    if not results:
        return []
    asked = [as_dict(call) for message in inner for call in raw_calls(message)]
    calls = asked or [call.model_dump(include={"name", "id"}) for call in reported]
    ids = before.union(*map(ids_of, calls))
    answered = {each.result.call_id for each in results}
    free = [call for call in calls if answered.isdisjoint(ids_of(call))]
    lost = [each for each in results if each.result.call_id not in ids and not _taken(each.result, free)]
    names = {call.id: call.name for call in reported if call.id is not None}
    return [each._replace(result=_named(each.result, names)) for each in lost]


def _named(result: ToolResult, names: Mapping[str, str]) -> ToolResult:
    return result if result.name is not None else result._replace(name=names.get(result.call_id or ""))


def _taken(result: ToolResult, free: list[dict[str, Any]]) -> bool:
    """Whether a call that has no other result can be that of this one; it has one then."""
    place = next((place for place, call in enumerate(free) if _fits(result, call)), None)
    if place is not None:
        del free[place]
    return place is not None


def _fits(result: ToolResult, call: Mapping[str, Any]) -> bool:
    if result.name is None:
        return result.call_id is None or not ids_of(call)
    name = name_and_arguments(call)[0]
    return isinstance(name, str) and normalise_tool_name(name) == normalise_tool_name(result.name)
