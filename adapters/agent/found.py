"""Which agents this machine has."""

from __future__ import annotations

import asyncio
import shutil

from eval_skills.adapters.agent.program import missing_for, version_of
from eval_skills.adapters.agent.runtimes.base import AgentRuntime
from eval_skills.adapters.agent.runtimes.registry import program_runtimes
from eval_skills.core.environment import Check

AREA = "agents"


async def agent_checks() -> list[Check]:
    """A check of each agent whose program is on PATH, with its version; of the others none, for nobody may want them."""
    found = [(agent, program) for agent in program_runtimes() if (program := shutil.which(agent.program)) is not None]
    return list(await asyncio.gather(*(_check(agent, program) for agent, program in found)))


async def _check(agent: AgentRuntime, program: str) -> Check:
    version = await version_of(agent, (program,))
    if version is None:
        remedy = f"start it by hand, and {agent.install} if it does not work"
        return Check(AREA, agent.name, "warning", f"{program} does not say its version", remedy)
    if missing := missing_for(agent):
        remedy = "install it, or an Agent Skill seems not to help"
        return Check(AREA, agent.name, "warning", f"{version}; {'; '.join(missing)}", remedy)
    return Check(AREA, agent.name, "ok", version)
