"""Which of the skills that were found can be called as the run would call them."""

from __future__ import annotations

from pathlib import Path

from eval_skills.adapters import Confinement, check_skill
from eval_skills.core.errors import UsageError, UserError
from eval_skills.core.models import Benchmark, Skill
from eval_skills.core.models.benchmark import Subject
from eval_skills.core.skills import InvalidSkill


def usable_skills(
    skills: list[Skill], *, named: set[str], subject: Subject, confinement: Confinement
) -> tuple[list[Skill], list[InvalidSkill]]:
    """Those that can be called. One that was named must be; one found in a folder of skills is passed over with a remark."""
    usable, unusable = [], []
    for skill in skills:
        try:
            check_skill(skill, subject, confinement)
            usable.append(skill)
        except UserError as error:
            if named & {str(skill.folder), f"{skill.folder}/skill.json"}:
                raise
            unusable.append(InvalidSkill(skill.folder or Path(skill.id), str(error)))
    return usable, unusable


def check_subject(benchmark: Benchmark, skills: list[Skill]) -> None:
    """Refuse skills that have nothing for the benchmark to look at.

    Raises:
        UsageError: the benchmark inspects folders, and a skill has none.
    """
    homeless = [skill.key for skill in skills if skill.folder is None]
    if benchmark.subject == "package" and homeless:
        raise UsageError(f"benchmark {benchmark.id!r} inspects a skill's folder, and {homeless[0]} has none; load it from a file")
