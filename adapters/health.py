"""Whether skills could be called: each started and asked once, side by side, before a run asks them for money."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import perf_counter

from eval_skills.adapters.probing import ProbeResult
from eval_skills.adapters.registry import check_skill, open_adapter
from eval_skills.adapters.sandbox.limits import Confinement
from eval_skills.core.environment import Check
from eval_skills.core.errors import ItemError, SkillTimeout, UserError
from eval_skills.core.models import Skill

AREA = "skills"
AT_A_TIME = 4

_REMEDIES = {
    "infra": "fix the entrypoint, its program or its address, as the message says",
    "contract": "make it answer as the documentation of its adapter describes",
    "skill": "fix what the message names",
    "timeout": "find out why it does not answer, or allow it more time with --timeout",
}


async def skill_checks(skills: Sequence[Skill], timeout_s: float, confinement: Confinement) -> list[Check]:
    """The check of each skill, in their order. Starting and answering may each take `timeout_s`; no answer is scored."""
    turns = asyncio.Semaphore(AT_A_TIME)

    async def check(skill: Skill) -> Check:
        async with turns:
            return await skill_check(skill, timeout_s, confinement)

    return list(await asyncio.gather(*map(check, skills)))


async def skill_check(skill: Skill, timeout_s: float, confinement: Confinement) -> Check:
    """Whether a run could call this skill now."""
    began = perf_counter()
    try:
        check_skill(skill, confinement=confinement)
        probed = await _probed(skill, timeout_s, confinement)
    except UserError as error:
        return Check(AREA, skill.key, "failed", str(error), "fix it there")
    except ItemError as error:
        return Check(AREA, skill.key, "failed", str(error), _REMEDIES.get(error.kind, ""))
    took = f"{probed.seen} ({skill.adapter_type}, {perf_counter() - began:.1f} s)"
    if probed.warnings:
        return Check(AREA, skill.key, "warning", f"{took}; {'; '.join(probed.warnings)}", "make sure that this is intended")
    return Check(AREA, skill.key, "ok", took)


async def _probed(skill: Skill, timeout_s: float, confinement: Confinement) -> ProbeResult:
    opening = asyncio.timeout(timeout_s)
    adapter = open_adapter(skill, confinement=confinement)
    try:
        async with opening, adapter:
            opening.reschedule(None)
            return await adapter.probe(timeout_s)
    except TimeoutError as error:
        if isinstance(error, ItemError) or not opening.expired():
            raise
        raise SkillTimeout(f"it was not ready within {timeout_s:g} s") from None
