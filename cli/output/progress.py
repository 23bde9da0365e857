"""The live display of a run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from eval_skills.cli.context import current, printable
from eval_skills.core.models import ItemResult
from eval_skills.core.models.result import STATUSES
from eval_skills.core.rate_limits.services import Throttled
from eval_skills.core.text import plural
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.evaluation.rounds import batch_words
from eval_skills.reporting.stopping import of_store

PLAIN_PERIOD_S = 5.0

MANY_ITEMS = 10_000
"""So many take a while to land and to report, and a line says so."""


def waiting_text(skill: str, waited_s: float, asked_s: float) -> str:
    """``a@1.0.0 waits 120 s: its service asked for 3,600 s, at most 120 s are waited``."""
    capped = f", at most {waited_s:,.0f} s are waited" if asked_s > waited_s else ""
    return f"{skill} waits {waited_s:,.0f} s: its service asked for {asked_s:,.0f} s{capped}"


def paused_text(in_flight: int, until: datetime | None) -> str:
    """``paused in Prefect; 4 items in flight finish; resume it there before 14:05:10``."""
    deadline = f" before {until.astimezone():%H:%M:%S}" if until else ""
    return f"paused in Prefect; {plural(in_flight, 'item')} in flight finish{'es' * (in_flight == 1)}; resume it there{deadline}"


RESUMED = "resumed in Prefect"


class RunsAnnounced(NullObserver):
    """Prints a line for every evaluation of a replay when it starts."""

    def __init__(self) -> None:
        self._throttled_by = set[str]()

    def planned(self, plan: RunPlan) -> None:
        """A revision is evaluated, or its evaluation is resumed."""
        commit = str(plan.request.provenance.get("commit", ""))[:12]
        current().remark(f"run {plan.run_id}: {plan.planned} items of commit {commit}, {plan.finished} of them done", style="")

    def waiting(self, skill: str, waited_s: float, asked_s: float) -> None:
        """A skill's service asked us to wait."""
        current().remark(waiting_text(skill, waited_s, asked_s), style="")

    def throttled(self, throttled: Throttled) -> None:
        """A service refused a request because there were too many."""
        if throttled.service not in self._throttled_by:
            self._throttled_by.add(throttled.service)
            current().remark(printable(str(throttled)), style="")

    def unbounded(self, warning: str) -> None:
        """A limit does not hold what is not reported."""
        current().remark(printable(warning))

    def paused(self, in_flight: int, until: datetime | None) -> None:
        """The flow run is paused."""
        current().remark(paused_text(in_flight, until), style="")

    def resumed(self) -> None:
        """It goes on."""
        current().remark(RESUMED, style="")


