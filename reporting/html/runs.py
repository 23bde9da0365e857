"""What agents did, for the HTML report: tool calls and messages of its items, bounded so that the file stays small."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from eval_skills.core.models import TaskResult, ToolCall
from eval_skills.reporting.escape import script_json
from eval_skills.reporting.html.texts import TextTable, readable

Json: TypeAlias = dict[str, Any]

BUDGET = 450_000
"""Bytes of the page that calls and messages may take."""

LEVELS = ((40, 2_000), (40, 500), (20, 250), (20, 125), (10, 60), (5, 40), (2, 30), (0, 0))
"""How much is shown: calls (and messages) of an item, and characters of each text. The first level that fits is taken."""

_POINTED = re.compile(r"\b(toolCalls|messages)\[(\d{1,9})\]")

_Texts: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class _Did:
    """What one item did, as texts, and the indices that its reasons point to; None is unknown."""

    calls: tuple[_Texts, ...] | None
    messages: tuple[_Texts, ...] | None
    calls_pointed: frozenset[int]
    messages_pointed: frozenset[int]


@dataclass(slots=True)
class RunTable:
    """What items called and said, each stored once, known by its index."""

    _index: dict[_Did, int] = field(default_factory=dict)

    def add(self, item: TaskResult) -> int | None:
        """The index of what the item did; None where that is not known."""
        if item.tool_calls is None and not item.messages:
            return None
        did = _Did(
            None if item.tool_calls is None else tuple(map(_call, item.tool_calls)),
            tuple(map(_message, item.messages)) if item.messages else None,
            pointed_at(item, "toolCalls"),
            pointed_at(item, "messages"),
        )
        return self._index.setdefault(did, len(self._index))

    def rows(self, budget: int = BUDGET) -> Json:
        """``{"texts", "runs"}`` at the first of `LEVELS` that takes at most `budget` bytes; the last one names numbers only."""
        for entries, characters in LEVELS[:-1]:
            shown = self._shown(entries, characters, budget)
            if shown is not None and len(script_json(shown).encode()) <= budget:
                return shown
        return {"texts": [], "runs": [_shown(did, 0, TextTable()) for did in self._index]}

    def _shown(self, entries: int, characters: int, budget: int) -> Json | None:
        """None as soon as the texts alone are more than the budget."""
        texts = TextTable(characters)
        runs = []
        for did in self._index:
            runs.append(_shown(did, entries, texts))
            if texts.characters > budget:
                return None
        return {"texts": texts.uncut, "runs": runs}


def pointed_at(item: TaskResult, what: str) -> frozenset[int]:
    """The indices, from 0, of the calls (``toolCalls``) or messages (``messages``) that a reason of the item points to."""
    places = (reason.where for reason in item.reasons if reason.where)
    return frozenset(int(index) for place in places for name, index in _POINTED.findall(place) if name == what)


def _shown(did: _Did, entries: int, texts: TextTable) -> Json:
    calls = _part("calls", did.calls, did.calls_pointed, entries, texts)
    return calls | _part("messages", did.messages, did.messages_pointed, entries, texts)


def _call(call: ToolCall) -> _Texts:
    """Name, arguments, result, error."""
    return (call.name, *(None if value is None else readable(value) for value in (call.arguments, call.result)), call.error)


def _message(message: Json) -> _Texts:
    """Role, and the text alone where the message is nothing else."""
    rest = {name: value for name, value in message.items() if name != "role" and value is not None}
    role = message.get("role", message.get("type"))
    return (role if isinstance(role, str) else "message", readable(rest["content"] if set(rest) == {"content"} else rest))


def _part(name: str, values: Sequence[_Texts] | None, pointed: frozenset[int], entries: int, texts: TextTable) -> Json:
    """The entries by index, with the indices of their texts (-1: none); one that is pointed to has a 1 at its end."""
    if values is None:
        return {}
    kept = _kept(len(values), pointed, entries)
    shown = [[index, *_known(values[index], texts), *([1] if index in pointed else [])] for index in kept]
    return {name: shown, **({f"{name}More": len(values) - len(kept)} if len(kept) < len(values) else {})}


def _kept(count: int, pointed: Iterable[int], entries: int) -> Sequence[int]:
    """The first `entries` of `count`, of which those that are pointed to are there first."""
    telling = sorted(index for index in pointed if index < count)[:entries]
    others = (index for index in range(count) if index not in telling)
    return sorted([*telling, *(index for index, _ in zip(others, range(entries - len(telling)), strict=False))])


def _known(values: _Texts, texts: TextTable) -> list[int]:
    """The indices of the texts; -1 for what is not there."""
    return [-1 if (index := texts.add(value)) is None else index for value in values]
