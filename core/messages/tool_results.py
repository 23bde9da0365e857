"""The notations in which a message brings what tools answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from eval_skills.core.messages.blocks import as_dict, blocks_of, first_under
from eval_skills.core.messages.responses_items import is_call, kind_of_item

_BLOCKS, _BLOCKS_END = frozenset({"tool_result", "tool-result"}), "_tool_result"
"""Anthropic's, also those of the tools that it runs itself (``web_search_tool_result``), and Vercel's."""

_KEYS = ("functionResponse", "function_response", "toolResult")
"""The keys under which Gemini's parts and Bedrock's blocks hold a result."""

CODE_EXECUTION = "code_execution"
"""The tool of Gemini's that runs code which the model writes, by the name that Gemini's API has for it."""

_CODE_KEYS = ("codeExecutionResult", "code_execution_result")

_NAMES = ("name", "tool_name", "toolName", "function")
_CALLS = ("tool_call_id", "tool_use_id", "toolUseId", "toolCallId", "call_id")
_CONTENTS = ("content", "output", "result", "response")
_OF_CALLS = ("output", "outputs", "results")
"""What OpenAI's and Vercel's calls hold of their own results; a generated image (`result`) is not one."""

_OUTPUT, _OTHERS = "_call_output", ("function_call_output", "custom_tool_call_output")

_FAILED = ("error", "failed", "output-error")


class ToolResult(NamedTuple):
    """What a tool answered: its name and the id of its call where they are given, the content, and the error ("" for none)."""

    name: str | None
    call_id: str | None
    content: Any
    error: str


def result_in(block: Any) -> Any:
    """The tool's result that a block of a message's content is or holds; None where it is another one."""
    given = as_dict(block)
    kind = given.get("type")
    if isinstance(kind, str) and (kind in _BLOCKS or kind.endswith(_BLOCKS_END)):
        return given
    if (code := first_under(given, _CODE_KEYS)) is not None:
        return {**(code if isinstance(code, Mapping) else {"output": code}), "name": CODE_EXECUTION}
    return first_under(given, _KEYS)


def results_of(message: Mapping[str, Any], role: str | None) -> Iterator[ToolResult]:
    """What tools answered in a message of that role: the message itself, blocks of its content, and calls that hold theirs."""
    inner = [result for result in map(_result_of, blocks_of(message)) if result is not None]
    if role in ("tool", "function"):
        own = _read(message)
        if not inner or own.name is not None or own.call_id is not None:
            yield own
    elif (held := _held_by_call(message)) is not None:
        yield held
    yield from inner
    yield from (_read(call) for call in map(as_dict, _list(message, "toolInvocations")) if "result" in call)


def _list(message: Mapping[str, Any], key: str) -> list[Any]:
    listed = message.get(key)
    return listed if isinstance(listed, list) else []


def _result_of(block: Any) -> ToolResult | None:
    given = as_dict(block)
    if (invoked := as_dict(given.get("toolInvocation"))) and "result" in invoked:
        return _read(invoked)
    result = as_dict(result_in(given))
    return _read(result) if result else _held_by_call(given)


def _read(result: Mapping[str, Any]) -> ToolResult:
    content = first_under(result, _CONTENTS)
    return ToolResult(
        _text(result, _NAMES) or _built_in(result.get("type")), _text(result, _CALLS), content, _error(result, content)
    )


def _held_by_call(call: Mapping[str, Any]) -> ToolResult | None:
    """The result that stands with its call, as in OpenAI's ``mcp_call`` and Vercel's parts of a chat."""
    kind = call.get("type")
    is_of_chat = isinstance(kind, str) and kind.startswith(("tool-", "dynamic-tool")) and "state" in call
    item = kind_of_item(call)
    if not is_of_chat and (item is None or not is_call(item)):
        return None
    action = call.get("action")
    content = [call[key] for key in _OF_CALLS if call.get(key) is not None]
    content += [action["sources"]] if isinstance(action, Mapping) and action.get("sources") else []
    error = _error(call, None)
    if not content and not error:
        return None
    name = _text(call, _NAMES) or str(kind).removeprefix("tool-").removesuffix("_call")
    return ToolResult(name, _text(call, (*_CALLS, "id")), content[0] if len(content) == 1 else content, error)


def _built_in(kind: Any) -> str | None:
    """The tool of OpenAI's whose outputs have this type; those of other people's tools do not tell it."""
    if not isinstance(kind, str) or not kind.endswith(_OUTPUT) or kind in _OTHERS:
        return None
    return kind.removesuffix(_OUTPUT)


def _error(result: Mapping[str, Any], content: Any) -> str:
    """Why the call failed; nothing where it did not."""
    error = first_under(result, ("error", "errorText")) or _error_in(content)
    failed = result.get("is_error") is True or result.get("isError") is True
    failed = failed or any(result.get(key) in _FAILED for key in ("status", "state"))
    return str(error or content or "no reason given") if failed or error else ""


def _error_in(content: Any) -> Any:
    """The error that stands in the place of a result: Gemini's under that key, Anthropic's by its type."""
    if not isinstance(content, Mapping):
        return None
    kind = content.get("type")
    if isinstance(kind, str) and kind.endswith("_tool_result_error"):
        return content.get("error_code") or kind
    return content["error"] if set(content) == {"error"} else None


def _text(given: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((held for key in keys if isinstance(held := given.get(key), str)), None)
