"""The report as Markdown: ranking first, then every skill with its failures and the reasons for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting.alarms import SKILLS_SHOWN, alarms
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.dimension_figures import shown_dimensions
from eval_skills.reporting.judging_table import skills_table
from eval_skills.reporting.markdown_template import template
from eval_skills.reporting.ranking import ranked
from eval_skills.reporting.sections import (
    ErrorKindCount,
    FlakyTask,
    TaskFailures,
    errors_by_kind,
    failures_by_task,
    flaky_tasks,
)

FAILURES_SHOWN = 20
EXCERPT_LENGTH = 300


@dataclass(frozen=True, slots=True)
class SkillSection:
    """One skill as the template shows it; `gate` and `selected` are None where the run had no gate or did not select it."""

    rank: int
    report: SkillCompletionReport
    gate: bool | None
    selected: int | None
    failures: list[TaskFailures]
    more_failures: int
    errors: list[ErrorKindCount]
    flaky: list[FlakyTask]


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """The whole report as text. Names, answers and messages are shown as literal text, whatever marks they hold."""
    sections = [_section(rank, report, context) for rank, report in enumerate(ranked(reports), start=1)]
    return template("report.md.jinja").render(
        context=context,
        sections=sections,
        alarms=alarms([section.report for section in sections]),
        skills_shown=SKILLS_SHOWN,
        first_token=any(report.latency.time_to_first_token_p50_ms is not None for report in reports),
        dimensions=shown_dimensions(reports),
        judging=skills_table([(section.report.skill_key, section.report) for section in sections]),
        methods=_methods(reports),
        failures_shown=FAILURES_SHOWN,
        excerpt_length=EXCERPT_LENGTH,
    )


def _section(rank: int, report: SkillCompletionReport, context: ReportContext) -> SkillSection:
    failures, more = failures_by_task(report, FAILURES_SHOWN)
    gate, selected = context.meets_gate(report), context.selected_rank(report)
    return SkillSection(rank, report, gate, selected, failures, more, errors_by_kind(report), flaky_tasks(report))


def _methods(reports: Sequence[SkillCompletionReport]) -> list[str]:
    intervals = [report.summary.confidence_interval for report in ranked(reports)]
    return list(dict.fromkeys(f"{each.level * 100:g} %, {each.method or 'method not recorded'}" for each in intervals))
