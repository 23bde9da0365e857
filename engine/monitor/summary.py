"""The result of one call of a monitor, and what an observer is notified of while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from eval_skills.core.monitoring import HealthStatus, StatusChange, WindowFigures
from eval_skills.engine.handover import Observed
from eval_skills.reporting import numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSummary:
    """The result of one call of a monitor.

    `status` is that of the window at the end, `announced` that of the last event. The counts are those of this call: records
    `read`, `bad` ones among them, those of `other` skills, `sampled` ones that landed, `repeated` ones that the window
    had already, `shared_ids` among the sampled ones whose id is that of another interaction in the window, and `unjudged` ones
    that were left out. `judge_failed`: the judge failed on more than half of a batch, and nothing of it counts. `too_little`: it
    did, or more than half of the records or of the sampled ones cannot be used, in this call or, where that found nothing new, in
    the last one that did. `unread`: files of the log that could not be read at the end. `changes` are the last hundred of
    `change_count`. `flow_runs` and `task_runs`: what Prefect should have recorded; `unrecorded` is why it could not, None where
    it did. `last_record`: when the file of the last new record that this call or an earlier one found was last written to; None
    where that is not known. `left_open`: how many of the last samples, as many as the window holds, the judge failed on;
    `worst_status` is what the status would be if none of these had passed.
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
    shared_ids: int = 0
    unjudged: int = 0
    judge_failed: bool = False
    too_little: bool = False
    worst_status: HealthStatus | None = None
    left_open: int = 0
    unread: tuple[str, ...] = ()
    flow_runs: tuple[str, ...] = ()
    task_runs: int = 0
    unrecorded: str | None = None
    last_record: datetime | None = None

    @property
    def is_silent(self) -> bool:
        """Whether the log has nothing new of the skill in question."""
        return self.read == self.other

    def silence_s(self, now: datetime) -> float | None:
        """For how many seconds the log has had no new record, at `now`; None where that is not known. Negative after a clock that
        was ahead."""
        return None if self.last_record is None else (now - self.last_record).total_seconds()


def summary_line(status: HealthStatus, figures: WindowFigures, read: int, sampled: int, bad: int) -> str:
    """The result in one line."""
    window = f"{figures.size:,} samples in the window"
    if figures.pass_rate is not None:
        window = f"{numbers.rate(figures.pass_rate)} of {window} pass ({numbers.interval(figures.interval)})"
    return f"{status}: {window}; {read:,} records read, {sampled:,} sampled, {bad:,} bad"


class NullObserver:
    """Notified of changes as they happen, and shows nothing: observers derive from it and return quickly, without raising."""

    def changed(self, change: StatusChange) -> None:
        """The announced status has changed."""


observed_monitors = Observed("monitor_observer", NullObserver())
