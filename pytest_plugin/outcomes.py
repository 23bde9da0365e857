"""How a skill did, as a test sees it: on one task, on all of them together, and as the report that it asserts on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from eval_skills.core.errors import UsageError
from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.result import FORBIDDEN_TOOL_CALLED, TOOL_CALLS_UNKNOWN
from eval_skills.core.text import plural
from eval_skills.reporting import numbers
from eval_skills.reporting.lines import explained, explanation, headline

OF_THE_GATE = "expected.forbiddenTools"
"""Where reasons lie that are about the gate of forbidden tools."""


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """How the skill did on one task: the results of its runs, and the whole report that they are from."""

    task_id: str
    results: list[TaskResult]
    report: SkillReport

    @property
    def passed(self) -> bool:
        """Whether the task passed in every run, and none of them, in an earlier attempt, may have called a forbidden tool. False
        also where it has no result: of that nothing is known.
        """
        return bool(self.results) and all(result.passed for result in self.results) and not self.may_have_called_one

    @property
    def explanation(self) -> str:
        """How many runs passed, and the reasons why the others did not."""
        passed = sum(result.passed for result in self.results)
        counts = f"{passed} of {plural(len(self.results), 'run')} passed"
        telling = [result for result in self.results if not result.passed or _is_unknown(result)]
        return "\n".join([f"{self.report.skill_key}, task {self.task_id}: {counts}", *explained(telling)])

    @property
    def called_a_forbidden_tool(self) -> bool:
        """Whether any run called a tool it must not call."""
        return FORBIDDEN_TOOL_CALLED in _failures_of(self.results)

    @property
    def may_have_called_one(self) -> bool:
        """Whether it is not known of every run that it called no tool it must not call."""
        unknown = self.report.summary.forbidden_unknown_items and any(map(_is_unknown, self.results))
        return self.called_a_forbidden_tool or bool(unknown)

    @property
    def is_open(self) -> bool:
        """Whether a run has no verdict because a model failed, the one that judges or the one that plays the user."""
        return any(map(_is_open, self.results))


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfAllTasks:
    """What a `TaskOutcome` says, of all tasks together; `task_id` is None."""

    report: SkillReport
    task_id: None = None

    @property
    def results(self) -> list[TaskResult]:
        """The results of all tasks, in the benchmark's order."""
        return self.report.task_results

    @property
    def called_a_forbidden_tool(self) -> bool:
        """Whether any run of any task called a tool it must not call."""
        return bool(self.report.summary.forbidden_items) or FORBIDDEN_TOOL_CALLED in _failures_of(self.results)

    @property
    def may_have_called_one(self) -> bool:
        """Whether it is not known of every run that it called no tool it must not call."""
        return self.called_a_forbidden_tool or bool(self.report.summary.forbidden_unknown_items)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionOutcome(_OfAllTasks):
    """How the skill did on all tasks together, by its completion rate."""

    min_completion: float

    @property
    def completion_rate(self) -> float:
        """The share of the items that passed, in [0, 1]."""
        return self.report.summary.completion_rate

    @property
    def passed(self) -> bool:
        """Whether it `is_enough`, no run is known or may be feared to have called a forbidden tool, and no model failed that was
        to judge one or to play its user: the cases of the tasks, which say so too, may have been left out.
        """
        return self.is_enough and not self.may_have_called_one and not self._open

    @property
    def is_enough(self) -> bool:
        """Whether the completion rate is what is asked for, or more. False also where no item has a verdict on the skill: of
        that nothing is known, whatever is asked for.
        """
        return self.completion_rate >= self.min_completion and self.report.summary.has_verdict

    @property
    def explanation(self) -> str:
        """What is asked for, the completion, and the reasons of the first failures."""
        asked = f"{numbers.rate(self.min_completion)} completion is asked for"
        nothing = [f"{self.report.skill_key} has no item with a verdict"] if not self.report.summary.has_verdict else []
        feared = [result for result in self.results if result.passed and _is_unknown(result)]
        return "\n".join([asked, *nothing, *self._about_calls(), *self._open, self.report.explanation, *explained(feared)])

    @property
    def _open(self) -> list[str]:
        """How many items have no verdict because a model failed, a line for each kind; a report that lists no items knows of the
        judge's alone.
        """
        kinds = Counter(result.error_kind for result in self.results)
        unjudged, unsimulated = self.report.summary.unjudged_items or kinds["judge"], kinds["simulator"]
        judge, user = (
            f"{plural(unjudged, 'item')} could not be judged",
            f"the simulated user failed in {plural(unsimulated, 'item')}",
        )
        return [line for line, count in ((judge, unjudged), (user, unsimulated)) if count]

    def _about_calls(self) -> list[str]:
        summary = self.report.summary
        called, unknown = summary.forbidden_items or 0, summary.forbidden_unknown_items or 0
        known = f"forbidden tools were called in {plural(called, 'item')}"
        feared = f"whether a forbidden tool was called is unknown in {plural(unknown, 'item')}"
        return [line for line, count in ((known, called), (feared, unknown)) if count]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineOutcome(_OfAllTasks):
    """How all tasks compare with those of an earlier evaluation; `problems` say why it does not pass, a sentence each.

    `not_compared` says how many tasks the comparison is not about, because they changed, left, are judged otherwise or are new;
    empty where it is about all.
    """

    baseline: str
    problems: list[str]
    not_compared: str

    @property
    def passed(self) -> bool:
        """Whether the skill is not worse; where a margin was asked for, whether that is proven."""
        return not self.problems

    @property
    def explanation(self) -> str:
        """What the comparison found, and how the skill did."""
        said = [*self.problems, *filter(None, [self.not_compared])]
        return "\n".join([f"compared with {self.baseline}", *said, self.report.headline])


def _is_unknown(result: TaskResult) -> bool:
    """Whether what the run called decides and is unknown: of its answer, or of an attempt before that, which is a remark."""
    reasons = (reason for reason in result.reasons if reason.code == TOOL_CALLS_UNKNOWN)
    return any(not reason.informational or reason.where.endswith(OF_THE_GATE) for reason in reasons)


def _is_open(result: TaskResult) -> bool:
    return result.error_kind in ("judge", "simulator")


def _failures_of(results: Iterable[TaskResult]) -> set[str]:
    """The codes of the reasons why runs failed."""
    return {reason.code for result in results for reason in result.reasons if not reason.informational}


class SkillReport(SkillCompletionReport):
    """The report of one skill on one benchmark, as in the JSON report, with what a failed assertion wants to say."""

    @property
    def failures(self) -> list[TaskResult]:
        """The items that did not pass, in the benchmark's order.

        Raises:
            UsageError: there are more items than reports list one by one.
        """
        if self.summary.items and not self.task_results:
            raise UsageError(f"the report of {self.summary.items:,} items holds their figures only; ask fewer tasks or runs")
        return [item for item in self.task_results if not item.passed]

    @property
    def explanation(self) -> str:
        """The completion, and the reasons of the first failures, a line each."""
        return explanation(self)

    @property
    def headline(self) -> str:
        """``echo@1.0.0 on words: completion 50.0 % (2 of 4 items), 1 failed, 1 error``."""
        return headline(self)

    def __repr__(self) -> str:
        return f"<{self.headline}>"

    __str__ = __repr__
