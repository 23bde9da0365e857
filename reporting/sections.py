"""What a report shows of a skill beside its figures: forbidden tools it called, failures by task, errors by kind, flaky tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.report import is_missing
from eval_skills.core.models.response import ToolCall
from eval_skills.core.models.result import ERROR_STATUSES, FORBIDDEN_TOOL_CALLED, Reason, TurnResult
from eval_skills.core.text import plural
from eval_skills.reporting.escape import shortened

CALLS_OF_ITEM, CALL_LENGTH = 10, 80
CALLS_OF_ALERT, SKILLS_SHOWN = 5, 20
TURNS_OF_ITEM, TURN_LENGTH = 20, 120


@dataclass(frozen=True, slots=True)
class TaskFailures:
    """The items of one task that did not pass, in the order of the report."""

    task_id: str
    items: list[TaskResult]


@dataclass(frozen=True, slots=True)
class ErrorKindCount:
    """How many items one kind of error stopped, the first message of it, and how many different ones there are."""

    kind: str
    items: int
    message: str | None
    messages: int


@dataclass(frozen=True, slots=True)
class FlakyTask:
    """A task that passed in some of its runs and not in others."""

    task_id: str
    passed: int
    runs: int


def failures_by_task(report: SkillCompletionReport, limit: int) -> tuple[list[TaskFailures], int]:
    """The first `limit` items that did not pass, grouped by task in order of appearance, and how many more there are."""
    failed = [item for item in report.task_results if not item.passed]
    groups: dict[str, list[TaskResult]] = {}
    for item in failed[:limit]:
        groups.setdefault(item.task_id, []).append(item)
    return [TaskFailures(task_id, items) for task_id, items in groups.items()], max(0, len(failed) - limit)


def errors_by_kind(report: SkillCompletionReport) -> list[ErrorKindCount]:
    """The items with status `error` or `timeout` by kind, most frequent first; a kind that is not known is the status."""
    kinds: dict[str, list[TaskResult]] = {}
    for item in report.task_results:
        if item.status in ERROR_STATUSES:
            kinds.setdefault(item.error_kind or item.status, []).append(item)
    counts = [
        ErrorKindCount(kind, len(items), _first_message(items), len({item.error_message for item in items}))
        for kind, items in kinds.items()
    ]
    return sorted(counts, key=lambda count: (-count.items, count.kind))


def reasons(item: TaskResult) -> list[str]:
    """Why the item was judged as it was: its reasons in their stored order, then the error where no reason tells it."""
    said = [reason_text(reason) for reason in item.reasons]
    if item.error_message and not any(item.error_message in sentence for sentence in said):
        said.append(f"{item.error_kind or item.status}: {item.error_message}")
    return said or [item.error_kind or "no reason was recorded"]


def turn_reasons(turn: TurnResult) -> list[str]:
    """Why a turn was judged as it was, or what it ended in."""
    said = [reason_text(reason) for reason in turn.reasons]
    return said or ([f"{turn.error_kind}: {turn.error_message}"] if turn.error_message else [])


def turn_lines(item: TaskResult) -> list[str]:
    """The first turns of an item that is a conversation, one on each line: ``turn 2 fail: "and its river?" → "the Rhine"``."""
    turns = item.turns or []
    shown = [_turn_line(turn) for turn in turns[:TURNS_OF_ITEM]]
    return [*shown, f"and {len(turns) - len(shown):,} more"] if len(turns) > len(shown) else shown


def _turn_line(turn: TurnResult) -> str:
    answer = "no answer" if turn.error_message and turn.output is None else shortened(turn.output, TURN_LENGTH)
    why = "".join(f"; {shortened(reason, TURN_LENGTH)}" for reason in turn_reasons(turn)[:1] if turn.status != "pass")
    return f"turn {turn.turn} {turn.status or 'not judged'}: {shortened(turn.input, TURN_LENGTH)} → {answer}{why}"


def reason_text(reason: Reason) -> str:
    """A reason as a sentence: ``NOT_EQUAL: 4 is not 5 (at $.sum)``."""
    return f"{reason.code}: {reason.text}" + (f" (at {reason.where})" if reason.where else "")


def calls_line(item: TaskResult) -> str | None:
    """The first tool calls of an item, by the index that reasons name them with: ``[0] search {"q": "Bern"}; [1] book``."""
    if not item.tool_calls:
        return None
    shown = [_call(index, call) for index, call in enumerate(item.tool_calls[:CALLS_OF_ITEM])]
    more = len(item.tool_calls) - len(shown)
    return "; ".join([*shown, f"and {more:,} more"] if more else shown)


def _call(index: int, call: ToolCall) -> str:
    given = "" if call.arguments is None else f" {shortened(call.arguments, CALL_LENGTH)}"
    failed = f" failed: {shortened(call.error, CALL_LENGTH)}" if call.error else ""
    return f"[{index}] {shortened(call.name, CALL_LENGTH)}{given}{failed}"


def flaky_tasks(report: SkillCompletionReport) -> list[FlakyTask]:
    """The tasks with mixed outcomes over their runs with a verdict, in order of appearance."""
    runs: dict[str, list[bool]] = {}
    for item in report.task_results:
        if not is_missing(item):
            runs.setdefault(item.task_id, []).append(item.passed)
    return [FlakyTask(task_id, sum(passed), len(passed)) for task_id, passed in runs.items() if 0 < sum(passed) < len(passed)]


def _first_message(items: list[TaskResult]) -> str | None:
    said = (item.error_message or next((reason.message for reason in item.reasons), None) for item in items)
    return next((message for message in said if message), None)


@dataclass(frozen=True, slots=True)
class ForbiddenCall:
    """One forbidden tool that an item called: which item (runs count from 0), and what was said of the call."""

    task_id: str
    run_index: int
    message: str


@dataclass(frozen=True, slots=True)
class ForbiddenToolAlert:
    """A skill that called forbidden tools in `items` items; the first `calls`, and how many `more` there are.

    A report that holds figures only has no calls to show.
    """

    skill: str
    items: int
    calls: list[ForbiddenCall]
    more: int

    @property
    def title(self) -> str:
        """``rogue@1.0.0 called forbidden tools in 2 items``."""
        return f"{self.skill} called forbidden tools in {plural(self.items, 'item')}"

    @property
    def line(self) -> str:
        """The title and the calls that are shown, on one line; runs count from 1 there."""
        calls = "; ".join(f"{call.task_id}#{call.run_index + 1}: {call.message}" for call in self.calls)
        more = f"; and {self.more:,} more" if self.more else ""
        return f"{self.title}{': ' if calls else ''}{calls}{more}".replace("\n", " ")


def forbidden_tool_alerts(
    reports: Sequence[SkillCompletionReport], names: Sequence[str] | None = None
) -> list[ForbiddenToolAlert]:
    """An alert for each of the reports whose skill called a forbidden tool, in their order; `names` stand for the skills."""
    named = zip(names or [report.skill_key for report in reports], reports, strict=True)
    found = [_alert(name, report) for name, report in named]
    return [alert for alert in found if alert.items]


def forbidden_calls(item: TaskResult) -> list[ForbiddenCall]:
    """What was said of every forbidden tool that the item called, in the order first called."""
    said = [reason.message for reason in item.reasons if reason.code == FORBIDDEN_TOOL_CALLED]
    return [ForbiddenCall(item.task_id, item.run_index, message) for message in said]


def _alert(name: str, report: SkillCompletionReport) -> ForbiddenToolAlert:
    by_item = [calls for item in report.task_results if (calls := forbidden_calls(item))]
    calls = [call for each in by_item for call in each]
    items = len(by_item) or report.summary.forbidden_items or 0
    return ForbiddenToolAlert(name, items, calls[:CALLS_OF_ALERT], max(0, len(calls) - CALLS_OF_ALERT))
