"""The tool calls of an answer, in `toolCalls` or in its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from eval_skills.core.messages.blocks import as_dict
from eval_skills.core.messages.claude_code import kept_result, unseen_calls
from eval_skills.core.messages.lost_calls import lost_calls
from eval_skills.core.messages.responses_items import item_role
from eval_skills.core.messages.roles import inner_message, role_in, unknown_role
from eval_skills.core.messages.tool_calls import (
    call_in,
    calls_as_written,
    calls_at_once,
    every_call,
    ids_of,
    is_call_block,
    raw_calls,
    results_named,
    tool_call,
    unnamed_call,
)
from eval_skills.core.models import Reason, SkillResponse, ToolCall, TurnResponse
from eval_skills.core.models.result import TOOL_CALLS_UNKNOWN
from eval_skills.core.text import excerpt
from eval_skills.scorers.score import remark

COMPARES_CALLS = ("bfcl", "trajectory_match", "tool_accuracy", "sequence", "forbidden_tools")
"""The evaluators that look at what was called."""

_UNREPORTED = Reason(
    code=TOOL_CALLS_UNKNOWN,
    message="expected toolCalls or messages that say which tools were called, got neither; report an empty list for none",
    where="toolCalls",
)


def with_tool_calls(response: SkillResponse) -> SkillResponse:
    """The same answer with `tool_calls` filled in from its messages where it reports none of its own.

    None stays None where what it called is unknown (`unknown_calls`): the calls that can be read are not all of them. An empty
    list does not hide calls in the messages.
    """
    if response.turns is not None:
        return response.model_copy(update={"tool_calls": known_calls(response)})
    if response.tool_calls or response.messages is None or unknown_calls(response) is not None:
        return response
    return response.model_copy(update={"tool_calls": calls_of_messages(response.messages)})


def known_calls(response: SkillResponse) -> list[ToolCall] | None:
    """What was called, for everything that compares calls: the calls of the messages where these hold any, else `tool_calls`.

    None where that is unknown; `unknown_calls` says why.
    """
    if unknown_calls(response) is not None:
        return None
    if response.turns is not None:
        return [call for turn in in_order(response.turns) for call in known_calls(turn) or ()]
    messages, reported = response.messages or [], reported_calls(response.tool_calls or ())
    in_messages = calls_of_messages(messages, reported, response.called_before)
    if reported and not _asked_in(messages):
        return [*reported, *in_messages]  # those of the messages are known by their results alone
    return in_messages if calls_disagree(response) is not None else reported or in_messages


def reported_calls(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """The calls of a list; those that one call makes at once (`calls_at_once`) in its place, each with its id and result."""
    found: list[ToolCall] = []
    for call in calls:
        made = calls_at_once(call.name, call.arguments)
        found += [call] if made is None else [call.model_copy(update=each) for each in made]
    return found


def unknown_calls(response: SkillResponse) -> Reason | None:
    """Why it is not known what was called: nothing is reported, a message that may hold calls has an unknown role, a call of the
    assistant names no tool, even where others are reported, or a result that names none has no call. Of a conversation each turn
    has to say what was called in it.
    """
    if response.turns is not None:
        return _first_of_turns(in_order(response.turns), unknown_calls)
    if response.tool_calls is None and response.messages is None:
        return _UNREPORTED
    for place, call in enumerate(response.tool_calls or ()):
        for each in reported_calls([call]):
            if not each.name.strip():
                return _unknown(_without_a_name(each), f"toolCalls[{place}]")
    for place, message in enumerate(map(inner_message, response.messages or ())):
        if (problem := _hidden_in(message, reported=bool(response.tool_calls))) is not None:
            return _unknown(problem, f"messages[{place}]")
    return _unseen_or_lost(response)


def calls_elsewhere(response: SkillResponse) -> Reason | None:
    """That an answer made calls which do not stand in its messages, or not where they are read."""
    for place, message in enumerate(map(inner_message, response.messages or ()) if not response.tool_calls else ()):
        if role_in(message) == "assistant" and (problem := _unread_part(message)) is not None:
            return _unknown(problem, f"messages[{place}]")
    return _unseen_or_lost(response)


def _unseen_or_lost(response: SkillResponse) -> Reason | None:
    if (unseen := unseen_calls(response.messages or ())) is not None:
        return _unknown(unseen[1], f"messages[{unseen[0]}]")
    return lost_tool(response)


def lost_tool(response: SkillResponse) -> Reason | None:
    """That a tool's result stands in the messages of an answer without its call, and does not say of which tool it is."""
    lost = lost_calls(response.messages or (), response.tool_calls or (), response.called_before)
    nameless = next((each for each in lost if each.call is None), None)
    if nameless is None:
        return None
    call_id = nameless.result.call_id
    which = "" if call_id is None else f" with the id {excerpt(call_id)}"
    return _unknown(f"expected the call of every tool result, got a result{which} without one", f"messages[{nameless.place}]")


