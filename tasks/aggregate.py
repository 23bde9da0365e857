"""Aggregate: from Parquet through pandas to one report per skill."""

from __future__ import annotations

from prefect import task
from prefect.cache_policies import NO_CACHE

from eval_skills.core.models import SkillCompletionReport
from eval_skills.tasks.landed_reports import landed_reports
from eval_skills.tasks.plan import RunPlan


@task(persist_result=False, cache_policy=NO_CACHE)
def aggregate(plan: RunPlan) -> list[SkillCompletionReport]:
    """The figures of every skill of a landed run; see `landed_reports`."""
    return landed_reports(plan)
