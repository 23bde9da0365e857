"""What Prometheus gets of a store, by a real request."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import UsageError
from eval_skills.core.store import Store, land_rows
from eval_skills.engine.exposition import metrics_served
from eval_skills.engine.monitor.state import MonitorState, WindowSample, state_file, write_state

if TYPE_CHECKING:
    from tests.engine.evaluations import LandedRun

AT = datetime(2026, 11, 20, tzinfo=UTC)
SKILL = {"benchmark": "tasks", "skill": "moody", "version": "1.0.0"}
Scrape = Callable[[], dict[str, float]]


def series(name: str, **labels: str) -> str:
    """A series as the text has it."""
    said = ",".join(f'{label}="{labels[label]}"' for label in sorted(labels))
    return f"{name}{{{said}}}"


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def scrape(tmp_path: Path, told: list[str]) -> Any:
    """The series of a scrape, with their values; the server stays between scrapes."""
    with metrics_served(str(tmp_path / "store"), host="127.0.0.1", port=0, tell=told.append) as address:
        host, _, path = address.removeprefix("http://").partition("/")

        def get() -> dict[str, float]:
            connection = http.client.HTTPConnection(host)
            connection.request("GET", f"/{path}")
            reply = connection.getresponse()
            assert (reply.status, reply.headers["Content-Type"].partition(";")[0]) == (200, "text/plain")
            lines = reply.read().decode().splitlines()
            connection.close()
            found = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
            assert len({name for name, _ in found}) == len(found), "Prometheus refuses a series that comes twice in a scrape"
            return {name: float(value) for name, value in found}

        yield get


def test_an_empty_store_has_no_figures(scrape: Scrape) -> None:
    assert scrape() == {"eval_skills_store_readable": 1}


@pytest.mark.slow
def test_the_last_run_of_each_skill(scrape: Scrape, landed_run: LandedRun) -> None:
    landed_run({"a": "right", "b": "right"}, at=AT)
    assert scrape()[series("eval_skills_completion_ratio", **SKILL)] == 1
    gone = {"status": "error", "passed": False, "score": None, "error_kind": "infra", "latency_ms": None}
    landed_run({"a": "wrong", "b": "right", "c": "x"}, at=AT.replace(day=21), c=gone)
    found = scrape()
    assert found[series("eval_skills_completion_ratio", **SKILL)] == pytest.approx(1 / 3)
    statuses = ("pass", "fail", "error", "timeout")
    assert [found[series("eval_skills_items", **SKILL, status=each)] for each in statuses] == [1, 1, 1, 0]
    errors = {name: value for name, value in found.items() if name.startswith("eval_skills_errors")}
    assert errors == {series("eval_skills_errors", **SKILL, kind="infra"): 1}
    assert found[series("eval_skills_latency_seconds", **SKILL, quantile="0.95")] == 0.01
    began = found[series("eval_skills_run_timestamp_seconds", benchmark="tasks")]
    assert found["eval_skills_run_last_success_timestamp_seconds"] == began


def test_a_run_counts_by_when_it_began_however_late_its_items_are(scrape: Scrape, landed_run: LandedRun) -> None:
    landed_run({"a": "wrong"}, at=AT, started_at=AT.replace(day=25))  # resumed later
    landed_run({"a": "right"}, at=AT.replace(day=21), started_at=AT.replace(day=22))
    found = scrape()
    assert found[series("eval_skills_completion_ratio", **SKILL)] == 1
    assert found[series("eval_skills_run_timestamp_seconds", benchmark="tasks")] == AT.replace(day=21).timestamp()


def test_a_run_without_a_verdict_has_no_completion(scrape: Scrape, landed_run: LandedRun) -> None:
    landed_run({"a": "right"}, at=AT)
    down = {"status": "error", "passed": False, "score": None, "error_kind": "infra"}
    landed_run({"a": "wrong"}, at=AT.replace(day=21), **down)
    found = scrape()
    assert not [name for name in found if name.startswith("eval_skills_completion_ratio")], "a 0 would be a figure"
    assert found[series("eval_skills_items", **SKILL, status="error")] == 1


def test_the_last_night_of_each_suite(scrape: Scrape, store: Store) -> None:
    def night(night_id: str, day: int, **verdicts: str) -> None:
        moment = AT.replace(day=day)
        rows = [
            {"suite": "s", "skill_id": skill, "skill_version": "1", "verdict": verdict, "good": verdict == "healthy"}
            | {"finished_at": moment}
            for skill, verdict in verdicts.items()
        ]
        land_rows(store, "nights", night_id, [{"night_id": night_id, **row} for row in rows])

    night("20261120T000000Z-0000", 20, a="healthy", b="healthy")
    night("20261121T000000Z-0000", 21, a="healthy", b="regression")
    found = scrape()
    assert {name for name in found if "verdict" in name} == {
        'eval_skills_night_verdict{skill="a",suite="s",verdict="healthy",version="1"}',
        'eval_skills_night_verdict{skill="b",suite="s",verdict="regression",version="1"}',
    }
    assert found['eval_skills_night_good{suite="s"}'] == 0
    assert found['eval_skills_night_timestamp_seconds{suite="s"}'] == AT.replace(day=21).timestamp()
    assert found["eval_skills_night_last_success_timestamp_seconds"] == AT.timestamp()


@pytest.mark.slow
def test_versions_side_by_side_have_series_of_their_own(scrape: Scrape, store: Store, landed_run: LandedRun) -> None:
    landed_run({"a": "right", "b": "wrong"}, at=AT, b={"skill_version": "2.0.0"})
    night = {"night_id": "20261120T000000Z-0000", "finished_at": AT}
    steady = night | {"suite": "s", "skill_id": "moody", "verdict": "steady", "good": True}
    failed = night | {"suite": "t", "skill_id": None, "verdict": "failed", "good": False}
    versions = [steady | {"skill_version": each} for each in ("1.0.0", "2.0.0")]
    land_rows(store, "nights", "20261120T000000Z-0000", [*versions, failed])
    found = scrape()
    of_versions = [found[series("eval_skills_completion_ratio", **SKILL | {"version": each})] for each in ("1.0.0", "2.0.0")]
    assert of_versions == [1, 0]
    assert {name for name in found if "verdict" in name} == {
        'eval_skills_night_verdict{skill="moody",suite="s",verdict="steady",version="1.0.0"}',
        'eval_skills_night_verdict{skill="moody",suite="s",verdict="steady",version="2.0.0"}',
        'eval_skills_night_verdict{skill="",suite="t",verdict="failed",version=""}',
    }


def test_the_window_of_each_monitor(scrape: Scrape, store: Store) -> None:
    window = [
        WindowSample(id="1", passed=True),
        WindowSample(id="2", passed=False),
        WindowSample(id="3", passed=False, error=True),
    ]
    state = MonitorState(monitor_id="m", log="/logs/a.jsonl", window=window, announced="critical")
    rows = [{"monitor_id": "m", "interaction_id": str(n), "latency_ms": 100.0 * n, "sampled_at": AT} for n in range(1, 9)]
    land_rows(store, "samples", "20261120T000000Z-0000", rows)
    file = state_file(store, "m")
    file.parent.mkdir(parents=True)
    write_state(file, state)
    found, names = scrape(), 'log="a.jsonl",monitor="m"'
    assert [found[f'eval_skills_monitor_status{{{names},status="{each}"}}'] for each in ("healthy", "critical")] == [0, 1]
    assert [found[f'eval_skills_monitor_samples{{{names},result="{each}"}}'] for each in ("pass", "fail", "error")] == [1, 1, 1]
    assert found[f'eval_skills_monitor_latency_seconds{{{names},quantile="0.99"}}'] == 0.3  # of the window, not of all samples
    assert found[f"eval_skills_monitor_pass_ratio{{{names}}}"] == pytest.approx(1 / 3)
    assert found["eval_skills_monitor_last_success_timestamp_seconds"] == file.stat().st_mtime  # of a state of an earlier version
    write_state(file, state.model_copy(update={"judged_at": AT}))
    found = scrape()
    assert found[f"eval_skills_monitor_timestamp_seconds{{{names}}}"] == AT.timestamp()
    assert found["eval_skills_monitor_last_success_timestamp_seconds"] == AT.timestamp()


def test_the_latencies_of_interactions_that_share_an_id(scrape: Scrape, store: Store) -> None:
    """The window holds the last ones that landed."""
    window = [WindowSample(id="1", passed=True, content=content) for content in "abc"]
    rows = [
        {"monitor_id": "m", "interaction_id": "1", "latency_ms": latency, "sampled_at": AT}
        for latency in (900.0, 0.0, None, 200.0)
    ]
    land_rows(store, "samples", "20261120T000000Z-0000", rows)
    file = state_file(store, "m")
    file.parent.mkdir(parents=True)
    write_state(file, MonitorState(monitor_id="m", log="/logs/a.jsonl", window=window))
    found = scrape()
    latencies = [found[f'eval_skills_monitor_latency_seconds{{log="a.jsonl",monitor="m",quantile="{q}"}}'] for q in (0.5, 0.99)]
    assert latencies == [0, 0.2]


def test_a_store_that_cannot_be_read_is_said_and_not_shown_as_zeros(
    scrape: Scrape, landed_run: LandedRun, store: Store, told: list[str]
) -> None:
    landed_run({"a": "right"}, at=AT)
    [file] = store.layout.root.rglob("reports/**/*.parquet")
    whole = file.read_bytes()
    file.write_bytes(b"broken")
    for _ in range(2):
        assert scrape() == {"eval_skills_store_readable": 0}
    assert len(told) == 1
    file.write_bytes(whole)
    assert scrape()["eval_skills_store_readable"] == 1


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    with metrics_served(str(tmp_path), host="127.0.0.1", port=0, tell=print) as address:
        port = int(address.rpartition(":")[2].partition("/")[0])
        with (
            pytest.raises(UsageError, match=f"--metrics-port {port}: nothing can listen at 127.0.0.1:{port}"),
            metrics_served(str(tmp_path), host="127.0.0.1", port=port, tell=print),
        ):
            pass
