"""The tool calls of an answer, however it reports them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eval_skills.core.message_roles import inner_message, role_in, unknown_role
from eval_skills.core.models import Reason, SkillResponse, ToolCall
from eval_skills.scorers.reasons import excerpt, remark

NO_ARGUMENTS = object()
"""Stands for arguments that a call does not mention, which is not the same as null."""

_UNREPORTED = Reason(
    code="TOOL_CALLS_UNKNOWN",
    message="expected toolCalls or messages that say which tools were called, got neither; report an empty list for none",
    where="toolCalls",
)


def with_tool_calls(response: SkillResponse) -> SkillResponse:
    """The same answer with `tool_calls` filled in from its messages where it reports none of its own.

    None stays None only for an answer without messages: what it called is unknown. An empty list is no alibi for calls
    that stand in the messages.
    """
    if response.tool_calls or response.messages is None:
        return response
    return response.model_copy(update={"tool_calls": calls_of_messages(response.messages)})


def known_calls(response: SkillResponse) -> list[ToolCall] | None:
    """What was called, for everything that compares calls: the calls of the messages where these hold any, else `tool_calls`.

    None where that is unknown; `unknown_calls` says why.
    """
    if unknown_calls(response) is not None:
        return None
    spoken = calls_of_messages(response.messages or [])
    return spoken if calls_disagree(response) is not None else response.tool_calls or spoken


def unknown_calls(response: SkillResponse) -> Reason | None:
    """Why nobody can tell what was called: nothing says so, or a message that may hold calls is nobody's that is known."""
    if response.tool_calls is None and response.messages is None:
        return _UNREPORTED
    for place, message in enumerate(response.messages or ()):
        inner = inner_message(message)
        if role_in(inner) is None and (not response.tool_calls or any(_every_call(inner))):
            return Reason(code="TOOL_CALLS_UNKNOWN", message=unknown_role(inner), where=f"messages[{place}]")
    return None


def calls_disagree(response: SkillResponse) -> Reason | None:
    """A remark where `tool_calls` and the messages both say what was called, and not the same tools in the same order."""
    spoken = [call.name for call in calls_of_messages(response.messages or [])]
    if not spoken or response.tool_calls is None or spoken == [call.name for call in response.tool_calls]:
        return None
    reported = [call.name for call in response.tool_calls]
    message = f"the messages call {excerpt(spoken)} and toolCalls reports {excerpt(reported)}; the messages count"
    return remark(Reason(code="TOOL_CALLS_DISAGREE", message=message, where="toolCalls"))


def named_in_messages(messages: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Every tool that a message calls, as (where, name): by the assistant or by somebody unknown, in whatever notation.

    A call that one message repeats in another notation is one.
    """
    for place, message in enumerate(messages):
        inner = inner_message(message)
        if role_in(inner) in ("assistant", None):
            read = _names(raw_calls(inner))
            others = dict.fromkeys(name for name in _names(list(_every_call(inner))) if name not in read)
            yield from ((f"messages[{place}]", name) for name in [*read, *others])


def calls_of_messages(messages: list[dict[str, Any]]) -> list[ToolCall]:
    """The calls of all assistant messages, in order; calls on other messages do not count, and unreadable ones are left out.

    Known notations: OpenAI's nested `function`, flat `name` and `args`, `additional_kwargs.tool_calls`, `function_call`,
    `invalid_tool_calls`, and `tool_use` blocks of the content.
    """
    spoken = (inner_message(message) for message in messages)
    raw = (call for message in spoken if role_in(message) == "assistant" for call in raw_calls(message))
    return [call for call in map(_tool_call, raw) if call is not None]


def raw_calls(message: Mapping[str, Any]) -> list[Any]:
    """The calls of one assistant message as they stand there, whatever the notation and however unreadable.

    Libraries repeat one call in several notations: the first that is filled holds them all.
    """
    if calls := _list(message.get("tool_calls")) + _list(message.get("invalid_tool_calls")):
        return calls
    legacy, extra, content = message.get("function_call"), message.get("additional_kwargs"), message.get("content")
    if isinstance(extra, dict):
        if repeated := _list(extra.get("tool_calls")):
            return repeated
        legacy = legacy or extra.get("function_call")
    blocks = isinstance(content, list) and [each for each in content if isinstance(each, dict) and each.get("type") == "tool_use"]
    if blocks:
        return blocks
    return [legacy] if legacy else []


def name_and_arguments(raw: dict[str, Any]) -> tuple[Any, Any]:
    """What a raw call says it calls, and with which arguments; None where it says nothing, `NO_ARGUMENTS` without such a key."""
    function = raw.get("function")
    call = function if isinstance(function, dict) else raw
    for key in ("arguments", "args", "input"):
        if key in call:
            return call.get("name"), call[key]
    return call.get("name"), NO_ARGUMENTS


def _every_call(message: Mapping[str, Any]) -> Iterator[Any]:
    """The calls of a message in all of its notations, repeated ones too."""
    extra = message.get("additional_kwargs")
    for holder in (message, extra if isinstance(extra, dict) else {}):
        for key in ("tool_calls", "invalid_tool_calls"):
            yield from _list(holder.get(key))
        if legacy := holder.get("function_call"):
            yield legacy
    for block in _list(message.get("content")):
        if isinstance(block, dict) and block.get("type") == "tool_use":
            yield block


def _names(raw: list[Any]) -> list[str]:
    return [call.name for call in map(_tool_call, raw) if call is not None]


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