def calls_by_result(response: SkillResponse) -> list[ToolCall]:
    """The calls of an answer that are known by their results alone, which name the tool and not the arguments."""
    lost = lost_calls(response.messages or (), response.tool_calls or (), response.called_before)
    return [call for each in lost if (call := each.call) is not None]


def in_order(turns: Sequence[TurnResponse]) -> list[TurnResponse]:
    """The turns of a conversation, each with the ids of the calls before it: results may come a turn later."""
    before: frozenset[str] = frozenset()
    ordered = []
    for turn in turns:
        ordered.append(turn.after(before))
        before = before.union(
            *(ids_of(as_dict(raw)) for message in turn.messages or () for raw in raw_calls(inner_message(message)))
        )
        before = before.union(call.id for call in turn.tool_calls or () if call.id is not None)
    return ordered


def _first_of_turns(turns: Sequence[SkillResponse], reason_of: Callable[[SkillResponse], Reason | None]) -> Reason | None:
    reasons = (in_turn(place, reason) for place, turn in enumerate(turns) if (reason := reason_of(turn)) is not None)
    return next(reasons, None)


def in_turn(place: int, reason: Reason) -> Reason:
    """The reason as one about the turn at that place of a conversation, from 0."""
    where = f"turns[{place}]{'.' if reason.where else ''}{reason.where}"
    return reason.model_copy(update={"message": f"turn {place + 1}: {reason.message}", "where": where})


def _hidden_in(message: Mapping[str, Any], *, reported: bool) -> str | None:
    """Why a message may hold calls that cannot be read; `reported` says that there are calls which were reported beside it."""
    role = role_in(message)
    if role is None and (not reported or any(True for _ in every_call(message))):
        return unknown_role(message)
    if role != "assistant":
        return None
    nameless = (call for call in every_call(message) if tool_call(call) is None)
    return next(map(unnamed_call, nameless), None if reported else _unread_part(message))


def _unread_part(message: Mapping[str, Any]) -> str | None:
    """That a message has something in the place of its content, where calls may stand."""
    if "role" not in message or "content" in message or "parts" in message or any(True for _ in every_call(message)):
        return None
    held = (key for key, part in message.items() if part and isinstance(part, list | Mapping) and key not in _BESIDE_CONTENT)
    return next((f"expected the message's content, got {excerpt(key)} in an unknown notation" for key in held), None)


_BESIDE_CONTENT = frozenset(
    {"additional_kwargs", "annotations", "audio", "metadata", "provider_specific_fields", "reasoning_details"}
    | {"response_metadata", "thinking_blocks", "usage", "usage_metadata"}
)


def _without_a_name(call: ToolCall) -> str:
    if call.error:
        return f"a tool call without a name was reported: {call.error}"
    return unnamed_call(call.model_dump(exclude_unset=True))


def _unknown(problem: str, where: str) -> Reason:
    return Reason(code=TOOL_CALLS_UNKNOWN, message=problem, where=where)


def nothing_to_judge(scorer: str | None, response: SkillResponse) -> Reason:
    """Why an evaluator gave no score: for one that compares calls, the reason why they are unknown."""
    if scorer in COMPARES_CALLS and (unknown := unknown_calls(response)) is not None:
        return unknown
    return Reason(code="NOTHING_TO_JUDGE", message=f"scorer {scorer!r} found nothing to judge in this answer", where="output")


