"""A run in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval_skills.core.models import SkillCompletionReport, StatusCounts
from eval_skills.reporting.figures import duration, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """What was run, and how its items ended. `runs` is the number of runs of each task, the largest where they differ."""

    passed: int
    failed: int
    errors: int
    timeouts: int
    skills: int
    tasks: int
    runs: int
    seconds: float


def count_run(reports: Sequence[SkillCompletionReport], seconds: float) -> RunCounts:
    """The counts of these reports' items; `seconds` is how long the run took. A report without counts adds none."""
    counts = [report.summary.counts or StatusCounts() for report in reports]
    return RunCounts(
        passed=sum(each.passed for each in counts),
        failed=sum(each.fail for each in counts),
        errors=sum(each.error for each in counts),
        timeouts=sum(each.timeout for each in counts),
        skills=len({report.skill_key for report in reports}),
        tasks=max((report.summary.tasks or 0 for report in reports), default=0),
        runs=max((report.summary.runs or 0 for report in reports), default=0),
        seconds=seconds,
    )


def summary_line(counts: RunCounts) -> str:
    """``3 skills × 20 tasks × 3 runs: 140 passed, 30 failed, 10 errors in 4.2 s``; timeouts are named where there are any."""
    shape = f"{plural(counts.skills, 'skill')} × {plural(counts.tasks, 'task')} × {plural(counts.runs, 'run')}"
    ends = [f"{counts.passed:,} passed", f"{counts.failed:,} failed", plural(counts.errors, "error")]
    if counts.timeouts:
        ends.append(plural(counts.timeouts, "timeout"))
    return f"{shape}: {', '.join(ends)} in {duration(counts.seconds)}"
