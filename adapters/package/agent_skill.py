"""A folder with a ``SKILL.md`` as the subject: what `eval-skills lint` finds in it, and nothing in it is executed."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from eval_skills.adapters.base import Adapter
from eval_skills.adapters.call import Call
from eval_skills.adapters.config import source_of
from eval_skills.agent_skills.folder import SKILL_TEXT, skill_file_in
from eval_skills.agent_skills.linting.finding import Finding, SkillLint
from eval_skills.agent_skills.linting.linting import lint_skill
from eval_skills.agent_skills.linting.rules import PROFILES, RULES, SEVERITIES, SOURCES
from eval_skills.core.errors import InfraError, InputError, SkillError, UserError
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.core.text import nearest

_KEYS = {"profiles": PROFILES, "sources": SOURCES}


class AgentSkillAdapter(Adapter):
    """Answers ``{"profiles": ["spec"], "sources": ["spec", "eval-skills"]}`` with ``{"checks", "errors", "warnings", "notes",
    "findings"}``.

    `profiles` are those of the command (default: spec); only the rules of `sources` count (default: of all that the profiles
    bring). `checks` is the number of rules, each finding is ``{"code", "severity", "source", "message", "fix", "file", "line",
    "column"}``. The skill's adapter type and `adapterConfig` do not matter.
    """

    asks_services: ClassVar[bool] = False

    @classmethod
    def check(cls, skill: Skill) -> None:
        """That the skill's folder has a ``SKILL.md``."""
        if skill.folder is None or skill_file_in(skill.folder) is None:
            raise InputError(f"the folder has no {SKILL_TEXT} to inspect", source=source_of(skill))

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        profiles, sources = _asked(input_data, "profiles") or ["spec"], _asked(input_data, "sources") or list(SOURCES)
        if self.skill.folder is None:
            raise InfraError(f"{self.skill.key} has no folder to inspect")
        try:
            found = await asyncio.to_thread(lint_skill, self.skill.folder, profiles)
        except UserError as error:
            raise InfraError(str(error)) from None
        return SkillResponse(output=_report(found, profiles, sources))


def _report(found: SkillLint, profiles: list[str], sources: list[str]) -> dict[str, Any]:
    counts = {
        f"{severity}s": sum(found.count(severity, source) for source in SOURCES if source in sources) for severity in SEVERITIES
    }
    held = {"spec", "eval-skills", *profiles} & set(sources)
    return {
        "checks": sum(rule.source in held and not rule.of_many for rule in RULES.values()),
        **counts,
        "findings": [_finding(each) for each in found.findings if each.source in sources],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "source": finding.source,
        "message": finding.message,
        "fix": finding.fix,
        "file": finding.file,
        "line": finding.place.line if finding.place else None,
        "column": finding.place.column if finding.place else None,
    }


def _asked(input_data: Any, key: str) -> list[str] | None:
    if not isinstance(input_data, dict) or not input_data.keys() <= _KEYS.keys():
        raise SkillError(f"the input may hold {' and '.join(_KEYS)}, each a list of names")
    names = input_data.get(key)
    if names is None:
        return None
    if not isinstance(names, list) or not names:
        raise SkillError(f"{key} is not a list of names")
    for name in names:
        if name not in _KEYS[key]:
            raise SkillError(f"unknown name {name!r} in {key}{nearest(str(name), _KEYS[key])}; known are {', '.join(_KEYS[key])}")
    return names
