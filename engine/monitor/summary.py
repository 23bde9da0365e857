"""What a call of a monitor came to.

Who watches a monitor: the command line, or nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from eval_skills.core.monitoring import HealthStatus, StatusChange, WindowFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSummary:
    """What one call of a monitor came to.

    `status` is what the window says at the end, `announced` the last status that an event told of. The counts are those of this
    call: records `read`, `bad` ones among them, those of `other` skills, `sampled` ones that landed, and `repeated` ids that the
    window held already, and those that were left out as `unjudged`. `judge_failed`: of a batch the judge failed more than half,
    and nothing of it counts. `changes` are the last hundred of `change_count`. `flow_runs` and `task_runs` say what Prefect
    should have recorded.
    """

    monitor_id: str
    run_id: str
    log: str
    line: str
    status: HealthStatus
    announced: HealthStatus
    window: WindowFigures
    read: int
    bad: int
    other: int
    sampled: int
    repeated: int
    changes: list[StatusChange]
    change_count: int
    remarks: list[str]
    store: str
    unjudged: int = 0
    judge_failed: bool = False
    flow_runs: tuple[str, ...] = ()
    task_runs: int = 0


def summary_line(status: HealthStatus, figures: WindowFigures, read: int, sampled: int, bad: int) -> str:
    """The outcome in one line."""
    window = f"{figures.size:,} samples in the window"
    if figures.pass_rate is not None:
        interval = f"[{figures.interval.lower:.1%}, {figures.interval.upper:.1%}]"
        window = f"{figures.pass_rate:.1%} of {window} pass {interval}"
    return f"{status}: {window}; {read:,} records read, {sampled:,} sampled, {bad:,} bad"


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
