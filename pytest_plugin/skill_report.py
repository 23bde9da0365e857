"""The report that a test asserts on."""

from __future__ import annotations

from collections.abc import Iterable

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.reporting import figures
from eval_skills.reporting.escape import excerpt, visible
from eval_skills.reporting.sections import reasons

FAILURES_EXPLAINED = 20
EXCERPT_LENGTH = 1_000


class SkillReport(SkillCompletionReport):
    """The report of one skill on one benchmark, as in the JSON report, with what a failed assertion wants to say."""

    @property
    def failures(self) -> list[TaskResult]:
        """The items that did not pass, in the benchmark's order."""
        return [item for item in self.task_results if not item.passed]

    @property
    def explanation(self) -> str:
        """The completion, and the reasons of the first failures, a line each."""
        failures = self.failures
        lines = [self.headline, *explained(failures[:FAILURES_EXPLAINED])]
        if len(failures) > FAILURES_EXPLAINED:
            lines.append(f"… and {len(failures) - FAILURES_EXPLAINED:,} more")
        return "\n".join(lines)

    @property
    def headline(self) -> str:
        """``echo@1.0.0 on words: completion 50.0 % (2 of 4 items), 1 failed, 1 error``."""
        return f"{self.skill_key} on {self.benchmark_id}: completion {figures.rate(self.summary.completion_rate)} {self._counted}"

    @property
    def _counted(self) -> str:
        counts = {status: sum(item.status == status for item in self.task_results) for status in ("pass", "fail")}
        errors = len(self.task_results) - sum(counts.values())
        ends = [f"({counts['pass']:,} of {figures.plural(len(self.task_results), 'item')})"]
        return ", ".join([*ends, f"{counts['fail']:,} failed", figures.plural(errors, "error")])

    def __repr__(self) -> str:
        return f"<{self.headline}>"

    __str__ = __repr__


def explained(items: Iterable[TaskResult]) -> list[str]:
    """Each item with how it ended, and below it its reasons; no character of them steers a terminal."""
    return [visible(line) for item in items for line in _lines(item)]


def _lines(item: TaskResult) -> list[str]:
    kind = f" ({item.error_kind})" if item.error_kind else ""
    ended = {"fail": "failed", "pass": "passed"}.get(item.status, f"{item.status}{kind}")
    return [f"  {item.task_id}#{item.run_index + 1} {ended}", *(f"    {excerpt(each, EXCERPT_LENGTH)}" for each in reasons(item))]
