"""One skill as the rules see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eval_skills.agent_skills.linting.package import Package
from eval_skills.agent_skills.skill_text import Field, SkillText


@dataclass(frozen=True, slots=True)
class Subject:
    """The text of its ``SKILL.md`` (which may have another name, `file`), and what lies in its folder."""

    folder: Path
    file: str
    text: SkillText
    package: Package
    profiles: frozenset[str]

    def field(self, name: str) -> Field | None:
        """A field of the frontmatter."""
        return self.text.fields.get(name)

    @property
    def description(self) -> str:
        """The description, empty where there is none."""
        found = self.field("description")
        return (found.text or "") if found else ""
