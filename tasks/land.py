"""Land: from the journal to Parquet, atomically."""

from __future__ import annotations

from prefect import task
from prefect.cache_policies import NO_CACHE

from eval_skills.core.store import land
from eval_skills.tasks.plan import RunPlan


@task(persist_result=False, cache_policy=NO_CACHE)
def land_results(plan: RunPlan) -> str:
    """Move a finished run's items into the store's `items` table; the journal goes only after the table reads back whole."""
    return land(plan.store, plan.run_id)
