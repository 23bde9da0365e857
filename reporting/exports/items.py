"""What the formats of other tools have in common: items of one skill, their texts, and errors that are not wrong answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.response import ToolCall
from eval_skills.core.models.result import ERROR_STATUSES, Reason, TurnResult
from eval_skills.reporting.escape import json_text


def was_answered(item: TaskResult) -> bool:
    """Whether there was an answer that was judged. An item that called a forbidden tool and then ended in an error has failed
    without one.
    """
    return item.status not in ERROR_STATUSES and item.error_kind is None


def the_one(reports: Sequence[SkillCompletionReport], tool: str) -> SkillCompletionReport:
    """The report, where the format of `tool` holds one system only.

    Raises:
        UsageError: there are several, or one that holds figures only.
    """
    if len(reports) != 1:
        named = ", ".join(report.skill_key for report in reports[:5])
        raise UsageError(f"{tool} holds the answers of one skill, and there are {len(reports)}: {named}; choose one with --skill")
    with_items(reports, tool)
    return reports[0]


def with_items(reports: Sequence[SkillCompletionReport], tool: str) -> None:
    """Refuse reports without a single item, of which the format of `tool` could only say that nothing was asked.

    Raises:
        UsageError: none of them holds an item.
    """
    if not any(report.task_results for report in reports):
        raise UsageError(f"{tool} is about single answers, and this report holds figures only; name a run of the store")


def text(value: Any) -> str:
    """An input or an answer as text: text as it is, nothing as empty text, else JSON."""
    return "" if value is None else value if isinstance(value, str) else json_text(value)


def wanted(item: TaskResult) -> Any:
    """What was expected: the value that the answer is compared with, where it is one."""
    expected = item.expected
    return expected["value"] if isinstance(expected, dict) and "value" in expected else expected


def why(item: TaskResult) -> str:
    """Why the item was judged so: its reasons, and the error that ended it."""
    said = [reason.text for reason in item.reasons if _counts(reason, item)]
    return "; ".join([*said, *([f"{item.error_kind or item.status}: {item.error_message}"] if item.error_message else [])])


def _counts(reason: Reason, item: TaskResult) -> bool:
    return not reason.informational and reason.message != item.error_message


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the skill was told, the calls it made then, and what it answered, where it did (`answered`)."""

    prompt: Any
    calls: Sequence[ToolCall]
    answer: Any
    answered: bool


def exchanges(item: TaskResult) -> list[Exchange]:
    """The turns of a conversation, as far as it came; any other item is one exchange.

    Calls that are known of the whole alone, and of no turn, are in the last exchange.
    """
    if not item.turns:
        return [Exchange(item.input, item.tool_calls or (), item.output, was_answered(item))]
    found = [Exchange(turn.input, turn.tool_calls or (), turn.output, _answered(turn)) for turn in item.turns]
    if item.tool_calls and not any(each.calls for each in found):
        found[-1] = replace(found[-1], calls=item.tool_calls)
    return found


def _answered(turn: TurnResult) -> bool:
    """Whether it was; the turn that a conversation ended in as an error was not."""
    return turn.error_kind is None or turn.status is not None


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """What the tool was given, as an object: empty where there is nothing; anything but an object stands under `arguments`."""
    if call.arguments is None:
        return {}
    return call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}


def ended(item: TaskResult) -> datetime | None:
    """When the attempt ended that the item's latency is of; None where its beginning or its latency is not known."""
    if item.started_at is None or item.latency_ms is None:
        return None
    return item.started_at + timedelta(milliseconds=item.latency_ms)
