"""The tool calls of an answer, in `toolCalls` or in its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from eval_skills.core.messages.roles import inner_message, role_in, unknown_role
from eval_skills.core.messages.tool_calls import every_call, raw_calls, results_named, tool_call
from eval_skills.core.models import Reason, SkillResponse, ToolCall
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

    None stays None only for an answer without messages: what it called is unknown. An empty list does not
    hide calls in the messages.
    """
    if response.turns is not None:
        return response.model_copy(update={"tool_calls": known_calls(response)})
    if response.tool_calls or response.messages is None:
        return response
    return response.model_copy(update={"tool_calls": calls_of_messages(response.messages)})


def known_calls(response: SkillResponse) -> list[ToolCall] | None:
    """What was called, for everything that compares calls: the calls of the messages where these hold any, else `tool_calls`.

    None where that is unknown; `unknown_calls` says why.
    """
    if unknown_calls(response) is not None:
        return None
    if response.turns is not None:
        return [call for turn in response.turns for call in known_calls(turn) or ()]
    in_messages = calls_of_messages(response.messages or [])
    return in_messages if calls_disagree(response) is not None else response.tool_calls or in_messages


def unknown_calls(response: SkillResponse) -> Reason | None:
    """Why it is not known what was called: nothing is reported, a message that may hold calls has an unknown role, or a call of
    the assistant names no tool, even where others are reported. Of a conversation each turn has to say what was called in it.
    """
    if response.turns is not None:
        return _first_of_turns(response.turns, unknown_calls)
    if response.tool_calls is None and response.messages is None:
        return _UNREPORTED
    for place, call in enumerate(response.tool_calls or ()):
        if not call.name.strip():
            return _unknown(_without_a_name(call), f"toolCalls[{place}]")
    for place, message in enumerate(map(inner_message, response.messages or ())):
        if (problem := _hidden_in(message, reported=bool(response.tool_calls))) is not None:
            return _unknown(problem, f"messages[{place}]")
    return None


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
    nameless = (call for call in every_call(message) if tool_call(call) is None)
    return next(map(_nameless, nameless), None) if role == "assistant" else None


def _without_a_name(call: ToolCall) -> str:
    if call.error:
        return f"a tool call without a name was reported: {call.error}"
    return _nameless(call.model_dump(exclude_unset=True))


def _nameless(call: Any) -> str:
    return f"expected tool calls that name their tool, got {excerpt(call)}"


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
        return _first_of_turns(response.turns, calls_disagree)
    in_messages = [call.name for call in calls_of_messages(response.messages or [])]
    if not in_messages or response.tool_calls is None or in_messages == [call.name for call in response.tool_calls]:
        return None
    reported = [call.name for call in response.tool_calls]
    message = f"the messages call {excerpt(in_messages)} and toolCalls reports {excerpt(reported)}; the messages count"
    return remark("TOOL_CALLS_DISAGREE", message, "toolCalls")


def named_in_messages(messages: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Every tool that a message calls, as (where, name), of any role and in any notation.

    A call that one message repeats in another notation is one.
    """
    for place, message in enumerate(messages):
        inner = inner_message(message)
        read = _names(raw_calls(inner))
        others = dict.fromkeys(name for name in _names(list(every_call(inner))) if name not in read)
        yield from ((f"messages[{place}]", name) for name in [*read, *others])


def results_in_messages(messages: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Every tool whose result stands in a message under its name, as (where, name): it ran."""
    for place, message in enumerate(messages):
        inner = inner_message(message)
        yield from ((f"messages[{place}]", name) for name in results_named(inner, role_in(inner)))


def calls_of_messages(messages: list[dict[str, Any]]) -> list[ToolCall]:
    """The calls of all assistant messages, in order; calls on other messages do not count, and unreadable ones are left out.

    See `core.messages.tool_calls`.
    """
    in_messages = (inner_message(message) for message in messages)
    raw = (call for message in in_messages if role_in(message) == "assistant" for call in raw_calls(message))
    return [call for call in map(tool_call, raw) if call is not None]


def _names(raw: list[Any]) -> list[str]:
    return [call.name for call in map(tool_call, raw) if call is not None]