class LiveDisplay(NullObserver):
    """Shows done, passed, failed, errors and the time left; called from the flow's thread and from its event loop."""

    def __init__(self, console: Console, *, of_a_night: bool = False) -> None:
        self._console, self._lock, self._of_a_night = console, Lock(), of_a_night
        self._counts: Counter[str] = Counter()
        self._throttled_by = set[str]()
        self._waiting, self._waiting_until = "", 0.0
        self._plan: RunPlan | None = None
        self._flow_run: str | None = None
        self._shown_at = self.began = monotonic()
        self.report_files: Sequence[Path] = ()
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._row = self._bar.add_task("starting Prefect …", total=None)

    @property
    def run_id(self) -> str | None:
        """The run that is shown, or the night that it belongs to; None before it is planned."""
        if self._plan is None:
            return None
        return str(self._plan.request.provenance["night"]) if self._of_a_night else self._plan.run_id

    @property
    def doing(self) -> str:
        """What stands beside the bar."""
        return self._bar.tasks[0].description

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def recorded(self, flow_run: str) -> None:
        """The line about the run says where its page is."""
        self._flow_run = flow_run

    def planned(self, plan: RunPlan) -> None:
        """The run begins, or goes on."""
        with self._lock:
            self._plan, self._counts = plan, Counter()
        place = current().page_of(self._flow_run) or current().recorded
        recorded = (
            f", recorded{batch_words(plan)} {place if place.startswith(('at ', 'by ')) else f'at {place}'}" if place else ""
        )
        self._console.print(f"run {plan.run_id}: {plan.line}{recorded}", soft_wrap=True, highlight=False)
        self._bar.update(self._row, total=plan.planned, completed=plan.finished, description="")

    def retrying(self, item: str, reason: str) -> None:
        """An item failed with a transient error and will be tried again."""
        with self._lock:
            self._counts["retries"] += 1

    def waiting(self, skill: str, waited_s: float, asked_s: float) -> None:
        """A skill's service asked us to wait."""
        self._console.print(printable(waiting_text(skill, waited_s, asked_s)), markup=False, soft_wrap=True)

    def throttled(self, throttled: Throttled) -> None:
        """A service refused a request because there were too many: it stands beside the bar as long as the service is waited for.

        Where there is no bar, it is a line of its own, once for each service.
        """
        with self._lock:
            is_new = throttled.service not in self._throttled_by
            self._throttled_by.add(throttled.service)
            self._waiting, self._waiting_until = printable(str(throttled)), monotonic() + throttled.wait_s
            self._bar.update(self._row, description=self._waiting)
        if is_new and not self._console.is_terminal:
            self._console.print(printable(str(throttled)), markup=False, soft_wrap=True)

    def unbounded(self, warning: str) -> None:
        """A limit does not hold what is not reported."""
        self._console.print(printable(warning), style="yellow", markup=False, soft_wrap=True)

    def unbegun(self, warning: str) -> None:
        """A deployment has not begun yet."""
        self.unbounded(warning)

    def paused(self, in_flight: int, until: datetime | None) -> None:
        """The flow run is paused in Prefect."""
        self._console.print(paused_text(in_flight, until), soft_wrap=True)
        self._bar.update(self._row, description="paused in Prefect")

    def resumed(self) -> None:
        """It goes on."""
        self._console.print(RESUMED)
        self._bar.update(self._row, description=self._line())

    def finished(self, result: ItemResult) -> None:
        """An item has its final result."""
        with self._lock:
            self._counts[result.status] += 1
            waits = monotonic() < self._waiting_until
            self._bar.update(self._row, advance=1, description=self._waiting if waits else self._line())
            if not self._console.is_terminal and monotonic() - self._shown_at >= PLAIN_PERIOD_S:
                self._shown_at = monotonic()
                self._console.print(
                    f"{self._done()}/{self._plan.planned if self._plan else '?'} done{self._before()} {self._line()}"
                )

    def landing(self, plan: RunPlan) -> None:
        """All items are done."""
        self._bar.update(self._row, description=f"landing {plural(plan.planned, 'item')} in the store …")
        if plan.planned >= MANY_ITEMS:
            self._console.print(f"all {plan.planned:,} items are done; landing them and making the reports …", soft_wrap=True)

    def computing(self, plan: RunPlan) -> None:
        """They have landed."""
        self._bar.update(self._row, description=f"computing the figures of {plural(len(plan.skills), 'skill')} …")

    def reporting(self, formats: Sequence[str]) -> None:
        """The figures are computed."""
        self._bar.update(self._row, description=f"writing reports: {', '.join(formats)} …")

    def reported(self, files: Sequence[Path]) -> None:
        """The reports of the whole run are written."""
        self.report_files = files
        self._bar.update(self._row, description="finishing in Prefect …")

    def interrupted(self, command: str) -> str:
        """What to say after Ctrl-C; `command` is the one that goes on."""
        if self._plan is None:
            return "interrupted before the run began; nothing was written"
        of = f" of suite {self._plan.request.provenance.get('suite')}" if self._of_a_night else ""
        done = f"interrupted after {self._done()} of {plural(self._plan.planned, 'item')}{of}"
        return f"{done}; continue with: eval-skills {command} --resume {self.run_id}{of_store(self._plan.request.store)}"

    def _done(self) -> int:
        before = self._plan.finished if self._plan else 0
        return before + sum(self._counts[status] for status in STATUSES)

    def _before(self) -> str:
        """Of a resumed run only what came since is counted by status."""
        before = self._plan.finished if self._plan else 0
        return f", {before:,} of them before; since then" if before else ":"

    def _line(self) -> str:
        counts = self._counts
        text = f"{counts['pass']} passed, {counts['fail']} failed, {plural(counts['error'] + counts['timeout'], 'error')}"
        return f"{text}, {counts['retries']} retries" if counts["retries"] else text
