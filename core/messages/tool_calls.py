"""The notations in which a message carries tool calls, and the calls in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from eval_skills.core.messages.blocks import as_dict, blocks_of, first_under
from eval_skills.core.messages.responses_items import built_in_call, is_call, item_role
from eval_skills.core.messages.tool_results import CODE_EXECUTION, results_of
from eval_skills.core.models import ToolCall
from eval_skills.core.models.response import ARGUMENTS_KEYS
from eval_skills.core.text import excerpt

NO_ARGUMENTS = object()
"""Stands for arguments that a call does not mention, which is not the same as null."""

_IDENTITIES = ("call_id", "toolUseId", "toolCallId", "callID", "tool_call_id", "id")
"""OpenAI's items have two: that of the call stands in its output too, that of the item in nothing else."""

_NAMES = ("toolName", "tool_name", "tool", "function", "toolType")
"""Where Vercel, LangChain's actions, Inspect and Gemini (its own tools) keep the name of a call's tool; the first text counts."""

_TALK = frozenset({"role", "content", "name", "tool_call_id"})
"""What a message of text alone may have."""

_PLAIN_CALLS = frozenset({"role", "content", "tool_calls", "name", "refusal"})
"""What a message may have that has calls in OpenAI's notation alone, where its content is text."""

_CALL_BLOCKS = frozenset(
    {"tool_use", "server_tool_use", "mcp_tool_use"}
    | {"tool_call", "server_tool_call", "invalid_tool_call", "tool-call", "dynamic-tool"}
    | {"function_call", "custom_tool_call", "mcp_call"}
)
"""The types of blocks that are calls: Anthropic's, LangChain's, Vercel's and those of OpenAI's responses."""

_NOT_OF_CHATS = frozenset({"tool-call", "tool-result", "tool-error", "tool-invocation"})
"""Types that begin as those of a chat's parts, and name no tool."""

_INVOCATIONS = frozenset({"tool_invocation", "tool-invocation"})
_CALL_LISTS = ("tool_calls", "invalid_tool_calls", "toolCalls", "toolInvocations", "function_call", "functionCall")
_UNKNOWN_NOTATIONS = frozenset({"tooluse", "toolinvocation", "toolrequest", "toolexecution"})
"""Keys of messages in lower case, without ``_`` and the plural's s."""

_TOOLS = re.compile("tool|func", re.IGNORECASE)

_CALL_KEYS = ("functionCall", "function_call", "toolUse", "toolInvocation", "tool_call", "toolCall", "toolRequest")
"""The keys under which Gemini's parts, and the blocks of Bedrock, Vercel, Haystack, LibreChat and Genkit hold a call."""

_KINDS = ("type", "part_kind", "block_type", "content_type")
"""Where a block says what it is: the latter three are those of Pydantic AI, LlamaIndex and Semantic Kernel."""

_LIKE_CALLS = ("toolcall", "tooluse", "functioncall", "toolrequest")
_ACTION = ("tool_input", "toolInput")
_OF_A_CALL = frozenset({"name", "index", *ARGUMENTS_KEYS, *_IDENTITIES})
_MODELS = ("assistant", "ai", "model")

_CODE_KEYS = ("executableCode", "executable_code")
"""The keys under which Gemini's parts, and LangChain's blocks of them, hold code that Gemini has run itself."""

_AT_ONCE, _NAMESPACE = "multi_tool_use", "functions."
"""OpenAI's models write several calls as one of ``multi_tool_use.parallel``, in which tools stand in their own namespace."""


def raw_calls(message: Mapping[str, Any]) -> list[Any]:
    """The calls of one assistant message in all notations, each once, unreadable ones too; those that one call makes at once
    (`calls_at_once`) in its place. See `calls_as_written`.
    """
    return _unfolded(calls_as_written(message))


def calls_as_written(message: Mapping[str, Any]) -> list[Any]:
    """The calls of one assistant message in all notations, each once, unreadable ones too.

    Libraries repeat one call in several notations: it is known again by an id, or by its tool where one of the two has no id.
    A value in the place of a list of calls that is not a list counts as one call without a name.
    """
    if _is_talk(message):
        return []
    calls = message.get("tool_calls")
    if calls.__class__ is list and calls and _PLAIN_CALLS.issuperset(message) and isinstance(message.get("content"), str | None):
        listed: list[Any] = calls
        return listed
    found: list[Any] = []
    for notation in _notations(message):
        found += _further(notation, found) if found else notation
    return found


