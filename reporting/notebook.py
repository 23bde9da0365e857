"""Results and comparisons as tables for a notebook: fragments of HTML with no script, no style sheet and nothing to load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval_skills.core.diff.model import ReportDiff
from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.core.skill_effect.model import SkillEffect
from eval_skills.reporting import numbers
from eval_skills.reporting.context import ranked
from eval_skills.reporting.diff.figures import lineage, shown_row, verdict_text
from eval_skills.reporting.escape import shortened, visible_line
from eval_skills.reporting.html.pages import html_template
from eval_skills.reporting.ranking import completion_text, rank_text, ranking_notes
from eval_skills.reporting.sections import reasons
from eval_skills.reporting.skill_effect import figures

FAILURES_SHOWN, SKILLS_SHOWN, TEXT_SHOWN = 10, 100, 300


@dataclass(frozen=True, slots=True)
class FailedItem:
    """A row of the failures, as text."""

    skill: str
    item: str
    status: str
    output: str
    reasons: list[str]


def result_table(reports: Sequence[SkillCompletionReport], remarks: Sequence[str] = ()) -> str:
    """The skills, best first, and the first items that did not pass; every text from outside stays text."""
    best_first = ranked(reports)
    failed = [(report.skill_key, item) for report in best_first for item in report.task_results if not item.passed]
    return html_template("notebook-result.html.jinja").render(
        reports=best_first[:SKILLS_SHOWN],
        more_skills=max(0, len(best_first) - SKILLS_SHOWN),
        benchmark=", ".join(dict.fromkeys(report.benchmark_id for report in best_first)),
        failures=[_failed(skill, item) for skill, item in failed[:FAILURES_SHOWN]],
        more_failures=max(0, len(failed) - FAILURES_SHOWN),
        remarks=[*ranking_notes(best_first), *(_text(remark) for remark in remarks)],
        numbers=numbers,
        ranking=any(report.ranking for report in best_first),
        rank_text=rank_text,
        completion_text=completion_text,
    )


def comparison_table(diff: ReportDiff, remarks: Sequence[str] = ()) -> str:
    """The verdict of each skill with its reason, and its figures on both sides."""
    return html_template("notebook-comparison.html.jinja").render(
        skills=diff.skills[:SKILLS_SHOWN],
        more_skills=max(0, len(diff.skills) - SKILLS_SHOWN),
        remarks=remarks,
        lineage=lineage,
        shown_row=shown_row,
        verdict_text=verdict_text,
    )


def effect_table(effect: SkillEffect, remarks: Sequence[str] = ()) -> str:
    """The arms, every verdict with its reason, and the tasks that lost."""
    worse = figures.worse_tasks(effect)
    return html_template("notebook-effect.html.jinja").render(
        title=figures.title(effect),
        columns=figures.ARM_COLUMNS,
        arms=[figures.arm_cells(arm) for arm in effect.arms],
        comparisons=[
            (figures.comparison_line(each, effect), figures.comparison_notes(each, effect)) for each in effect.comparisons
        ],
        task_columns=("task", *(arm.arm for arm in effect.arms), "worse than"),
        worse=[(*each.cells, each.worse_than) for each in worse[:FAILURES_SHOWN]],
        more_worse=max(0, len(worse) - FAILURES_SHOWN),
        problems=effect.problems,
        remarks=[_text(remark) for remark in remarks],
    )


def _failed(skill: str, item: TaskResult) -> FailedItem:
    status = f"{item.status} ({item.error_kind})" if item.error_kind and item.error_kind != item.status else item.status
    output = "" if item.output is None and item.error_kind else _text(item.output)
    return FailedItem(skill, item.name, status, output, [_text(each) for each in reasons(item)])


def _text(value: object) -> str:
    return visible_line(shortened(value, TEXT_SHOWN))
