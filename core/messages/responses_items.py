"""Conversations as items, of which calls and their results are some: the format of OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from eval_skills.core.messages.blocks import as_dict, blocks_of

_RESULTS = "_output"
_OF_ASSISTANT = frozenset({"reasoning", "mcp_list_tools", "mcp_approval_request"})
_OF_USER = frozenset({"mcp_approval_response"})
ELSEWHERE = frozenset({"item_reference", "compaction"})
"""Items that stand for others which are not here."""
_ARGUMENTS = ("arguments", "action", "actions", "operation", "queries", "code")
"""Where the calls of OpenAI's built-in tools keep what they were given; an object is all of the arguments."""

_NAMES = ("name", "tool_name", "toolName")
_OPAQUE = "encrypted_content"
_BESIDE_CONTENT = ("tool_calls", "invalid_tool_calls", "toolCalls", "function_call", "functionCall", "additional_kwargs")
_OF_WORDS = frozenset({"role", "content", "id", "type", "status", "phase", "name"})


def item_role(given: Any) -> str | None:
    """The role of an item that has none of its own, by whose turn it belongs to; None for anything else.

    As "Responses API: input and output items" of OpenAI's API reference has them: ``reasoning`` and every call are the
    assistant's (``function_call``, ``mcp_call``, and those of the built-in tools: ``web_search_call``, ``shell_call`` …), every
    ``…_output`` is a tool's. What only refers to items that are elsewhere (``item_reference``, ``compaction``) has no role: it
    may hide calls.
    """
    kind = kind_of_item(given)
    if kind is None:
        return None
    if kind.endswith(_RESULTS):
        return "tool"
    if is_call(kind) or kind in _OF_ASSISTANT:
        return "assistant"
    return "user" if kind in _OF_USER else None


def is_call(kind: str) -> bool:
    """Whether items of this type are calls."""
    return kind.endswith("_call") or kind == "program"


def kind_of_item(given: Any) -> str | None:
    """The type of what has a type and no role; None for anything else, also for objects whose parts `as_dict` cannot read."""
    if isinstance(given, Mapping):
        kind = None if "role" in given else given.get("type")
    else:
        kind = None if hasattr(given, "role") or not as_dict(given) else getattr(given, "type", None)
    return kind if isinstance(kind, str) else None


def built_in_call(call: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The call of a tool of OpenAI's API as name, id and arguments: a ``web_search_call`` is one of `web_search`.

    Newer types may name the tool themselves.
    """
    own = next((call[key] for key in _NAMES if isinstance(call.get(key), str)), kind.removesuffix("_call"))
    named = {"name": own, "id": call.get("call_id", call.get("id"))}
    key = next((key for key in _ARGUMENTS if call.get(key) is not None), None)
    if key is None:
        return named
    return {**named, "arguments": call[key] if isinstance(call[key], Mapping) or key == "arguments" else {key: call[key]}}


def in_turns(messages: Iterable[Any]) -> list[Any]:
    """The conversation as messages: items without a role of their own become parts of messages, everything else stays as it is.

    What the assistant did between two turns of others (its reasoning, its calls and at most one message) is one message with
    these items as its content, as it is in the formats that know messages only. A tool's output is a tool's message.
    """
    turns: list[Any] = []
    open_turn: dict[str, Any] | None = None
    spoken = False
    for raw in messages:
        role = item_role(raw)
        if role == "assistant":
            if open_turn is None:
                open_turn = _opened(turns)
                spoken = bool(open_turn["content"])
            open_turn["content"].append({key: value for key, value in as_dict(raw).items() if key != _OPAQUE})
        elif role is None and open_turn is not None and not spoken and _is_words(raw):
            open_turn["content"] += _content(as_dict(raw))
            spoken = True
        else:
            turns.append(raw if role is None else _answered(as_dict(raw), role))
            open_turn = None
    return turns


def _opened(turns: list[Any]) -> dict[str, Any]:
    """The turn that an item continues: the assistant's message before it, else a new one."""
    before = as_dict(turns.pop()) if turns and _is_open(turns[-1]) else {"role": "assistant"}
    turns.append({**before, "content": _content(before)})
    opened: dict[str, Any] = turns[-1]
    return opened


def _is_assistant(given: Any) -> bool:
    role = given.get("role") if isinstance(given, Mapping) else getattr(given, "role", None)
    return role == "assistant"


def _is_open(given: Any) -> bool:
    """Whether it is a message of the assistant that has no calls but in its content, where others can join them."""
    return _is_assistant(given) and not any(map(as_dict(given).get, _BESIDE_CONTENT))


def _is_words(given: Any) -> bool:
    """Whether it is a message of the assistant that carries nothing but words."""
    return _is_assistant(given) and as_dict(given).keys() <= _OF_WORDS


def _content(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    return [{"type": "output_text", "text": content}] if isinstance(content, str) and content else blocks_of(message)


def _answered(item: dict[str, Any], role: str) -> dict[str, Any]:
    held = next((item[key] for key in ("output", "result", "tools", "reason") if item.get(key) is not None), None)
    return {**item, "role": role, "content": held, "tool_call_id": item.get("call_id", item.get("id"))}
