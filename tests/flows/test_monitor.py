"""The monitor as a flow: what Prefect shows of it, and the event when the health changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.monitoring import StatusChange
from eval_skills.core.store import Store
from eval_skills.engine.monitor.request import MonitorRequest
from eval_skills.engine.monitor.summary import NullObserver, observed_monitors
from eval_skills.flows import monitor

pytestmark = pytest.mark.usefixtures("prefect_url")


def log_of(tmp_path: Path, good: int, bad: int) -> Path:
    log = tmp_path / "app.jsonl"
    answers = ["ok"] * good + ["no"] * bad
    log.write_text("".join(json.dumps({"id": n, "output": answer, "expected": "ok"}) + "\n" for n, answer in enumerate(answers)))
    return log


def test_a_flow_run_with_a_task_run_per_batch_and_an_event_per_change(
    tmp_path: Path, ask: Callable[..., Any], sent_events: list[Any]
) -> None:
    seen: list[StatusChange] = []

    class Watcher(NullObserver):
        def changed(self, change: StatusChange) -> None:
            seen.append(change)

    log = log_of(tmp_path, 60, 40)
    with observed_monitors.by(Watcher()):
        summary = monitor(MonitorRequest(log=str(log), rate=1.0, store=str(tmp_path / "store")))
    assert [(each.payload["before"], each.payload["after"]) for each in sent_events] == [
        ("insufficient_data", "healthy"), ("healthy", "warning"), ("warning", "critical"),
    ]  # fmt: skip
    assert [each.after for each in seen] == [each.payload["after"] for each in sent_events]
    assert {each.event for each in sent_events} == {"eval-skills.monitor-status"}
    assert sent_events[0].resource["prefect.resource.id"] == f"eval-skills.monitor.{summary.monitor_id}"
    [flow_run] = ask("flow_runs/filter", flow_runs={"id": {"any_": list(summary.flow_runs)}})
    assert (flow_run["state_name"], flow_run["state"]["message"]) == ("Completed", summary.line)
    assert flow_run["name"] == f"app.jsonl · {summary.run_id}"
    assert (summary.status, summary.sampled, summary.task_runs) == ("critical", 100, 1)
    assert len(Store(tmp_path / "store").samples()) == 100


def test_changes_that_interactions_of_one_id_caused_are_events_of_their_own(tmp_path: Path, sent_events: list[Any]) -> None:
    log = tmp_path / "app.jsonl"
    answers = ["ok", "no", "ok", "nope"]
    records = ({"id": 1, "input": n, "output": answer, "expected": "ok"} for n, answer in enumerate(answers))
    log.write_text("".join(json.dumps(each) + "\n" for each in records))
    monitor(MonitorRequest(log=str(log), rate=1.0, window=1, min_sample=1, store=str(tmp_path / "store")))
    assert [each.payload["after"] for each in sent_events] == ["healthy", "critical", "healthy", "critical"]
    assert len({each.id for each in sent_events}) == 4


def test_p40_a_log_of_nothing_usable_fails_the_flow(tmp_path: Path) -> None:
    log = tmp_path / "app.jsonl"
    log.write_text("broken\n")
    with pytest.raises(InputError, match="none of 1 records can be used"):
        monitor(MonitorRequest(log=str(log), store=str(tmp_path / "store")))
