"""What ``monitor`` prints: its changes as they happen, a summary, and the gate."""

from __future__ import annotations

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


def monitor_gate_passed(summary: MonitorSummary, fail_on: str | None) -> bool:
    """Whether the status is better than `fail_on`, and most of what was read could be judged; without one the gate is open."""
    if fail_on is None:
        return True
    if summary.judge_failed or summary.mostly_bad:
        return False
    limit = {"warning": 1, "critical": 2}[fail_on]
    return summary.status != "insufficient_data" and SEVERITY[summary.status] < limit


def show_monitor(summary: MonitorSummary, fail_on: str | None, passed: bool) -> None:
    """The status, the counts and the gate; or one JSON document."""
    session = current()
    if session.json:
        print_json(_document(summary, fail_on, passed))
        return
    for remark in summary.remarks:
        session.remark(remark)
    session.say(f"{summary.status}: {_rate(summary.window)}", style=STYLES[summary.status])
    if summary.announced != summary.status:
        session.say(f"announced is still {summary.announced}, until the rate is well above the threshold", style="dim")
    counts = {"records": summary.read, "sampled": summary.sampled, "bad": summary.bad}
    counts |= {name: count for name, count in _rarer(summary) if count}
    session.say("  ".join(f"{name} {count:,}" for name, count in counts.items()))
    session.say_stored(summary.store, f"monitor {summary.monitor_id}")
    if fail_on is not None:
        verdict = "passed" if passed else "failed"
        why = "too little could be judged" if summary.judge_failed or summary.mostly_bad else f"the status is {summary.status}"
        session.say(f"gate {verdict}: {why}, and --fail-on {fail_on}", style="green" if passed else "red")


def _rarer(summary: MonitorSummary) -> tuple[tuple[str, int], ...]:
    return ("other skills", summary.other), ("repeated", summary.repeated), ("not judged", summary.unjudged)


def _rate(figures: WindowFigures) -> str:

    if figures.pass_rate is None:
        return "no sample in the window"
    interval = shown.interval(figures.interval)
    return f"{shown.rate(figures.pass_rate)} of {plural(figures.size, 'sample')} in the window pass ({interval})"


def _document(summary: MonitorSummary, fail_on: str | None, passed: bool) -> dict[str, Any]:
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
        "gate": {"failOn": fail_on, "passed": passed} if fail_on else None,
        "remarks": summary.remarks,
        "store": summary.store,
        "flowRunPage": current().flow_run_page,
    }


def _window(figures: WindowFigures) -> dict[str, Any]:
    return {
        "samples": figures.size,
        "passed": figures.passed,
        "errors": figures.errors,
        "passRate": figures.pass_rate,
        "interval": figures.interval.to_json(),
        "meanScore": figures.mean_score,
    }
