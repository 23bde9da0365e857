"""Where a finding is, as people and other tools name it."""

from __future__ import annotations

import os
from pathlib import Path

from eval_skills.agent_skills.linting.finding import Finding, SkillLint
from eval_skills.core.text import encodable


def shown_path(skill: SkillLint, finding: Finding | None = None) -> str:
    """The path of a finding's file (or of ``SKILL.md``), in POSIX notation: relative where it lies below the current folder.

    File names need not be text: their bytes that are not UTF-8 are shown as escapes.
    """
    return _shown(skill.folder / finding.file if finding and finding.file else skill.folder if finding else skill.file)


def shown_paths(finding: Finding, skill: SkillLint | None = None) -> list[str]:
    """The paths of the files that a finding is about; one about several skills names their ``SKILL.md``."""
    return [shown_path(skill, finding)] if skill else [_shown(file) for file in finding.skill_files]


def _shown(file: Path) -> str:
    absolute = Path(os.path.abspath(file))
    here = Path.cwd()
    return encodable((absolute.relative_to(here) if absolute.is_relative_to(here) else absolute).as_posix())
