"""The report as one HTML file that opens without a network: ranking, then each skill's items to sort, filter and search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting.alarms import SKILLS_SHOWN, alarms
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.dimension_figures import shown_dimensions
from eval_skills.reporting.escape import script_json
from eval_skills.reporting.html_assets import assets
from eval_skills.reporting.html_payload import payload, skill_names
from eval_skills.reporting.html_template import html_template
from eval_skills.reporting.judging_table import skills_table
from eval_skills.reporting.ranking import ranked


@dataclass(frozen=True, slots=True)
class RankedSkill:
    """A row of the ranking; `gate` and `selected` are None where the run had no gate or did not select the skill."""

    rank: int
    name: str
    report: SkillCompletionReport
    gate: bool | None
    selected: int | None


def render(reports: Sequence[SkillCompletionReport], context: ReportContext) -> str:
    """The whole page as text: it loads nothing, sends nothing, and shows every name, answer and message as plain text.

    Of a long text about 2,000 characters are shown, or fewer where a report holds very many of them; the page says how much is
    missing, and the JSON report has all of it.
    """
    best_first = ranked(reports)
    return html_template("report.html.jinja").render(
        context=context,
        rows=_rows(best_first, context),
        benchmarks=list(dict.fromkeys(report.benchmark_id for report in best_first)),
        methods=_methods(best_first),
        alarms=alarms(best_first, skill_names(best_first)),
        skills_shown=SKILLS_SHOWN,
        dimensions=shown_dimensions(best_first),
        judging=skills_table(list(zip(skill_names(best_first), best_first, strict=True))),
        first_token=any(report.latency.time_to_first_token_p50_ms is not None for report in best_first),
        data=script_json(payload(best_first, context)),
        assets=assets(),
    )


def _rows(reports: Sequence[SkillCompletionReport], context: ReportContext) -> list[RankedSkill]:
    return [
        RankedSkill(rank, name, report, context.meets_gate(report), context.selected_rank(report))
        for rank, (name, report) in enumerate(zip(skill_names(reports), reports, strict=True), start=1)
    ]


def _methods(reports: Sequence[SkillCompletionReport]) -> list[str]:
    intervals = [report.summary.confidence_interval for report in reports]
    return list(dict.fromkeys(f"{each.level * 100:g} %, {each.method or 'method not recorded'}" for each in intervals))
