"""A skill's own folder as the subject: what is there is described, and nothing in it is executed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

from eval_skills.adapters.base import Adapter
from eval_skills.adapters.call import Call
from eval_skills.adapters.config import source_of
from eval_skills.adapters.package.files import structure_findings, suite_findings
from eval_skills.adapters.package.metadata import Finding, description_findings, metadata_findings, schema_findings
from eval_skills.core.errors import InfraError, InputError, SkillError
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.core.text import nearest

ASPECTS: dict[str, Callable[[Skill], list[Finding]]] = {
    "metadata": metadata_findings,
    "description": description_findings,
    "schemas": schema_findings,
    "tests": suite_findings,
    "structure": structure_findings,
}
"""What can be asked about, and what looks at it."""


class PackageAdapter(Adapter):
    """Answers ``{"aspect": "metadata"}`` with ``{"aspect", "result", "missing"}``.

    `result` holds the codes of what is as it should be, in a fixed order; `missing` a sentence for everything else. No
    sentence contains a code, so that a search for codes finds only what is there. The skill's adapter type and
    `adapterConfig` do not matter.
    """

    asks_services: ClassVar[bool] = False

    @classmethod
    def check(cls, skill: Skill) -> None:
        """That the skill has a folder."""
        if skill.folder is None or not skill.folder.is_dir():
            raise InputError("there is no folder to inspect; load the skill from a skill.json", source=source_of(skill))

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        if self.skill.folder is None or not self.skill.folder.is_dir():
            raise InfraError(f"{self.skill.key} has no folder to inspect")
        aspect = _aspect(input_data)
        findings = await asyncio.to_thread(ASPECTS[aspect], self.skill)
        return SkillResponse(
            output={
                "aspect": aspect,
                "result": [finding.code for finding in findings if finding.met],
                "missing": [finding.otherwise for finding in findings if not finding.met],
            }
        )


def _aspect(input_data: Any) -> str:
    aspect = input_data.get("aspect") if isinstance(input_data, dict) else None
    if not isinstance(aspect, str) or aspect not in ASPECTS:
        known = ", ".join(ASPECTS)
        hint = nearest(aspect, ASPECTS) if isinstance(aspect, str) else ""
        raise SkillError(f"unknown aspect {aspect!r}{hint}; ask {{'aspect': …}} with one of {known}")
    return aspect
