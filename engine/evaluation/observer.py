"""Who watches a run: the command line's display, or nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from eval_skills.core.models import ItemResult
from eval_skills.engine.evaluation.plan import RunPlan


class RunObserver(Protocol):
    """Told of a run's progress, from whichever thread it happens on; must return quickly and never raise."""

    def planned(self, plan: RunPlan) -> None:
        """The run begins, or goes on."""

    def retrying(self, item: str, reason: str) -> None:
        """An item had transient trouble and will be tried again."""

    def waiting(self, skill: str, waited_s: float, asked_s: float) -> None:
        """An item of `skill` waits before its next attempt, for its service asked for that; said once per skill and run."""

    def finished(self, result: ItemResult) -> None:
        """An item has its final result, and the journal holds it."""


class NobodyWatches:
    """The observer of a run that nobody watches."""

    def planned(self, plan: RunPlan) -> None:
        """Nothing to show."""

    def retrying(self, item: str, reason: str) -> None:
        """Nothing to show."""

    def waiting(self, skill: str, waited_s: float, asked_s: float) -> None:
        """Nothing to show."""

    def finished(self, result: ItemResult) -> None:
        """Nothing to show."""


_observer: ContextVar[RunObserver] = ContextVar("eval_skills_observer", default=NobodyWatches())  # noqa: B039 - it has no state


def observer() -> RunObserver:
    """Whoever watches the current run."""
    return _observer.get()


@contextmanager
def observed_by(watcher: RunObserver) -> Iterator[None]:
    """Let `watcher` see every run that starts inside."""
    token = _observer.set(watcher)
    try:
        yield
    finally:
        _observer.reset(token)
