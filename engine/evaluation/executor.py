"""Who executes the items of a run: this process with its open adapters, or a Dask worker; and what sandboxes hide from skills."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from eval_skills.adapters import Adapter, Confinement, asks_services, open_adapter
from eval_skills.benchmarks.locations import locate
from eval_skills.core.errors import InputError
from eval_skills.core.models import Attempt
from eval_skills.core.rate_limits.services import Services
from eval_skills.core.redaction import Redaction
from eval_skills.engine.definition.request import confinement_asked
from eval_skills.engine.evaluation.asyncio_support import ResourceOwner
from eval_skills.engine.evaluation.execution import Outcome, execute
from eval_skills.engine.evaluation.plan import Item, RunPlan


class ItemExecutor(AbstractAsyncContextManager[Any], Protocol):
    """Executes the items of one run while it is open; leaving it stops what still runs and closes everything."""

    async def execute(self, item: Item, earlier: Sequence[Attempt]) -> Outcome:
        """Make one attempt at `item`, as `execution.execute` does."""
        ...

    def execute_some(self, items: Sequence[Item], for_s: float, *, retried: bool) -> AsyncIterator[list[Outcome]]:
        """Make the first attempt at the first item, and at those after it in their order, as far as that saves anything.

        No other begins after `for_s` seconds, when those that are known are given out; nor after a refusal (`throttled`), nor,
        where items are `retried`, after a transient outcome.
        """
        ...


class LocalExecutor:
    """Executes items in this process, on the event loop that enters it.

    An adapter is opened when its first item needs it and stays open to the end; a failure to open it is kept, so that a service
    that does not start costs its waiting time once and not once per item. `services` are those that skills and judges ask; None
    where nothing can ask for fewer requests: all of them are processes or code here.
    """

    def __init__(self, plan: RunPlan) -> None:
        self.plan = plan
        self._judges = plan.judges
        self.services = Services(plan.request.rate) if self._judges is not None or _asks_services(plan) else None
        self._confinement = confinement_of(plan)
        self._opening: dict[str, asyncio.Task[Adapter]] = {}
        self._owners: list[ResourceOwner] = []
        if self._judges is not None and self.services is not None:
            self._judges.redaction = Redaction(plan.secrets())
            self._judges.services = self.services

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for opening in self._opening.values():
            opening.cancel()
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        await asyncio.gather(*(owner.release() for owner in self._owners), return_exceptions=True)
        self._note_remarks()
        if self._judges is not None:
            await self._judges.close()

    async def execute(self, item: Item, earlier: Sequence[Attempt]) -> Outcome:
        return await execute(item, self, earlier)

    async def execute_some(self, items: Sequence[Item], for_s: float, *, retried: bool) -> AsyncIterator[list[Outcome]]:
        """One: here nothing is saved by more."""
        yield [await self.execute(items[0], ())]

    async def adapter(self, skill_key: str) -> Adapter:
        """The open adapter of a skill; concurrent callers share one opening."""
        if skill_key not in self._opening:
            self._opening[skill_key] = asyncio.create_task(self._open(skill_key))
        return await asyncio.shield(self._opening[skill_key])

    def _note_remarks(self) -> None:
        opened = (opening.result() for opening in self._opening.values() if not opening.cancelled() and not opening.exception())
        secrets = Redaction(self.plan.secrets())
        self.plan.remarks.extend(secrets.text(remark) for adapter in opened for remark in adapter.remarks)

    async def _open(self, skill_key: str) -> Adapter:
        owner = ResourceOwner()
        self._owners.append(owner)
        adapter = open_adapter(self.plan.skills[skill_key], self.plan.benchmark.subject, self._confinement)
        if self.services is not None and adapter.asks_services:
            adapter.services = self.services
        return await owner.hold(adapter)


def _asks_services(plan: RunPlan) -> bool:
    return plan.calls_skills and any(asks_services(skill, plan.benchmark.subject) for skill in plan.skills.values())


def confinement_of(plan: RunPlan) -> Confinement:
    """The limits of every skill of the run, with all paths that its sandboxes hide: expected answers and what other skills
    answered.

    That is the folders of its benchmark and tasks, its `benchmarks_dir`, its recording, the store, the reports, and Prefect's
    state.
    """
    hidden = tuple(dict.fromkeys(str(path.resolve()) for path in _hidden_paths(plan)))
    return replace(confinement_asked(plan.request), hidden=hidden)


def _hidden_paths(plan: RunPlan) -> Iterator[Path]:
    request, layout = plan.request, plan.store.layout
    yield layout.root
    yield Path(request.output_dir)
    if layout.sqlite is not None:
        yield layout.sqlite
    if home := os.environ.get("PREFECT_HOME"):
        yield Path(home)
    if request.benchmarks_dir:
        yield Path(request.benchmarks_dir)
    for file in benchmark_files(plan):
        yield from (file.resolve().parent, file)
    if request.record:  # what it holds by now are the answers of an earlier run
        yield Path(request.record)


def benchmark_files(plan: RunPlan) -> Iterator[Path]:
    """The files in which the benchmark or the tasks of a run are written; one may be missing."""
    request = plan.request
    if plan.benchmark_path is not None:
        yield plan.benchmark_path / "benchmark.json"
    if request.own_tests:
        yield from (folder / "basic.eval.json" for folder in {task.folder for task in plan.benchmark.tasks if task.folder})
        return
    if request.tasks:
        yield Path(request.tasks)
        return
    try:
        found = locate(request.benchmark, benchmarks_dir=Path(request.benchmarks_dir) if request.benchmarks_dir else None)
    except InputError:  # a resumed run does not need it any more: its tasks are in the store
        return
    yield found / "benchmark.json" if found.is_dir() else found