def calls_disagree(response: SkillResponse) -> Reason | None:
    """A remark where `tool_calls` and the messages both say what was called, and not the same tools in the same order."""
    if response.turns is not None:
        return _first_of_turns(in_order(response.turns), calls_disagree)
    messages, listed = response.messages or [], response.tool_calls
    in_messages = [call.name for call in calls_of_messages(messages, listed or (), response.called_before)]
    reported = [call.name for call in reported_calls(listed or ())]
    if not in_messages or listed is None or in_messages == reported:
        return None
    which = "the messages count" if _asked_in(messages) else "both count"
    message = f"the messages call {excerpt(in_messages)} and toolCalls reports {excerpt(reported)}; {which}"
    return remark("TOOL_CALLS_DISAGREE", message, "toolCalls")


def named_in_messages(messages: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Every tool that a message calls, as (where, name), of any role and in any notation.

    A call that one message repeats in another notation is one. A call that makes several at once counts beside them.
    """
    for place, message in enumerate(messages):
        written = filter(None, map(tool_call, calls_as_written(inner_message(message))))
        yield from ((f"messages[{place}]", name) for call in written for name in names_of(call))


def names_of(call: ToolCall) -> Iterator[str]:
    """The tool that is called, and those of the calls that it makes at once."""
    yield call.name
    yield from (each["name"] for each in calls_at_once(call.name, call.arguments) or ())


def results_in_messages(messages: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Every tool whose result stands in a message under its name, as (where, name): it ran."""
    for place, message in enumerate(messages):
        inner = inner_message(message)
        yield from ((f"messages[{place}]", name) for name in results_named(inner, role_in(inner)))


_NESTING = ("content", "parts", "output", "outputs", "result", "results", "artifact", "toolInvocations", "messages")
"""The keys of a message below which messages of others may lie; an artifact is LangChain's, and the model does not see it."""


def nested_calls(calls: Iterable[ToolCall], messages: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Every tool that is called in what a message or the result of a call holds, as (where, name): a sub-agent returns its own
    messages."""
    held = [
        (f"messages[{place}]", [kept_result(message), *map(inner_message(message).get, _NESTING)])
        for place, message in enumerate(messages)
    ]
    held += [(f"toolCalls[{place}]", [call.result]) for place, call in enumerate(calls)]
    yield from ((where, name) for where, below in held for call in _calls_below(below) for name in names_of(call))


def _calls_below(values: Iterable[Any]) -> Iterator[ToolCall]:
    """The calls of messages, and the blocks of calls, that lie in values at any depth."""
    rest = list(values)
    while rest:
        part = rest.pop()
        if isinstance(part, list | tuple):
            rest += part
        elif isinstance(part, Mapping):
            message = inner_message(part)
            is_message = role_in(message) == "assistant" and item_role(message) is None
            raw = calls_as_written(message) if is_message else [call_in(part)] if is_call_block(part) else []
            yield from filter(None, map(tool_call, raw))
            rest += () if raw else part.values()


def calls_of_messages(
    messages: list[dict[str, Any]], reported: Sequence[ToolCall] = (), before: frozenset[str] = frozenset()
) -> list[ToolCall]:
    """The calls of all assistant messages, in order; calls on other messages do not count, and unreadable ones are left out.

    A result that names its tool, and of which the call is neither in the messages nor `reported` beside them, nor `before` them,
    is a call, too. See `core.messages.tool_calls` and `lost_calls`.
    """
    found = [(place, call) for place, message in enumerate(messages) for call in _asked_in([message])]
    found += [(each.place, call) for each in lost_calls(messages, reported, before) if (call := each.call) is not None]
    return [call for _, call in sorted(found, key=itemgetter(0))]  # stable: of one message its own calls come first


def _asked_in(messages: list[dict[str, Any]]) -> list[ToolCall]:
    in_messages = (inner_message(message) for message in messages)
    raw = (call for message in in_messages if role_in(message) == "assistant" for call in raw_calls(message))
    return [call for call in map(tool_call, raw) if call is not None]
