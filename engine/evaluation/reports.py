"""The figures of a run that has landed, and their place in the store."""

from __future__ import annotations

from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.models.report import DIMENSIONS
from eval_skills.core.store import land_reports, mirror_sqlite
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.judging.outcome import judges_of
from eval_skills.engine.judging.reports import add_judge_figures
from eval_skills.engine.stored_runs.reports import MAX_DETAILED_ITEMS, skill_reports_of

FIGURE_COLUMNS = (
    "skill_id", "skill_version", "task_id", "run_index", "status", "score", "latency_ms", "weight", "tags", "complexity",
    "prompt_tokens", "completion_tokens", "cost_usd", "judge_tokens", "judge_cost_usd", "started_at", "origin",
    "time_to_first_token_ms", "error_kind",
    *DIMENSIONS, "forbidden_tools_called",
)  # fmt: skip

JUDGED_COLUMNS = ("benchmark_id", "dimensions", "reasons", "judge_agreement")
"""What the figures of judges need, too: everything but the answers, so that a large run has no length bias."""


def landed_reports(plan: RunPlan) -> list[SkillCompletionReport]:
    """The figures of every skill of a landed run, also written to the store's `reports` table (and its SQLite mirror)."""
    detailed = plan.planned <= MAX_DETAILED_ITEMS
    judged = judges_of(plan.scorings) is not None
    columns = [*FIGURE_COLUMNS, *(JUDGED_COLUMNS if judged else ())]
    items = plan.store.items(run_id=plan.run_id, columns=None if detailed else columns)
    reports = skill_reports_of(items, plan.benchmark, plan.request.timeout_ms, detailed=detailed)
    reports = add_judge_figures(reports, items, plan.scorings, plan.store)
    land_reports(plan.store, plan.run_id, None, reports, origin=plan.request.origin)
    if plan.store.layout.sqlite is not None:
        mirror_sqlite(plan.store, plan.run_id)
    return reports


def partial_reports(plan: RunPlan) -> list[SkillCompletionReport]:
    """The figures of what a stopped run has so far; nothing lands, for history must not compare part of a run with a whole."""
    frame = plan.store.item_table(plan.run_id).to_pandas(maps_as_pydicts="strict")
    reports = skill_reports_of(frame, plan.benchmark, plan.request.timeout_ms, detailed=True)
    return add_judge_figures(reports, frame, plan.scorings, plan.store)
