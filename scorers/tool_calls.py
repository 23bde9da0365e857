"""The tool calls of an answer, however it reports them."""

from __future__ import annotations

from typing import Any

from eval_skills.core.models import SkillResponse, ToolCall

NO_ARGUMENTS = object()
"""Stands for arguments that a call does not mention, which is not the same as null."""

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
    raw = (call for message in messages if _is_assistant(message) for call in raw_calls(message))
    return [call for call in map(_tool_call, raw) if call is not None]


def raw_calls(message: dict[str, Any]) -> list[Any]:
    """The calls of one assistant message as they stand there, whatever the notation and however unreadable.

    Libraries repeat one call in several notations: the first that is filled holds them all.
    """
    calls, invalid = _list(message.get("tool_calls")), _list(message.get("invalid_tool_calls"))
    if calls or invalid:
        return [*calls, *invalid] if invalid else calls
    extra = message.get("additional_kwargs")
    nested = extra if isinstance(extra, dict) else {}
    if repeated := _list(nested.get("tool_calls")):
        return repeated
    content = _list(message.get("content"))
    if blocks := [each for each in content if isinstance(each, dict) and each.get("type") == "tool_use"]:
        return blocks
    legacy = message.get("function_call") or nested.get("function_call")
    return [legacy] if legacy else []


def name_and_arguments(raw: dict[str, Any]) -> tuple[Any, Any]:
    """What a raw call says it calls, and with which arguments; None where it says nothing, `NO_ARGUMENTS` without such a key."""
    function = raw.get("function")
    call = function if isinstance(function, dict) else raw
    for key in ("arguments", "args", "input"):
        if key in call:
            return call.get("name"), call[key]
    return call.get("name"), NO_ARGUMENTS


def _is_assistant(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role", message.get("type")) in _ASSISTANT


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _tool_call(raw: Any) -> ToolCall | None:
    if not isinstance(raw, dict):
        return None
    name, arguments = name_and_arguments(raw)
    if not isinstance(name, str):
        return None
    identity = raw.get("id")
    given = None if arguments is NO_ARGUMENTS else arguments
    return ToolCall(name=name, arguments=given, id=identity if isinstance(identity, str) else None)
