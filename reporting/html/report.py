"""The report as one HTML file that opens without a network: ranking, then each skill's items to sort, filter and search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting import numbers
from eval_skills.reporting.context import (
    ReportContext,
    benchmarks_of,
    dimension_title,
    mean_of,
    models_failed,
    ranked,
    shown_dimensions,
)
from eval_skills.reporting.costs import cost_text
from eval_skills.reporting.escape import script_json
from eval_skills.reporting.html.across import totals
from eval_skills.reporting.html.navigation import Navigation
from eval_skills.reporting.html.pages import Assets, html_template, page_assets
from eval_skills.reporting.html.payload import payload, skill_names
from eval_skills.reporting.judging import judging_of, skills_table
from eval_skills.reporting.ranking import completion_text, rank_interval, rank_text, ranking_notes
from eval_skills.reporting.sections import SKILLS_SHOWN, forbidden_tool_alerts

SCRIPTS = (
    "elements", "printing", "paging", "theme", "sorting", "arrows", "place", "matrix", "groups", "scatter", "latency", "filters",
    "grid", "failures", "calls", "turns", "differences", "task", "skill", "paper", "page",
)  # fmt: skip
_FILTERS = (dimension_title, mean_of, completion_text, rank_interval, cost_text)


@dataclass(frozen=True, slots=True)
class RankedSkill:
    """A row of the ranking; `gate` and `selected` are None where the run had no gate or did not select the skill."""

    rank: str
    name: str
    report: SkillCompletionReport
    gate: bool | None
    selected: int | None


def render(reports: Sequence[SkillCompletionReport], context: ReportContext, *, navigation: Navigation | None = None) -> str:
    """The whole page as text: it loads nothing, sends nothing, and shows every name, answer and message as plain text.

    Of a long text about 2,000 characters are shown, or fewer where a report holds very many of them; the page says how much is
    missing, and the JSON report has all of it. `navigation` is the bar of the viewer, where the page belongs to one.
    """
    best_first = ranked(reports)
    return html_template("report.html.jinja", *_FILTERS).render(
        context=context,
        nav=navigation,
        rows=_rows(best_first, context),
        known_benchmarks=benchmarks_of(best_first),
        benchmarks=list(dict.fromkeys(report.benchmark_id for report in best_first)),
        methods=numbers.methods(report.summary.confidence_interval for report in best_first),
        totals=totals(best_first),
        without_models=[name for name, report in zip(skill_names(best_first), best_first, strict=True) if models_failed(report)],
        command=_command(context, navigation),
        models=_models(best_first),
        forbidden_tool_alerts=forbidden_tool_alerts(best_first, skill_names(best_first)),
        skills_shown=SKILLS_SHOWN,
        dimensions=shown_dimensions(best_first),
        ranking=any(report.ranking for report in best_first),
        notes=[*context.skipped, *context.notes, *ranking_notes(best_first)],
        judging=skills_table(list(zip(skill_names(best_first), best_first, strict=True))),
        first_token=any(report.latency.time_to_first_token_p50_ms is not None for report in best_first),
        data=script_json(payload(best_first, context, task_page=navigation.task_page if navigation else None)),
        assets=page_assets((*SCRIPTS[:-1], "csv", "exports", "live", SCRIPTS[-1]), is_live=navigation.is_live)
        if navigation
        else assets(),
    )


def _rows(reports: Sequence[SkillCompletionReport], context: ReportContext) -> list[RankedSkill]:
    return [
        RankedSkill(rank_text(report, place), name, report, context.meets_gate(report), context.selected_rank(report))
        for place, (name, report) in enumerate(zip(skill_names(reports), reports, strict=True), start=1)
    ]


def _command(context: ReportContext, navigation: Navigation | None) -> str | None:
    """What repeats the run; not in an export of the viewer, since it names folders of this machine."""
    is_export = navigation is not None and not navigation.is_live
    return None if is_export or context.provenance is None else context.provenance.command


def _models(reports: Sequence[SkillCompletionReport]) -> list[str]:
    """The models that judged, each with its prompt."""
    judging = [found for report in reports if (found := judging_of(report)) is not None]
    return list(dict.fromkeys(f"{judge.model} ({judge.prompt})" for each in judging for judge in each.judges))


def assets() -> Assets:
    """Those of the report."""
    return page_assets(SCRIPTS)
