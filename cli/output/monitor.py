"""What ``monitor`` prints: its changes as they happen, a summary, and the gate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from eval_skills.cli.context import current, print_json
from eval_skills.core.monitoring import SEVERITY
from eval_skills.core.text import plural
from eval_skills.engine.monitor.summary import NullObserver
from eval_skills.reporting import numbers as shown

if TYPE_CHECKING:
    from eval_skills.core.monitoring import HealthStatus, StatusChange, WindowFigures
    from eval_skills.engine.monitor.summary import MonitorSummary

STYLES = {"healthy": "green", "warning": "yellow", "critical": "red", "insufficient_data": "dim"}


class MonitorDisplay(NullObserver):
    """Prints every change on stderr, and remembers the last."""

    last: HealthStatus | None = None

    def changed(self, change: StatusChange) -> None:
        """One line: before, after, and the window's rate."""
        self.last = change.after
        figures = change.figures
        current().remark(f"{change.before} → {change.after}: {_rate(figures)}", style=STYLES[change.after])


@dataclass(frozen=True, slots=True)
class MonitorGate:
    """What a call must reach: a status better than `fail_on`, and a log that was silent for at most `max_silence_s`.

    None asks for nothing.
    """

    fail_on: HealthStatus | None
    max_silence_s: float | None

    @property
    def is_asked(self) -> bool:
        """Whether there is one."""
        return self.fail_on is not None or self.max_silence_s is not None

    def why_not(self, summary: MonitorSummary, now: datetime) -> str | None:
        """Why the gate has not passed at `now`; None where it has. Too little that could be judged passes no gate, nor
        does a log of which a file cannot be read, nor samples without a verdict that leave the status open."""
        if not self.is_asked:
            return None
        if summary.too_little:
            return f"too little could be judged{' when the log last had new records' if summary.is_silent else ''}"
        if summary.unread:
            return f"{summary.unread[0]} cannot be read{_and_more(summary.unread)}"
        if self.max_silence_s is not None and (silence := self._too_silent(summary, now)):
            return silence
        if self.fail_on is None:
            return None
        limit = SEVERITY[self.fail_on]
        is_bad = summary.status == "insufficient_data" or SEVERITY[summary.status] >= limit
        return f"the status is {summary.status}" if is_bad else _left_open(summary, limit)

    def _too_silent(self, summary: MonitorSummary, now: datetime) -> str | None:
        silence, unknown = summary.silence_s(now), "since when the log has had no new record is not known"
        if silence is None or summary.last_record is None or self.max_silence_s is None:
            return unknown
        if silence < -self.max_silence_s:
            return f"{unknown}: the last was noted for {_at(summary.last_record)}, which is to come (a clock was ahead)"
        return f"the log has had no new record for {shown.duration(silence)}" if silence > self.max_silence_s else None

    def __str__(self) -> str:
        asked = [f"--fail-on {self.fail_on}"] if self.fail_on is not None else []
        return " and ".join([*asked, *([f"--max-silence {self.max_silence_s:g}"] if self.max_silence_s is not None else [])])


def _left_open(summary: MonitorSummary, limit: int) -> str | None:
    """That the status may be worse than it is said to be, if samples that could not be judged had not passed."""
    worst = summary.worst_status
    if worst is None or SEVERITY.get(worst, 0) < limit:
        return None
    leave = "leaves" if summary.left_open == 1 else "leave"
    return f"{plural(summary.left_open, 'recent sample')} that could not be judged {leave} open whether the status is {worst}"


def show_monitor(summary: MonitorSummary, gate: MonitorGate, why_not: str | None) -> None:
    """The status, the counts and the gate, which has not passed where there is a `why_not`; or one JSON document."""
    session = current()
    if session.json:
        print_json(_document(summary, gate, why_not))
        return
    for remark in summary.remarks:
        session.remark(remark)
    session.say(f"{summary.status}: {_rate(summary.window)}", style=STYLES[summary.status])
    if summary.announced != summary.status:
        session.say(f"announced is still {summary.announced}, until the rate is well above the threshold", style="dim")
    counts = {"records": summary.read, "sampled": summary.sampled, "bad": summary.bad}
    counts |= {name: count for name, count in _rarer(summary) if count}
    session.say("  ".join(f"{name} {count:,}" for name, count in counts.items()))
    if summary.is_silent:
        session.say(_silence(summary), style="yellow")
    session.say_stored(summary.store, f"monitor {summary.monitor_id}")
    if gate.is_asked:
        verdict, style = ("failed", "red") if why_not else ("passed", "green")
        session.say(f"gate {verdict}: {why_not or f'the status is {summary.status}'}, and {gate}", style=style)


def _rarer(summary: MonitorSummary) -> tuple[tuple[str, int], ...]:
    return ("other skills", summary.other), ("repeated", summary.repeated), ("not judged", summary.unjudged)


def _rate(figures: WindowFigures) -> str:
    if figures.pass_rate is None:
        return "no sample in the window"
    interval = shown.interval(figures.interval)
    return f"{shown.rate(figures.pass_rate)} of {plural(figures.size, 'sample')} in the window pass ({interval})"


def _silence(summary: MonitorSummary) -> str:
    record = "record that can be read" if summary.unread else "record"
    if summary.last_record is None:
        return f"no new {record}"
    silence = (datetime.now(UTC) - summary.last_record).total_seconds()
    ago = f"{shown.duration(silence)} ago" if silence >= 0 else "which is to come: a clock was ahead"
    return f"no new {record} since {_at(summary.last_record)}, {ago}"


def _and_more(files: tuple[str, ...]) -> str:
    return f", nor can {plural(len(files) - 1, 'other file')} of the log" if len(files) > 1 else ""


def _at(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _document(summary: MonitorSummary, gate: MonitorGate, why_not: str | None) -> dict[str, Any]:
    return {
        "monitorId": summary.monitor_id,
        "runId": summary.run_id,
        "log": summary.log,
        "status": summary.status,
        "announced": summary.announced,
        "summary": summary.line,
        "window": _window(summary.window),
        "read": summary.read,
        "bad": summary.bad,
        "otherSkills": summary.other,
        "sampled": summary.sampled,
        "repeated": summary.repeated,
        "sharedIds": summary.shared_ids,
        "unjudged": summary.unjudged,
        "changes": [
            {"before": each.before, "after": each.after, "interactionId": each.interaction_id, "window": _window(each.figures)}
            for each in summary.changes
        ],
        "changeCount": summary.change_count,
        "lastRecord": summary.last_record and summary.last_record.isoformat(),
        "gate": _gate(gate, why_not) if gate.is_asked else None,
        "remarks": summary.remarks,
        "store": summary.store,
        "flowRunPage": current().flow_run_page,
    }


def _gate(gate: MonitorGate, why_not: str | None) -> dict[str, Any]:
    silence = {} if gate.max_silence_s is None else {"maxSilenceS": gate.max_silence_s}
    why = {"whyNot": why_not} if why_not else {}
    return {"failOn": gate.fail_on, **silence, "passed": why_not is None, **why}


def _window(figures: WindowFigures) -> dict[str, Any]:
    return {
        "samples": figures.size,
        "passed": figures.passed,
        "errors": figures.errors,
        "passRate": figures.pass_rate,
        "interval": figures.interval.to_json(),
        "meanScore": figures.mean_score,
    }
