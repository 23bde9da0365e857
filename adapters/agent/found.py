"""The agents that this machine has."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass

from eval_skills.adapters.agent.program import version_of
from eval_skills.adapters.agent.runtimes.registry import program_runtimes


@dataclass(frozen=True, slots=True)
class FoundAgent:
    """An agent whose program is on PATH; `version` is None where it does not say."""

    runtime: str
    program: str
    version: str | None


async def found_agents() -> list[FoundAgent]:
    """The agents on PATH, by the names of their runtimes; each is asked for its version, side by side."""
    there = [(each, program) for each in program_runtimes() if (program := shutil.which(each.program)) is not None]
    versions = await asyncio.gather(*(version_of(each, (program,)) for each, program in there))
    return [FoundAgent(each.name, program, said) for (each, program), said in zip(there, versions, strict=True)]
