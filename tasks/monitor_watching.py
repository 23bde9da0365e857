"""Who watches a monitor: the command line, or nobody. Plain: no Prefect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from eval_skills.core.monitoring import StatusChange


class MonitorWatcher(Protocol):
    """Told of changes while they happen; must return quickly and never raise."""

    def changed(self, change: StatusChange) -> None:
        """The announced status is another one now."""


class NobodyLooks:
    """The watcher of a monitor that nobody watches."""

    def changed(self, change: StatusChange) -> None:
        """Nothing to show."""


_watcher: ContextVar[MonitorWatcher] = ContextVar("eval_skills_monitor_watcher", default=NobodyLooks())  # noqa: B039 - no state


def monitor_watcher() -> MonitorWatcher:
    """Whoever watches the current monitor."""
    return _watcher.get()


@contextmanager
def monitor_watched_by(watcher: MonitorWatcher) -> Iterator[None]:
    """Let `watcher` see every change inside."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)
