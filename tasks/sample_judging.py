"""The verdicts on sampled interactions, so many at a time. Plain: no Prefect."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from eval_skills.core.errors import InputError
from eval_skills.core.models import Verdict
from eval_skills.core.redaction import Redaction
from eval_skills.tasks.interactions import Interaction
from eval_skills.tasks.monitor_task import MonitorTask
from eval_skills.tasks.samples import unanswered


@dataclass(frozen=True, slots=True)
class SampleJudging:
    """Judges by one task, `concurrency` interactions at a time; what a judging model is told is redacted."""

    task: MonitorTask
    redaction: Redaction
    concurrency: int

    def verdicts(self, interactions: list[Interaction]) -> list[Verdict | str]:
        """Each one's verdict, or why it cannot be judged."""
        # a loop of its own thread: whoever calls us, a notebook or a flow on an event loop, may have one running
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self._judged(interactions)).result()

    async def _judged(self, interactions: list[Interaction]) -> list[Verdict | str]:
        self.task.settings.judges.redaction = self.redaction
        places = asyncio.Semaphore(self.concurrency)
        try:
            return await asyncio.gather(*(self._verdict(each, places) for each in interactions))
        finally:
            await self.task.settings.judges.close()

    async def _verdict(self, interaction: Interaction, places: asyncio.Semaphore) -> Verdict | str:
        if interaction.error is not None:
            return unanswered(interaction, self.task.scorer, self.redaction, self.task.violation(interaction))
        async with places:
            try:
                return await self.task.verdict(interaction)
            except InputError as error:
                return str(error)
