"""Aggregate: from Parquet through pandas to one report per skill."""

from __future__ import annotations

from prefect import task
from prefect.cache_policies import NO_CACHE

from eval_skills.core.metrics import skill_reports
from eval_skills.core.models import SkillCompletionReport
from eval_skills.core.store import land_reports, mirror_sqlite
from eval_skills.tasks.plan import RunPlan
from eval_skills.tasks.report_source import MAX_DETAILED_ITEMS

FIGURE_COLUMNS = (
    "skill_id", "skill_version", "task_id", "run_index", "status", "score", "latency_ms", "weight", "tags",
    "prompt_tokens", "completion_tokens", "cost_usd", "started_at",
)  # fmt: skip


@task(persist_result=False, cache_policy=NO_CACHE)
def aggregate(plan: RunPlan) -> list[SkillCompletionReport]:
    """The figures of every skill of a landed run, also written to the store's `reports` table (and its SQLite mirror)."""
    detailed = plan.planned <= MAX_DETAILED_ITEMS
    items = plan.store.items(run_id=plan.run_id, columns=None if detailed else list(FIGURE_COLUMNS))
    reports = skill_reports(items, plan.benchmark, timeout_ms=plan.request.timeout_ms, task_results=detailed)
    land_reports(plan.store, plan.run_id, None, reports, origin=plan.request.origin)
    if plan.store.layout.sqlite is not None:
        mirror_sqlite(plan.store, plan.run_id)
    return reports


def partial_reports(plan: RunPlan) -> list[SkillCompletionReport]:
    """The figures of what a stopped run has so far; nothing lands, for history must not compare part of a run with a whole."""
    frame = plan.store.item_table(plan.run_id).to_pandas(maps_as_pydicts="strict")
    return skill_reports(frame, plan.benchmark, timeout_ms=plan.request.timeout_ms)
