"""A report as a few lines of text: how much was completed, and why the rest was not."""

from __future__ import annotations

from collections.abc import Iterable

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.models.report import StatusCounts
from eval_skills.core.text import plural
from eval_skills.reporting import numbers
from eval_skills.reporting.escape import shortened, visible
from eval_skills.reporting.sections import reasons

FAILURES_EXPLAINED = 20
EXCERPT_LENGTH = 1_000


def explanation(report: SkillCompletionReport, limit: int = FAILURES_EXPLAINED) -> str:
    """The headline, and the reasons of the first `limit` items that did not pass, a line each."""
    failures = [item for item in report.task_results if not item.passed]
    lines = [headline(report), *explained(failures[:limit])]
    if len(failures) > limit:
        lines.append(f"… and {len(failures) - limit:,} more")
    return "\n".join(lines)


def headline(report: SkillCompletionReport) -> str:
    """``echo@1.0.0 on words: completion 50.0 % (2 of 4 items), 1 failed, 1 error``."""
    counts = report.summary.counts or StatusCounts()
    items = report.summary.items or 0
    errors = plural(counts.error + counts.timeout, "error")
    counted = f"({counts.passed:,} of {plural(items, 'item')}), {counts.fail:,} failed, {errors}"
    return f"{report.skill_key} on {report.benchmark_id}: completion {numbers.rate(report.summary.known_completion)} {counted}"


def unknown_calls(report: SkillCompletionReport) -> str:
    """In how many items it is unknown whether the skill called a forbidden tool."""
    unknown = plural(report.summary.forbidden_unknown_items or 0, "item")
    return f"whether {report.skill_key} called a forbidden tool is unknown in {unknown}"


def explained(items: Iterable[TaskResult]) -> list[str]:
    """Each item with how it ended, and below it its reasons; no character of them steers a terminal."""
    return [visible(line) for item in items for line in _lines(item)]


def _lines(item: TaskResult) -> list[str]:
    kind = f" ({item.error_kind})" if item.error_kind not in (None, item.status) else ""
    ended = {"fail": "failed", "pass": "passed"}.get(item.status, f"{item.status}{kind}")
    return [f"  {item.name} {ended}", *(f"    {shortened(each, EXCERPT_LENGTH)}" for each in reasons(item))]
