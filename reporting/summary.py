"""A run in short: in one line, and on the page of its CI job (GitHub shows what is appended to ``$GITHUB_STEP_SUMMARY``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval_skills.core.models import SkillCompletionReport, StatusCounts
from eval_skills.core.models.task import OWN_TESTS
from eval_skills.core.text import encodable, plural
from eval_skills.reporting.context import ReportContext, ranked, shown_dimensions
from eval_skills.reporting.escape import shortened
from eval_skills.reporting.judging import skills_table
from eval_skills.reporting.numbers import duration
from eval_skills.reporting.ranking import ranking_notes
from eval_skills.reporting.sections import SKILLS_SHOWN as ALERTS_SHOWN
from eval_skills.reporting.sections import forbidden_tool_alerts


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """What was run, and how its items ended. `runs` is the number of runs of each task, the largest where they differ.

    `tasks` is that of the skill with most tasks, `fewest_tasks` that of the one with fewest, where each has its own; else None.
    """

    passed: int
    failed: int
    errors: int
    timeouts: int
    skills: int
    tasks: int
    runs: int
    seconds: float
    fewest_tasks: int | None = None


def count_run(reports: Sequence[SkillCompletionReport], seconds: float) -> RunCounts:
    """The counts of these reports' items; `seconds` is how long the run took. A report without counts adds none."""
    counts = [report.summary.counts or StatusCounts() for report in reports]
    tasks = [report.summary.tasks or 0 for report in reports] or [0]
    fewest, most = min(tasks), max(tasks)
    own = any(report.benchmark_id == OWN_TESTS for report in reports)
    return RunCounts(
        passed=sum(each.passed for each in counts),
        failed=sum(each.fail for each in counts),
        errors=sum(each.error for each in counts),
        timeouts=sum(each.timeout for each in counts),
        skills=len({report.skill_key for report in reports}),
        tasks=most,
        runs=max((report.summary.runs or 0 for report in reports), default=0),
        seconds=seconds,
        fewest_tasks=fewest if own and fewest < most else None,
    )


def summary_line(counts: RunCounts) -> str:
    """``3 skills × 20 tasks × 3 runs: 140 passed, 30 failed, 10 errors in 4.2 s``; timeouts are named where there are any."""
    fewest = "" if counts.fewest_tasks is None else f"{counts.fewest_tasks:,} to "
    shape = f"{plural(counts.skills, 'skill')} × {fewest}{plural(counts.tasks, 'task')} × {plural(counts.runs, 'run')}"
    ends = [f"{counts.passed:,} passed", f"{counts.failed:,} failed", plural(counts.errors, "error")]
    if counts.timeouts:
        ends.append(plural(counts.timeouts, "timeout"))
    return f"{shape}: {', '.join(ends)} in {duration(counts.seconds)}"


VARIABLE = "GITHUB_STEP_SUMMARY"
MAX_BYTES = 1024 * 1024
"""GitHub shows nothing of a step whose summary is larger."""

SKILLS_SHOWN, FAILURES_SHOWN = 100, 20
_EXCERPT_LENGTH = 200


def append_job_summary(
    reports: Sequence[SkillCompletionReport],
    context: ReportContext,
    *,
    line: str,
    gate_passed: bool | None,
    environ: Mapping[str, str],
) -> str | None:
    """Append the ranking, the gate's verdict and the first failures to the file that `environ` names; nothing without one.

    `line` is the run in one line; `gate_passed` is None where no gate was asked for. The file stays within GitHub's limit of
    1 MiB per step, failures being left out first. Returns a warning where the summary could not be shown in full, which does
    not fail the run.
    """
    if not environ.get(VARIABLE):
        return None
    file = Path(environ[VARIABLE])
    try:
        there = file.stat().st_size if file.exists() else 0
        for shown in (FAILURES_SHOWN, 0):
            content = ("\n" if there else "").encode() + _content(reports, context, line, gate_passed, shown)
            if there + len(content) <= MAX_BYTES:
                with file.open("ab") as stream:
                    stream.write(content)
                return None if shown else f"{VARIABLE}: failures were left out; the file would exceed {MAX_BYTES:,} bytes"
    except OSError as error:
        return f"{VARIABLE} {file}: the job summary cannot be written: {error.strerror}"
    return f"{VARIABLE} {file}: no job summary was added; the file would exceed {MAX_BYTES:,} bytes"


def _content(
    reports: Sequence[SkillCompletionReport], context: ReportContext, line: str, gate_passed: bool | None, failures: int
) -> bytes:
    order = ranked(reports)
    failed = [(report, item) for report in order for item in report.task_results if not item.passed]
    from eval_skills.reporting.markdown import template  # jinja2 is slow to import

    text = template("job-summary.md.jinja").render(
        context=context,
        line=line,
        gate_passed=gate_passed,
        below=[report for report in order if context.completes(report) is False][:SKILLS_SHOWN],
        unknown_calls=[report for report in order if report.summary.forbidden_unknown_items][:SKILLS_SHOWN],
        called_forbidden=[report for report in order if report.summary.forbidden_items][:SKILLS_SHOWN],
        reports=order[:SKILLS_SHOWN],
        ranking=any(report.ranking for report in order),
        notes=[*context.skipped, *context.notes, *ranking_notes(order)],
        more_reports=max(0, len(order) - SKILLS_SHOWN),
        failures=[(report.skill_key, item.name, item) for report, item in failed[:failures]],
        forbidden_tool_alerts=forbidden_tool_alerts(order),
        skills_shown=ALERTS_SHOWN,
        dimensions=shown_dimensions(order),
        judging=skills_table([(shortened(report.skill_key, _EXCERPT_LENGTH), report) for report in order[:SKILLS_SHOWN]]),
        more_failures=max(0, len(failed) - failures),
        excerpt_length=_EXCERPT_LENGTH,
    )
    return encodable(text).encode()
