"""The tool calls of an answer, however it reports them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eval_skills.core.models import SkillResponse, ToolCall

_ASSISTANT = ("assistant", "ai")


def with_tool_calls(response: SkillResponse) -> SkillResponse:
    """The same answer with `tool_calls` filled in from its messages where it reports none of its own.

    None stays None only for an answer without messages: what it called is unknown. An empty list is no alibi for calls
    that stand in the messages.
    """
    if response.tool_calls or response.messages is None:
        return response
    return response.model_copy(update={"tool_calls": calls_of_messages(response.messages)})


def calls_of_messages(messages: list[dict[str, Any]]) -> list[ToolCall]:
    """The calls of all assistant messages, in order; calls on other messages do not count, and unreadable ones are left out.

    Known notations: OpenAI's nested `function`, flat `name` and `args`, `additional_kwargs.tool_calls`, `function_call`,
    `invalid_tool_calls`, and `tool_use` blocks of the content.
    """
    raw = (call for message in messages if _is_assistant(message) for call in _calls_of(message))
    return [call for call in map(_tool_call, raw) if call is not None]


def _is_assistant(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role", message.get("type")) in _ASSISTANT


def _calls_of(message: dict[str, Any]) -> Iterator[Any]:
    extra = message.get("additional_kwargs")
    nested = extra if isinstance(extra, dict) else {}
    content = message.get("content")
    blocks = (
        [each for each in content if isinstance(each, dict) and each.get("type") == "tool_use"]
        if isinstance(content, list)
        else []
    )
    legacy = message.get("function_call") or nested.get("function_call")
    # libraries repeat one call in several of these notations: the first that is filled holds them all
    yield from _list(message.get("tool_calls")) or _list(nested.get("tool_calls")) or blocks or ([legacy] if legacy else [])
    yield from _list(message.get("invalid_tool_calls"))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _tool_call(raw: Any) -> ToolCall | None:
    if not isinstance(raw, dict):
        return None
    function = raw.get("function")
    call = function if isinstance(function, dict) else raw
    if not isinstance(call.get("name"), str):
        return None
    arguments = next((call[key] for key in ("arguments", "args", "input") if key in call), None)
    identity = raw.get("id")
    return ToolCall(name=call["name"], arguments=arguments, id=identity if isinstance(identity, str) else None)
