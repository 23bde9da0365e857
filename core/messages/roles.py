"""Who says a message of a conversation, in which wrapping, and in how many chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval_skills.core.messages.blocks import blocks_of, refusal_in, text_in
from eval_skills.core.messages.responses_items import in_turns, item_role
from eval_skills.core.messages.tool_results import results_of
from eval_skills.core.text import excerpt, nearest

ROLES = {
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "user": "user",
    "human": "user",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
    "function": "function",
}
"""Every role under each of its names."""

UNREAD = "unread"
"""The role of a message that says what could not be read of a run: no scorer takes the calls of the others for all that were
made."""


def role_in(message: Mapping[str, Any]) -> str | None:
    """The role of a message by its own name, from `role` or from LangChain's `type`; None where it has none that is known.

    An item of OpenAI's Responses API has the role of whose turn it belongs to; see `item_role`.
    """
    named = message.get("role", message.get("type"))
    known = ROLES.get(named.removesuffix("MessageChunk").lower()) if isinstance(named, str) else None
    return item_role(message) if known is None else known


def unknown_role(message: Mapping[str, Any]) -> str:
    """What is wrong with a message that has no known role: the role, the nearest known one, and all of them; of one that says
    what could not be read (`UNREAD`), that."""
    named = message.get("role", message.get("type"))
    if named == UNREAD and isinstance(said := message.get("content"), str):
        return said
    hint = nearest(named, ROLES) if isinstance(named, str) else ""
    return f"unknown role {excerpt(named)}{hint}; known: {', '.join(ROLES)}"


def last_words(messages: Iterable[Mapping[str, Any]]) -> str | None:
    """The text of the assistant's last turn, or with which it refuses; None where there is none. A turn of calls alone has an
    empty one. What a sub-agent says counts only where nobody else says anything."""
    whole = whole_messages(messages)
    turns = [inner_message(each) for each in [each for each in whole if not is_of_sub_agent(each)] or whole]
    if any("role" not in turn and item_role(turn) is not None for turn in turns):
        turns = in_turns(turns)
    return next((text_in(turn) or refusal_in(turn) for turn in reversed(turns) if role_in(turn) == "assistant"), None)


def is_of_sub_agent(line: Mapping[str, Any]) -> bool:
    """Whether a line of a transcript of Claude Code is a sub-agent's, by the file of the session or by the program's stream."""
    return line.get("isSidechain") is True or isinstance(line.get("parent_tool_use_id"), str)


_FINISH = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason")


def finish_reason_of(messages: Iterable[Mapping[str, Any]]) -> str | None:
    """Why the model stopped in its last message, in the words of its API; None where that is not known.

    It stands in the message, in what the message stands in (OpenAI's choice), or in LangChain's `response_metadata`. An item of
    OpenAI's Responses API says no more than that it is incomplete.
    """
    last: Mapping[str, Any] = next((each for each in reversed(list(messages)) if role_in(inner_message(each)) == "assistant"), {})
    inner = inner_message(last)
    for holder in (inner, last, inner.get("response_metadata")):
        if isinstance(holder, Mapping):
            said = [holder.get(key) for key in _FINISH]
            said += [holder["status"]] if holder.get("status") == "incomplete" else []
            if (why := next((each for each in said if isinstance(each, str)), None)) is not None:
                return why
    return None


def unanswered(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Why none of the messages is the answer to the user's last one; None where one is."""
    if last_words(messages) is None:
        return "there is no answer: none of the messages is the assistant's, and output is not given"
    last = inner_message(messages[-1])
    if role_in(last) != "user" or any(True for _ in results_of(last, "user")):  # a tool's turn, as Anthropic's API has them
        return None
    return f"there is no answer: messages[{len(messages) - 1}], the last one, is the user's, and output is not given"


def whole_messages(messages: Iterable[Mapping[str, Any]]) -> list[Any]:
    """The messages, each series of LangChain's chunks (``AIMessageChunk``) as the message that was streamed in them.

    Chunks with one id belong together, also where others stand between them: models that answer at the same time take turns.
    Chunks without an id do where nothing stands between them. The message itself, with its id, takes the place of its chunks.
    """
    whole: list[Any] = []
    begun: dict[str, int] = {}
    for raw in messages:
        message = inner_message(raw)
        is_chunk, identity = _is_chunk(message), message.get("id")
        place = begun.get(identity) if isinstance(identity, str) else _last_without_id(whole) if is_chunk else None
        if place is None:
            place = len(whole)
            whole.append(message if is_chunk else raw)
        else:
            whole[place] = _joined(whole[place], message) if is_chunk else raw
        if is_chunk and isinstance(identity, str):
            begun[identity] = place
    return whole


_CHUNK = "MessageChunk"
_CHUNKS_OF_CALLS = "tool_call_chunks"
_READ_TOO_EARLY = ("tool_calls", "invalid_tool_calls", "additional_kwargs")
"""What a chunk has of its calls beside their chunks: it was read out of a part of the arguments."""


def _is_chunk(message: Mapping[str, Any]) -> bool:
    kind = message.get("type")
    return isinstance(kind, str) and kind.endswith(_CHUNK)


def _last_without_id(whole: list[Any]) -> int | None:
    """The place of the last message where it is made of chunks without an id, which the next such chunk continues."""
    return len(whole) - 1 if whole and _is_chunk(whole[-1]) and not isinstance(whole[-1].get("id"), str) else None


def _joined(before: Mapping[str, Any], chunk: Mapping[str, Any]) -> dict[str, Any]:
    said = {key: held for key, held in chunk.items() if held not in (None, "", [], {})}
    content = [*_content(before), *_content(chunk)]
    whole = "".join(content) if all(isinstance(each, str) for each in content) else content
    calls = [dict(each) for each in _mappings(before.get(_CHUNKS_OF_CALLS))]
    for each in _mappings(chunk.get(_CHUNKS_OF_CALLS)):
        begun = next((call for call in reversed(calls) if _is_continued(call, each)), None)
        if begun is None:
            calls.append(dict(each))
        else:
            said_again = begun.get("name") == each.get("name")
            begun |= {key: f"{begun.get(key) or ''}{each.get(key) or ''}" for key in ("args", *(() if said_again else ("name",)))}
    joined = {**before, **said, "content": whole, _CHUNKS_OF_CALLS: calls}
    return {key: held for key, held in joined.items() if not (calls and key in _READ_TOO_EARLY)}


def _is_continued(call: Mapping[str, Any], chunk: Mapping[str, Any]) -> bool:
    """Whether a chunk is of this call: some services give all calls of a message one index, and each its own id."""
    one, other = call.get("id"), chunk.get("id")
    return call.get("index") == chunk.get("index") is not None and (not one or not other or one == other)


def _content(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    return [content] if isinstance(content, str) else blocks_of(message)


def _mappings(held: Any) -> list[Mapping[str, Any]]:
    return [each for each in held if isinstance(each, Mapping)] if isinstance(held, list) else []


def inner_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message inside a serialised one of LangChain's, by ``dumpd`` or by ``messages_to_dict``, or in what has it as
    `message`: a line of a transcript of Claude Code, a choice of OpenAI's. Any other is its own.
    """
    if "lc" in message:
        inner = message.get("kwargs")
        return inner if isinstance(inner, Mapping) else message
    if is_wrapped(message):
        return {**message["data"], **message}
    held = message.get("message")
    return held if "role" not in message and isinstance(held, Mapping) and "role" in held else message


def is_wrapped(message: Mapping[str, Any]) -> bool:
    """Whether it is ``{"type": "ai", "data": {...}}``, as LangChain's ``messages_to_dict`` writes messages."""
    return "data" in message and "role" not in message and "type" in message and isinstance(message["data"], Mapping)
