"""The skills of a folder that match a query, tags and adapter."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from eval_skills.core.errors import UsageError
from eval_skills.core.models import Skill
from eval_skills.core.search import search
from eval_skills.core.skills import InvalidSkill, discover_skills, refuse_duplicates, why_none
from eval_skills.core.store import Store
from eval_skills.engine.definition.request import PipelineRequest


@dataclass(frozen=True, slots=True)
class FoundSkills:
    """The skills that match, best first, the malformed ones that were skipped, and remarks on folders that were passed over."""

    skills: list[Skill]
    invalid: list[InvalidSkill]
    remarks: list[str] = field(default_factory=list)


def matching_skills(request: PipelineRequest) -> FoundSkills:
    """The skills below `request.skills_dir` that match the request's query, tags and adapter.

    Raises:
        UserError: the folder is missing or holds no usable skill, nothing matches, or one ``id@version`` is in two folders.
    """
    discovery = discover_skills(Path(request.skills_dir))
    refuse_duplicates(discovery.skills)
    if not discovery.skills:
        raise UsageError(f"no skill to evaluate in {request.skills_dir}: {why_none(discovery)}")
    skills = search(
        discovery.skills,
        query=request.query,
        tags=request.tags,
        adapter=request.adapter,
        history=Store(request.store).history(),
    )
    if not skills:
        raise UsageError(
            f"none of the {len(discovery.skills)} skills in {request.skills_dir} matches; "
            "loosen --query, --skill-tag or --adapter"
        )
    return FoundSkills(skills, discovery.invalid, discovery.remarks)