def _further(notation: list[Any], found: list[Any]) -> list[Any]:
    """The calls of a notation that do not stand among those of others."""
    others = [(set(ids_of(given)), name_and_arguments(given)[0]) for given in map(as_dict, found)]
    further = []
    for call in notation:
        ids, name = set(ids_of(as_dict(call))), name_and_arguments(as_dict(call))[0]
        same = next((each for each in others if ids & each[0] or (each[1] == name and not (ids and each[0]))), None)
        if same is None:
            further.append(call)
        else:
            others.remove(same)
    return further


def every_call(message: Mapping[str, Any]) -> Iterator[Any]:
    """The calls of a message in all of its notations, repeated ones too."""
    return iter(()) if _is_talk(message) else (call for notation in _notations(message) for call in _unfolded(notation))


def _unfolded(calls: list[Any]) -> list[Any]:
    if not any(map(_is_at_once, calls)):
        return calls
    return [each for call in calls for each in _unfolded_one(as_dict(call))]


def _is_at_once(call: Any) -> bool:
    held = call.get("function", call) if call.__class__ is dict else call
    name = held.get("name") if held.__class__ is dict else name_and_arguments(as_dict(call))[0]
    return isinstance(name, str) and _AT_ONCE in name


def _unfolded_one(call: dict[str, Any]) -> list[dict[str, Any]]:
    held = calls_at_once(*name_and_arguments(call))
    if held is None:
        return [call]
    identity = {"id": ids[0]} if (ids := ids_of(call)) else {}
    return [{**identity, **each} for each in held]


def calls_at_once(name: Any, arguments: Any) -> list[dict[str, Any]] | None:
    """The calls, by `name` and `arguments`, that a call of ``multi_tool_use.parallel`` makes; None for a call of anything else.

    One that cannot be read has an empty name.
    """
    if not isinstance(name, str) or _AT_ONCE not in name:
        return None
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return [{"name": "", "arguments": arguments}]
    uses = arguments.get("tool_uses") if isinstance(arguments, Mapping) else None
    if not isinstance(uses, list):
        return [{"name": "", "arguments": None if arguments is NO_ARGUMENTS else arguments}]
    return [_one_of_several(as_dict(use)) for use in uses]


def _one_of_several(use: dict[str, Any]) -> dict[str, Any]:
    tool = use.get("recipient_name")
    return {"name": tool.removeprefix(_NAMESPACE) if isinstance(tool, str) else "", "arguments": use.get("parameters", {})}


def name_and_arguments(raw: Mapping[str, Any]) -> tuple[Any, Any]:
    """What a raw call says it calls, and with which arguments; None where it says nothing, `NO_ARGUMENTS` without such a key.

    The text that OpenAI's custom tools are given counts as their argument `input`.
    """
    if isinstance(wrapped := raw.get("tool_call"), Mapping):  # OpenInference's
        raw = wrapped
    function = raw.get("function")
    call = function if isinstance(function, dict) else raw if raw.get("name") is not None else _named(raw)
    for key in ARGUMENTS_KEYS:
        if key in call:
            return call.get("name"), call[key]
    return call.get("name"), NO_ARGUMENTS


def tool_call(raw: Any) -> ToolCall | None:
    """The call that a raw one is; None where it names no tool, so that what was called is unknown."""
    given = as_dict(raw)
    name, arguments = name_and_arguments(given)
    if not isinstance(name, str) or not name.strip():
        return None
    return ToolCall(name=name, arguments=None if arguments is NO_ARGUMENTS else arguments, id=next(iter(ids_of(given)), None))


def unnamed_call(raw: Any) -> str:
    """What is wrong with a raw call that names no tool."""
    return f"expected tool calls that name their tool, got {excerpt(raw)}"


def ids_of(raw: Mapping[str, Any]) -> list[str]:
    """Every id of a raw call, that of the call first."""
    return [each for key in _IDENTITIES if isinstance(each := raw.get(key), str)]


def call_in(block: Any) -> Any:
    """The call that a block of a message's content is or holds; None where it is another one."""
    given = as_dict(block)
    kind = given.get("type")
    if isinstance(wrapped := given.get("tool_call"), Mapping):
        return dict(wrapped)
    if _is_of(given, _CALL_BLOCKS):
        text = given.get("input")
        return {**given, "input": {"input": text}} if kind == "custom_tool_call" and isinstance(text, str) else given
    if isinstance(kind, str) and is_call(kind) and "role" not in given:
        return built_in_call(given, kind)
    if is_part_of_chat(given):
        return {**given, "name": str(kind).removeprefix("tool-")}
    if kind == "tool":  # opencode's part of a message, which keeps what the tool was given in its state
        return {**as_dict(given.get("state")), **given}
    held = first_under(given, _CALL_KEYS)
    if held is None and (code := first_under(given, _CODE_KEYS)) is not None:
        return {"name": CODE_EXECUTION, "args": dict(code) if isinstance(code, Mapping) else {"code": code}}
    if held is None and (_is_of(given, _INVOCATIONS) or _is_like_a_call(given)):
        return given
    return held


