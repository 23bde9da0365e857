"""LangChain's messages as OpenAI-style ones: their texts, their tool calls and their tokens."""

from __future__ import annotations

import json
from typing import Any

from eval_skills.core.errors import ContractError
from eval_skills.core.models import ToolCall, Usage

_ROLES = {"ai": "assistant", "human": "user"}


def openai_message(message: dict[str, Any]) -> dict[str, Any]:
    """`message` with role, content and, where it has them, tool calls whose arguments are JSON text.

    A content of several texts becomes one text; other parts (images) stay only in messages that no model wrote. A call that
    the model wrote unreadably keeps its arguments as they were. What is no message of LangChain is passed on.
    """
    if "type" not in message:
        return message
    role = _role(message)
    spoken: dict[str, Any] = {"role": role, "content": _content(message, role)}
    spoken |= {key: message[key] for key in ("name", "tool_call_id") if message.get(key) is not None}
    if calls := [*_list(message, "tool_calls"), *_list(message, "invalid_tool_calls")]:
        spoken["tool_calls"] = [_openai_call(call) for call in calls]
    return spoken


def calls_of(messages: list[dict[str, Any]]) -> list[ToolCall]:
    """All tool calls in order, each with the result or the error that a tool's message has for its id."""
    answers = {message.get("tool_call_id"): message for message in messages if _role(message) == "tool"}
    asked = [call for message in messages for call in (*_list(message, "tool_calls"), *_list(message, "invalid_tool_calls"))]
    return [_tool_call(call, answers.get(call.get("id")) if call.get("id") else None) for call in asked if _is_native(call)]


def final_text(messages: list[dict[str, Any]]) -> str:
    """The text of the model's last message.

    Raises:
        ContractError: no model spoke; what a user, a tool or the system said is no answer.
    """
    spoken = [message for message in messages if _role(message) == "assistant"]
    if not spoken:
        others = ", ".join(dict.fromkeys(map(_role, messages)))
        raise ContractError(f"no message of the model in the answer{others and f'; what is new in it came from: {others}'}")
    return text_of(spoken[-1].get("content"))


def text_of(content: Any) -> str:
    """The texts of a message's content, one after the other; parts that are no text are left out."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    return "".join(part if isinstance(part, str) else str(part.get("text", "")) for part in content if _is_text(part))


def usage_of(usages: list[dict[str, Any] | None]) -> Usage | None:
    """The sum of LangChain's usage metadata, None where nobody reported any."""
    known = [usage for usage in usages if usage]
    if not known:
        return None
    prompt, completion = (sum(usage.get(key) or 0 for usage in known) for key in ("input_tokens", "output_tokens"))
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _role(message: dict[str, Any]) -> str:
    kind = str(message.get("type", message.get("role", ""))).removesuffix("MessageChunk").lower()
    return str(message.get("role") or "user") if kind == "chat" else _ROLES.get(kind, kind)


def _content(message: dict[str, Any], role: str) -> Any:
    content = message.get("content")
    if role == "assistant" or (isinstance(content, list) and all(map(_is_text, content))):
        return text_of(content)
    return content


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, dict) and part.get("type") == "text")


def _list(message: dict[str, Any], key: str) -> list[Any]:
    value = message.get(key)
    return value if isinstance(value, list) else []


def _openai_call(call: dict[str, Any]) -> dict[str, Any]:
    if not _is_native(call):
        return call
    arguments = call.get("args")
    text = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    return {"id": call.get("id"), "type": "function", "function": {"name": call["name"], "arguments": text}}


def _is_native(call: Any) -> bool:
    return isinstance(call, dict) and isinstance(call.get("name"), str)


def _tool_call(call: dict[str, Any], answer: dict[str, Any] | None) -> ToolCall:
    content = text_of(answer.get("content")) if answer is not None else None
    failed = answer is not None and answer.get("status") == "error"
    said = {"error": content} if failed else {"result": content}
    return ToolCall(name=call["name"], arguments=call.get("args"), id=call.get("id"), **said)
