"""Runs without Prefect, in this process: executed as flows do it, and what they leave behind."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import urlsplit

import psutil

from eval_skills.core.models import ItemResult
from eval_skills.core.store import Journal
from eval_skills.core.store.journal import read_journal
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.session import RunSession

CONCURRENCY = 4
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Traces:
    """What a run may leave behind in this process."""

    files: tuple[str, ...]
    children: tuple[int, ...]
    temporary: tuple[str, ...]

    @classmethod
    def now(cls) -> Traces:
        shared = _connections_to_prefect()
        opened = Counter(_kind(path) for path in Path("/proc/self/fd").iterdir() if path.name not in shared)
        children = sorted(child for thread in Path("/proc/self/task").iterdir() for child in _children(thread))
        return cls(tuple(sorted(opened.elements())), tuple(children), tuple(sorted(os.listdir(tempfile.gettempdir()))))

    def more(self) -> list[str]:
        """What there is beyond these, now and soon; what went away meanwhile was another test's, whose threads live on."""
        end = monotonic() + PATIENCE_S
        while (more := self._more_now()) and monotonic() < end:
            sleep(0.02)
        return more

    def _more_now(self) -> list[str]:
        now = Traces.now()
        pairs = ((now.files, self.files), (now.children, self.children), (now.temporary, self.temporary))
        return [str(each) for there, before in pairs for each in (Counter[object](there) - Counter[object](before)).elements()]


def _connections_to_prefect() -> set[str]:
    """The descriptors of Prefect's client, which other tests leave in this process, and which connects again when it likes."""
    port = urlsplit(os.environ.get("PREFECT_API_URL", "")).port
    return {str(each.fd) for each in psutil.Process().net_connections() if each.raddr and each.raddr.port == port}


def _children(thread: Path) -> list[int]:
    """The processes that a thread of ours started; none where it has ended."""
    try:
        return [int(child) for child in (thread / "children").read_text().split()]
    except OSError:
        return []


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
            async with RunSession(plan, journal, NullObserver(), None) as session:
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
