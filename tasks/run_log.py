"""What the log of a flow run says, which Prefect's UI shows beside its task runs.

Much of it is text of others: every line is one line of bounded length, without the secrets of the run, and steers no terminal.
There are at most some hundreds of them, however many items a run has.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from shlex import quote
from threading import Lock
from time import monotonic

from prefect.logging import get_run_logger

from eval_skills.core.models import ItemResult
from eval_skills.core.models.result import STATUSES
from eval_skills.core.rate_limits.services import Throttled
from eval_skills.core.redaction import Redaction
from eval_skills.core.text import first_of, one_line, plural
from eval_skills.core.viewer_pages import link_to, run_page
from eval_skills.engine.evaluation.observer import NullObserver, observed_runs
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.evaluation.rounds import batch_words
from eval_skills.engine.evaluation.summary import RunSummary, gate_lines, stopped_early
from eval_skills.reporting import numbers, ranked
from eval_skills.reporting.escape import visible_line
from eval_skills.reporting.ranking import completion_text
from eval_skills.reporting.sections import forbidden_tool_alerts

MAX_LINES = 100
"""So many items that did not pass have a line each, and so many retries, skills, verdicts; of more, one line says how many."""

MAX_NAMED = 20
LINE_CHARS = 300
PROGRESS_STEPS = 10


class FlowRunLog:
    """The log of the current flow run, or `logger`; what `redaction` knows is in none of its lines."""

    def __init__(self, redaction: Redaction | None = None, logger: logging.Logger | None = None) -> None:
        self._logger = logger or get_run_logger()
        self.redaction = redaction or Redaction(None)

    def say(self, text: str, level: int = logging.INFO) -> None:
        """Write one line."""
        # secrets first: what is cut or made visible may not be found any more
        self._logger.log(level, "%s", one_line(visible_line(self.redaction.text(text)), LINE_CHARS))

    def say_all(self, lines: Sequence[str], noun: str, level: int = logging.INFO) -> None:
        """Write these lines, at most `MAX_LINES`; the last one says how many of what `noun` names are left out."""
        for text in lines[:MAX_LINES]:
            self.say(text, level)
        if (more := len(lines) - MAX_LINES) > 0:
            self.say(f"And {plural(more, f'more {noun}')}", level)


class RunLog(NullObserver):
    """Writes the course of an evaluation into `log`, and passes on to `observer` what it is notified of."""

    def __init__(self, log: FlowRunLog, observer: NullObserver) -> None:
        self._log, self._observer, self._lock = log, observer, Lock()
        self._counts: Counter[str] = Counter()
        self._plan: RunPlan | None = None
        self._before = self._total = self._step = self._missed = 0
        self._began = monotonic()

    def recorded(self, flow_run: str) -> None:
        """It is the flow run whose log this is."""
        self._observer.recorded(flow_run)

    def planned(self, plan: RunPlan) -> None:
        """What is to be done, in which way, and what is remarkable about it."""
        self._plan, self._log.redaction = plan, Redaction(plan.secrets())
        self._before, self._total, self._began = plan.finished, max(plan.planned, 1), monotonic()
        self._step = PROGRESS_STEPS * self._before // self._total
        self._log.say(f"Run {plan.run_id} on {plan.benchmark.id}@{plan.benchmark.version}: {plan.line}; {_mode(plan)}")
        self._log.say(f"Skills: {first_of(list(plan.skills), MAX_NAMED)}")
        self._log.say_all(plan.remarks, "remark", logging.WARNING)
        self._observer.planned(plan)

    def retrying(self, item: str, reason: str) -> None:
        """An item had a transient error and will be tried again."""
        if self._counted("retries") <= MAX_LINES:
            self._log.say(f"{item} is tried again: {reason}")
        self._observer.retrying(item, reason)

    def waiting(self, skill: str, waited_s: float, asked_s: float) -> None:
        """A service asked to be left alone for a while."""
        self._log.say(f"{skill} waits {waited_s:,.0f} s: its service asked for {asked_s:,.0f} s", logging.WARNING)
        self._observer.waiting(skill, waited_s, asked_s)

    def throttled(self, throttled: Throttled) -> None:
        """A service refused a request because there were too many; one line for each service."""
        if self._counted(f"throttled by {throttled.service}") == 1:
            self._log.say(str(throttled), logging.WARNING)
        self._observer.throttled(throttled)

    def unbounded(self, warning: str) -> None:
        """A limit of the run does not bound what a skill does not say."""
        self._log.say(warning, logging.WARNING)
        self._observer.unbounded(warning)

    def unbegun(self, warning: str) -> None:
        """A deployment has not begun yet."""
        self._log.say(warning, logging.WARNING)
        self._observer.unbegun(warning)

    def paused(self, in_flight: int, until: datetime | None) -> None:
        """What notices the pause writes it down."""
        self._observer.paused(in_flight, until)

    def resumed(self) -> None:
        """The same."""
        self._observer.resumed()

    def finished(self, result: ItemResult) -> None:
        """A line for every item that did not pass, and for every tenth of all."""
        self._counted(result.status)
        if not result.passed and self._counted("not passed") <= MAX_LINES:
            self._log.say(_of_item(result), logging.WARNING if result.status == "fail" else logging.ERROR)
        if (line := self._progress()) is not None:
            self._log.say(line)
        self._observer.finished(result)

    def landing(self, plan: RunPlan) -> None:
        """All items are done."""
        self.end_items()
        self._observer.landing(plan)

    def computing(self, plan: RunPlan) -> None:
        """They are rows of the store."""
        where = f"; {link}" if (link := link_to(run_page(plan.run_id))) else ""
        self._log.say(f"Landed {plural(plan.planned, 'row')} in the store {plan.store.path}, run {plan.run_id}{where}")
        self._observer.computing(plan)

    def reporting(self, formats: Sequence[str]) -> None:
        """Reports are written now."""
        self._observer.reporting(formats)

    def reported(self, files: Sequence[Path]) -> None:
        """They are written."""
        self._log.say(f"Reports: {first_of(list(map(str, files)), MAX_NAMED)}")
        self._observer.reported(files)

    def end_items(self) -> None:
        """Say how many items, and how many retries, had no line of their own; once."""
        for name, what in (("not passed", "did not pass"), ("retries", "were tried again")):
            if (more := self._counts.pop(name, 0) - MAX_LINES) > 0:
                self._log.say(f"And {plural(more, 'item')} more {what}; {self._where()}", logging.WARNING)

    def _where(self) -> str:
        if self._plan is None:
            return "see its report"
        return f"one of them whole: eval-skills show {self._plan.run_id} SKILL TASK --store {quote(self._plan.store.path)}"

    def _counted(self, name: str) -> int:
        with self._lock:
            self._counts[name] += 1
            return self._counts[name]

    def _progress(self) -> str | None:
        with self._lock:
            done = self._before + sum(self._counts[each] for each in STATUSES)
            step = PROGRESS_STEPS * done // self._total
            if step <= self._step:
                return None
            self._step = step
        failed, errors = self._counts["fail"], self._counts["error"] + self._counts["timeout"]
        return (
            f"{100 * done // self._total} %: {done:,} of {plural(self._total, 'item')} done, {failed:,} failed, "
            f"{plural(errors, 'error')}, {monotonic() - self._began:,.0f} s"
        )


@contextmanager
def logged_run() -> Iterator[FlowRunLog]:
    """The log of the current flow run; inside, it also has what the observer of an evaluation is notified of."""
    log = FlowRunLog()
    observer = RunLog(log, observed_runs.observer)
    with observed_runs.by(observer):
        try:
            yield log
        finally:
            observer.end_items()


def _mode(plan: RunPlan) -> str:
    request = plan.request
    if not plan.calls_skills:
        return "recorded runs are judged, and no skill is called"
    origin = {"confirm": ", fresh runs for a night", "replay": ", a revision of the past"}.get(request.origin, "")
    return f"{plural(request.concurrency, 'item')} at a time{batch_words(plan)}, {plural(request.retries, 'retry')} each{origin}"


_WORDS = {"fail": "failed", "error": "ended in an error", "timeout": "timed out"}


def _of_item(result: ItemResult) -> str:
    reasons = result.error_message or "; ".join(reason.text for reason in result.reasons[:3]) or "no reason is known"
    item = f"{result.skill_key}/{result.task_id}#{result.run_index + 1}"
    return f"{item} {_WORDS.get(result.status, result.status)}: {reasons}"


def log_conclusion(log: FlowRunLog, summary: RunSummary) -> None:
    """The rate of every skill, what was decided, and whether the gate passed, where there is one."""
    log.say_all(_rates(summary), "skill")
    log.say_all([f"Verdict: {decision.line}" for decision in summary.decisions], "verdict")
    alerts = forbidden_tool_alerts(ranked(summary.reports))
    log.say_all([f"FORBIDDEN TOOL: {alert.line}" for alert in alerts], "alert", logging.ERROR)
    if summary.is_partial:
        log.say(stopped_early(summary, "eval"), logging.WARNING)
    elif summary.gated:
        log.say_all(gate_lines(summary), "line", logging.INFO if summary.gate_passed else logging.ERROR)


def _rates(summary: RunSummary) -> list[str]:
    return [
        f"{report.skill_key}: {completion_text(report)} completion "
        f"({numbers.interval(report.summary.known_interval)}), errors {numbers.rate(report.summary.error_rate)}"
        for report in ranked(summary.reports)
    ]
