"""Forbidden tools that were called: what every report says first and loudest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.tool_names import FORBIDDEN_TOOL_CALLED
from eval_skills.reporting.figures import plural

CALLS_SHOWN, SKILLS_SHOWN = 5, 20


@dataclass(frozen=True, slots=True)
class ForbiddenCall:
    """One forbidden tool that an item called: which item (runs count from 0), and what was said of the call."""

    task_id: str
    run_index: int
    message: str


@dataclass(frozen=True, slots=True)
class Alarm:
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
        told = "; ".join(f"{call.task_id}#{call.run_index + 1}: {call.message}" for call in self.calls)
        more = f"; and {self.more:,} more" if self.more else ""
        return f"{self.title}{': ' if told else ''}{told}{more}".replace("\n", " ")


def alarms(reports: Sequence[SkillCompletionReport], names: Sequence[str] | None = None) -> list[Alarm]:
    """An alarm for each of the reports whose skill called a forbidden tool, in their order; `names` stand for the skills."""
    named = zip(names or [report.skill_key for report in reports], reports, strict=True)
    found = [_alarm(name, report) for name, report in named]
    return [alarm for alarm in found if alarm.items]


def forbidden_calls(item: TaskResult) -> list[ForbiddenCall]:
    """What was said of every forbidden tool that the item called, in the order first called."""
    said = [reason.message for reason in item.reasons if reason.code == FORBIDDEN_TOOL_CALLED]
    return [ForbiddenCall(item.task_id, item.run_index, message) for message in said]


def _alarm(name: str, report: SkillCompletionReport) -> Alarm:
    by_item = [calls for item in report.task_results if (calls := forbidden_calls(item))]
    calls = [call for each in by_item for call in each]
    items = len(by_item) or report.summary.forbidden_items or 0
    return Alarm(name, items, calls[:CALLS_SHOWN], max(0, len(calls) - CALLS_SHOWN))
