"""A run inside a worker process of a cluster: its plan, its open adapters, and the items that work there now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from time import monotonic

from eval_skills.adapters import check_skill
from eval_skills.core.errors import InputError, RunError, UserError
from eval_skills.core.models import Attempt, Skill
from eval_skills.core.models.task import Subject
from eval_skills.core.redaction import Redaction
from eval_skills.core.store.journal import as_kept
from eval_skills.engine.definition.benchmark import build_scorings, check_judges
from eval_skills.engine.definition.request import confinement_asked
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.plan import Item, RunPlan

IDLE_S = 300.0
"""After so long without an item a worker closes its adapters, in case the flow's process was killed."""

PACKAGE = "eval-skills"


@dataclass(frozen=True, slots=True)
class Share:
    """What a worker may do in one go: an attempt at each of these items, one after the other.

    None begins after `for_s` seconds, nor after a refusal, nor, where items are `retried`, after a transient outcome. `earlier`
    are the attempts at the item, where it is one.
    """

    key: str
    items: tuple[Item, ...]
    earlier: tuple[Attempt, ...] = ()
    for_s: float = 0.0
    retried: bool = False


class WorkerRun:
    """One run on one worker; made in the flow's process and sent as it is.

    The plan is sent without its items and scorers; scorers are built here, adapters opened here, and secrets read here, by name,
    from the worker's own environment. Those secrets are redacted in what a worker returns. `remarks` are those of the adapters
    that were closed here, which the flow's process does not hear of otherwise.
    """

    def __init__(self, plan: RunPlan) -> None:
        self.remarks: list[str] = []
        self._plan, self._version = replace(plan, items=[], scorings={}, remarks=[]), version(PACKAGE)
        self._here: LocalExecutor | None = None
        self._working: set[asyncio.Task[list[Outcome]]] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None
        self._redaction: Redaction | None = None

    def check(self, worker: str) -> None:
        """Make ready for items. `worker` is its address, for messages.

        Raises:
            RunError: the skills cannot be called on this worker, or not as confined as they must be.
        """
        if (installed := version(PACKAGE)) != self._version:
            raise RunError(f"worker {worker} has {PACKAGE} {installed}, this process {self._version}; install the same version")
        request, benchmark = self._plan.request, self._plan.benchmark
        try:
            self._check_skills(benchmark.subject)
            scorings = check_judges(build_scorings(request, benchmark, self._plan.benchmark_path))
        except UserError as error:
            raise RunError(f"worker {worker} cannot evaluate: {error}") from None
        self._plan = replace(self._plan, scorings=scorings)
        if secrets := self._plan.secrets():
            self._redaction = Redaction(secrets)

    def _check_skills(self, subject: Subject) -> None:
        if self._plan.recordings is not None:
            self._plan.recordings.check()
            return
        confinement = confinement_asked(self._plan.request)
        confinement.check()
        for skill in self._plan.skills.values():
            _check_folder(skill, subject)
            check_skill(skill, subject, confinement)

    async def close(self) -> None:
        """Stop what still works here, and close the adapters."""
        for work in self._working:
            work.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)
        if self._idle is not None:
            self._idle.cancel()
        await self._close()
        if self._closing is not None:
            await self._closing

    async def execute(self, share: Share, tell_early: Callable[[list[Outcome]], None]) -> list[Outcome]:
        """Make an attempt at the first items of a share, one at least, with the adapters that are open on this worker.

        `tell_early` gets those that are known while an item works for longer than those before it: they must not wait for it.
        """
        self._here = self._here or LocalExecutor(self._plan)
        work = asyncio.create_task(self._attempts(self._here, share, tell_early))  # in the context of the trace
        self._working.add(work)
        try:
            return await work
        finally:
            self._working.discard(work)
            self._close_when_idle()

    async def _attempts(self, here: LocalExecutor, share: Share, tell_early: Callable[[list[Outcome]], None]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        began = last = monotonic()
        longest = 0.0

        def tell() -> None:
            if outcomes:
                tell_early(outcomes)

        early = asyncio.get_running_loop().call_later(share.for_s, tell)
        try:
            for item in share.items:
                outcome = await here.execute(item, share.earlier)
                outcomes.append(self._without_secrets(outcome))
                longest, last = max(longest, monotonic() - last), monotonic()
                if last + longest - began >= share.for_s or (outcome.transient and share.retried) or outcome.throttled:
                    break
        finally:
            early.cancel()
        return outcomes

    def _without_secrets(self, outcome: Outcome) -> Outcome:
        if self._redaction is None:
            return outcome
        return replace(outcome, result=as_kept(outcome.result, self._redaction))

    def _close_when_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = None if self._working else asyncio.get_running_loop().call_later(IDLE_S, self._start_closing)

    def _start_closing(self) -> None:
        self._closing = asyncio.create_task(self._close())

    async def _close(self) -> None:
        here, self._here = self._here, None
        if here is not None:
            await here.__aexit__(None, None, None)
            self.remarks += here.plan.remarks
            here.plan.remarks.clear()


def _check_folder(skill: Skill, subject: Subject) -> None:
    """Refuse a skill whose folder is not on this worker at the same path; one that is only an address needs none."""
    is_address = subject == "call" and skill.adapter_type == "http" and "serve" not in skill.adapter_config
    if skill.folder is not None and not is_address and not skill.folder.is_dir():
        raise InputError("no such folder on this worker; share it with the workers, at the same path", source=skill.folder)
