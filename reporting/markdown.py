"""The report as Markdown: ranking first, then every skill with its failures and their reasons.

Whatever a Markdown template prints is escaped to literal text, unless it is marked as trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.text import plural
from eval_skills.reporting import numbers
from eval_skills.reporting.context import (
    ReportContext,
    benchmarks_of,
    dimension_title,
    k_of,
    mean_of,
    models_failed,
    ranked,
    shown_dimensions,
)
from eval_skills.reporting.costs import cost_text, earlier_figures, tokens_text
from eval_skills.reporting.escape import markdown, shortened
from eval_skills.reporting.judging import (
    corrected_rate,
    judges_table,
    judging_figures,
    judging_notes,
    judging_of,
    skills_table,
)
from eval_skills.reporting.ranking import completion_text, rank_interval, rank_text, ranking_notes
from eval_skills.reporting.sections import (
    SKILLS_SHOWN,
    ErrorKindCount,
    FlakyTask,
    TaskFailures,
    calls_line,
    errors_by_kind,
    failures_by_task,
    flaky_tasks,
    forbidden_tool_alerts,
    reasons,
    turn_lines,
)

FAILURES_SHOWN = 20
EXCERPT_LENGTH = 300


@dataclass(frozen=True, slots=True)
class SkillSection:
    """One skill as the template shows it; `gate` and `selected` are None where the run had no gate or did not select it."""

    rank: str
    report: SkillCompletionReport
    gate: bool | None
    selected: int | None
    failures: list[TaskFailures]
    more_failures: int
    errors: list[ErrorKindCount]
    flaky: list[FlakyTask]


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """The whole report as text. Names, answers and messages are shown as literal text, whatever markup they hold."""
    sections = [_section(place, report, context) for place, report in enumerate(ranked(reports), start=1)]
    return template("report.md.jinja").render(
        context=context,
        sections=sections,
        forbidden_tool_alerts=forbidden_tool_alerts([section.report for section in sections]),
        without_models=[section.report.skill_key for section in sections if models_failed(section.report)],
        skills_shown=SKILLS_SHOWN,
        benchmarks=benchmarks_of([section.report for section in sections]),
        first_token=any(report.latency.time_to_first_token_p50_ms is not None for report in reports),
        dimensions=shown_dimensions(reports),
        ranking=any(report.ranking for report in reports),
        notes=[*context.skipped, *context.notes, *ranking_notes([section.report for section in sections])],
        judging=skills_table([(section.report.skill_key, section.report) for section in sections]),
        methods=numbers.methods(section.report.summary.confidence_interval for section in sections),
        failures_shown=FAILURES_SHOWN,
        excerpt_length=EXCERPT_LENGTH,
    )


def _section(place: int, report: SkillCompletionReport, context: ReportContext) -> SkillSection:
    failures, more = failures_by_task(report, FAILURES_SHOWN)
    gate, selected = context.meets_gate(report), context.selected_rank(report)
    return SkillSection(
        rank_text(report, place), report, gate, selected, failures, more, errors_by_kind(report), flaky_tasks(report)
    )


def template(name: str) -> Template:
    """The template of that file name in ``templates/``."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    # autoescape makes what macros and filters return count as escaped already; `finalize` is what escapes, for Markdown.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=markdown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {function.__name__: _trusted(function) for function in numbers.FIGURES}
    environment.filters |= {"plural": plural, "times": lambda values: numbers.times(*values)}
    plain = (
        completion_text,
        numbers.rate_beside,
        rank_interval,
        rank_text,
        shortened,
        reasons,
        calls_line,
        turn_lines,
        dimension_title,
        mean_of,
        judging_of,
        judging_figures,
        judging_notes,
        judges_table,
        earlier_figures,
        k_of,
    )
    environment.filters |= {function.__name__: function for function in plain}
    environment.filters |= {"trusted": _trusted(str), "corrected_rate": _trusted(corrected_rate)}
    environment.filters |= {"cost_text": _trusted(cost_text), "tokens_text": _trusted(tokens_text)}
    return environment


def _trusted(figure: Callable[[Any], str]) -> Callable[[Any], Markup]:
    """The figure as Markdown that is not escaped: a dollar sign stays as it is."""
    return lambda value: Markup(figure(value))  # noqa: S704 - digits and units only
