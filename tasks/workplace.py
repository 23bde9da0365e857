"""Where items are executed: in this process, with the adapters that are open here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from eval_skills.adapters import Adapter, open_adapter
from eval_skills.core.models import Attempt
from eval_skills.core.redaction import Redaction
from eval_skills.tasks.execution import Outcome, execute
from eval_skills.tasks.hidden_answers import confinement_of
from eval_skills.tasks.judging import judges_of
from eval_skills.tasks.keeper import Keeper
from eval_skills.tasks.plan import Item, RunPlan


class Workplace(Protocol):
    """Executes the items of one run for as long as it is entered."""

    async def __aenter__(self) -> Self:
        """Get ready."""
        ...

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop what still runs, and close everything."""
        ...

    async def execute(self, item: Item, earlier: Sequence[Attempt]) -> Outcome:
        """Make one attempt at `item`, as `execution.execute` does."""
        ...


class Here:
    """This process as a workplace, on the event loop that enters it.

    An adapter is opened when its first item needs it and stays open to the end; a failure to open it is remembered, so that a
    service that does not start costs its waiting time once and not once per item.
    """

    def __init__(self, plan: RunPlan) -> None:
        self.plan = plan
        self._confinement = confinement_of(plan)
        self._opening: dict[str, asyncio.Task[Adapter]] = {}
        self._keepers: list[Keeper] = []
        self._judges = judges_of(plan.scorings)
        if self._judges is not None:
            self._judges.redaction = Redaction(plan.secrets())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for opening in self._opening.values():
            opening.cancel()
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        await asyncio.gather(*(keeper.release() for keeper in self._keepers), return_exceptions=True)
        if self._judges is not None:
            await self._judges.close()

    async def execute(self, item: Item, earlier: Sequence[Attempt]) -> Outcome:
        return await execute(item, self, earlier)

    async def adapter(self, skill_key: str) -> Adapter:
        """The open adapter of a skill; concurrent callers share one opening."""
        if skill_key not in self._opening:
            self._opening[skill_key] = asyncio.create_task(self._open(skill_key))
        return await asyncio.shield(self._opening[skill_key])

    async def _open(self, skill_key: str) -> Adapter:
        keeper = Keeper()
        self._keepers.append(keeper)
        return await keeper.hold(self._adapter_of(skill_key))

    def _adapter_of(self, skill_key: str) -> Adapter:
        plan = self.plan
        return open_adapter(plan.skills[skill_key], plan.benchmark.subject, self._confinement)
