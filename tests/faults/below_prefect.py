"""Runs without Prefect, in this process: executed as flows do it, and what they leave behind."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from eval_skills.core.models import ItemResult
from eval_skills.core.store import Journal
from eval_skills.core.store.lines import read_journal
from eval_skills.tasks.plan import Item, RunPlan
from eval_skills.tasks.progress import NobodyWatches
from eval_skills.tasks.session import RunSession

CONCURRENCY = 4


@dataclass(frozen=True, slots=True)
class Traces:
    """What a run may leave behind in this process; equal before and after where it leaves nothing."""

    files: tuple[str, ...]
    children: tuple[int, ...]
    temporary: tuple[str, ...]

    @classmethod
    def now(cls) -> Traces:
        opened = Counter(_kind(path) for path in Path("/proc/self/fd").iterdir())
        listings = Path("/proc/self/task").glob("*/children")
        children = sorted(int(child) for listing in listings for child in listing.read_text().split())
        return cls(tuple(sorted(opened.elements())), tuple(children), tuple(sorted(os.listdir(tempfile.gettempdir()))))


def _kind(descriptor: Path) -> str:
    """What a file descriptor is open on; pipes, sockets and the like without their number."""
    try:
        return re.sub(r":\[\d+\]", "", os.readlink(descriptor))
    except FileNotFoundError:  # the listing's own
        return ""


def run(plan: RunPlan, retries: int = 1) -> tuple[dict[tuple[str, str], ItemResult], list[str]]:
    """Every item of the plan, executed as flows do it; the results by skill and task, and the loop's tasks that are left."""

    async def work() -> list[str]:
        places = asyncio.Semaphore(CONCURRENCY)
        with Journal(plan.store.journal_path(plan.run_id)) as journal:
            async with RunSession(plan, journal, NobodyWatches(), None) as session:
                await asyncio.gather(*(attempts(session, item, places) for item in plan.items))
        return [str(task) for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    async def attempts(session: RunSession, item: Item, places: asyncio.Semaphore) -> None:
        for number in range(retries + 1):
            async with places:
                outcome = await session.attempt(item, last=number == retries)
            if not outcome.transient:
                return

    left = asyncio.run(work())
    results = list(read_journal(plan.store.journal_path(plan.run_id)))
    return {(result.skill_id, result.task_id): result for result in results}, left
