"""Land: from the journal to Parquet, atomically.

Aggregate: from Parquet through pandas to one report per skill.

Select: filter, sort and rank evaluated skills.
"""

from __future__ import annotations

from collections.abc import Sequence

from prefect import task
from prefect.cache_policies import NO_CACHE

from eval_skills.core.models import Skill, SkillCompletionReport
from eval_skills.core.selection import RankedSkill, SelectStrategy, select
from eval_skills.core.store import land
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.evaluation.reports import landed_reports


@task(persist_result=False, cache_policy=NO_CACHE)
def land_results(plan: RunPlan) -> str:
    """Move a finished run's items into the store's `items` table; the journal goes only after the table reads back whole."""
    return land(plan.store, plan.run_id)


@task(persist_result=False, cache_policy=NO_CACHE)
def aggregate(plan: RunPlan) -> list[SkillCompletionReport]:
    """The figures of every skill of a landed run; see `landed_reports`."""
    return landed_reports(plan)


@task(persist_result=False, cache_policy=NO_CACHE)
def select_skills(
    skills: Sequence[Skill], reports: Sequence[SkillCompletionReport], strategy: SelectStrategy
) -> list[RankedSkill]:
    """The skills that pass the strategy's filters, ranked."""
    return select(skills, reports, strategy)
