"""Select: filter, sort and rank evaluated skills."""

from __future__ import annotations

from collections.abc import Sequence

from prefect import task
from prefect.cache_policies import NO_CACHE

from eval_skills.core.models import Skill, SkillCompletionReport
from eval_skills.core.selection import RankedSkill, SelectStrategy, select


@task(persist_result=False, cache_policy=NO_CACHE)
def select_skills(
    skills: Sequence[Skill], reports: Sequence[SkillCompletionReport], strategy: SelectStrategy
) -> list[RankedSkill]:
    """The skills that pass the strategy's filters, ranked."""
    return select(skills, reports, strategy)
