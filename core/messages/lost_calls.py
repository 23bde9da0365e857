"""Calls that are known by their results alone: the history was trimmed, or the record of a run begins too late."""

from __future__ import annotations

from collections import defaultdict, deque
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
    free = _Free(call for call in calls if answered.isdisjoint(ids_of(call)))
    lost = [each for each in results if each.result.call_id not in ids and not free.take(each.result)]
    names = {call.id: call.name for call in reported if call.id is not None}
    return [each._replace(result=_named(each.result, names)) for each in lost]


def _named(result: ToolResult, names: Mapping[str, str]) -> ToolResult:
    return result if result.name is not None else result._replace(name=names.get(result.call_id or ""))


class _Free:
    """Calls that have no other result, first come first served: a long record is gone through once."""

    def __init__(self, calls: Iterable[Mapping[str, Any]]) -> None:
        self._taken: set[int] = set()
        self._all, self._without_id = deque[int](), deque[int]()
        self._by_name: defaultdict[str, deque[int]] = defaultdict(deque)
        for place, call in enumerate(calls):
            self._all.append(place)
            if not ids_of(call):
                self._without_id.append(place)
            if isinstance(name := name_and_arguments(call)[0], str):
                self._by_name[normalise_tool_name(name)].append(place)

    def take(self, result: ToolResult) -> bool:
        """Whether one of them can be that of this result; it is free no more."""
        if result.name is not None:
            places = self._by_name[normalise_tool_name(result.name)]
        else:
            places = self._all if result.call_id is None else self._without_id
        while places and places[0] in self._taken:
            places.popleft()
        if places:
            self._taken.add(places.popleft())
            return True
        return False
