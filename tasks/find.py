"""Find: the skills of a folder that match."""

from __future__ import annotations

from prefect import task
from prefect.cache_policies import NO_CACHE

from eval_skills.tasks.matching import FoundSkills, matching_skills
from eval_skills.tasks.request import PipelineRequest


@task(persist_result=False, cache_policy=NO_CACHE)
def find_skills(request: PipelineRequest) -> FoundSkills:
    """Find the skills of the request; see `matching_skills`."""
    return matching_skills(request)