def _is_like_a_call(block: Mapping[str, Any]) -> bool:
    """Whether a block in an unknown notation can only be a call, by its type."""
    function = block.get("function") if block.get("type") == "function" else None
    if isinstance(function, Mapping) and "arguments" in function:  # and not a tool that is offered
        return True
    kinds = (kind for key in _KINDS if isinstance(kind := block.get(key), str))
    return any(kind.replace("_", "").replace("-", "").lower().endswith(_LIKE_CALLS) for kind in kinds)


def _call_of_model(block: Any) -> Any:
    """`call_in` of a block that a model wrote: name and arguments alone are a call, too, which in a tool's result may be data."""
    given = as_dict(block)
    bare = {"name"} < given.keys() <= _OF_A_CALL and any(key in given for key in ARGUMENTS_KEYS)
    return given if bare else call_in(block)


def is_call_block(block: Mapping[str, Any]) -> bool:
    """Whether a block says by its type that it is a call."""
    return _is_of(block, _CALL_BLOCKS) or is_part_of_chat(block)


def is_part_of_chat(block: Mapping[str, Any]) -> bool:
    """Whether a block is Vercel's part of a chat that is a call: its type has the name of the tool."""
    kind = block.get("type")
    return (
        isinstance(kind, str)
        and kind.startswith("tool-")
        and ("state" in block or "toolCallId" in block)
        and not _is_of(block, _NOT_OF_CHATS)
    )


def results_named(message: Mapping[str, Any], role: str | None) -> Iterator[str]:
    """The tools whose results a message of that role brings, as far as it names them."""
    named = (result.name for result in results_of(message, role))
    return iter(dict.fromkeys(name for name in named if name is not None))


def _is_talk(message: Mapping[str, Any]) -> bool:
    """Whether it holds text alone, as most messages do."""
    return message.get("content").__class__ is str and _TALK.issuperset(message)


def _notations(message: Mapping[str, Any]) -> Iterator[list[Any]]:
    """The calls in each notation, by precedence."""
    extra = message.get("additional_kwargs")
    extra = extra if isinstance(extra, Mapping) else {}
    listed = [*_listed(message, "tool_calls"), *_listed(message, "invalid_tool_calls")]
    yield listed or _listed(message, "tool_call_chunks")  # of LangChain's chunk of a message, as `whole_messages` joins them
    yield _listed(message, "toolCalls")
    yield _listed(message, "toolInvocations")  # Vercel's, of its older chats
    yield [*_listed(extra, "tool_calls"), *_listed(extra, "invalid_tool_calls")]
    read = call_in if message.get("role", message.get("type")) not in _MODELS else _call_of_model
    yield [call for call in map(read, blocks_of(message)) if call is not None]
    for holder in (message, extra):
        for key in ("function_call", "functionCall"):
            if legacy := holder.get(key):
                yield [legacy]
    if item_role(message) == "assistant" and (call := call_in(message)) is not None:  # as in OpenAI's responses
        yield [call]
    if isinstance(message.get("tool"), str) and any(key in message for key in _ACTION):  # an action, as agents of CrewAI log it
        yield [{key: message[key] for key in ("tool", *_ACTION) if key in message}]
    yield [{key: given} for key, given in message.items() if _is_like_calls(key, given)]


def _is_like_calls(key: Any, given: Any) -> bool:
    """Whether this can only be calls in an unknown notation, or under a misspelt key."""
    if not given or not isinstance(given, list | tuple | Mapping) or not isinstance(key, str) or key in _CALL_LISTS:
        return False
    misspelt = _TOOLS.match(key) is not None and get_close_matches(key, _CALL_LISTS, n=1, cutoff=0.8)
    return bool(misspelt) or key.replace("_", "").lower().removesuffix("s") in _UNKNOWN_NOTATIONS


def _listed(holder: Mapping[str, Any], key: str) -> list[Any]:
    calls = holder.get(key)
    if isinstance(calls, list | tuple):
        return list(calls)
    return [{key: calls}] if calls else []


def _named(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call that keeps its name elsewhere: OpenAI's call of a custom tool, Vercel's, LangChain's actions, Inspect."""
    custom = raw.get("custom")
    if isinstance(custom, Mapping):
        text = custom.get("input")
        return {**custom, "input": {"input": text}} if isinstance(text, str) else custom
    return {**raw, "name": next((held for key in _NAMES if isinstance(held := raw.get(key), str)), raw.get("name"))}


def _is_of(block: Mapping[str, Any], types: frozenset[str]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in types
