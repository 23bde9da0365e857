"""Runs that are going on: how far they are, from the journal as it grows."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.store import Manifest, ManifestBenchmark, ReachedLimit, Store, write_manifest
from eval_skills.core.store.files import RunLock
from eval_skills.viewer.live import LiveRuns, WatchedRun
from eval_skills.viewer.site import Site
from tests.viewer.test_site import data_of

RUN = "20261121T233824Z-3f9a"


def line(task: str, status: str = "pass", ago_s: float = 1.0, **fields: Any) -> str:
    began = datetime.now(UTC) - timedelta(seconds=ago_s)
    known = {"skill_id": "s", "skill_version": "1", "task_id": task, "run_index": 0, "latency_ms": 5.0, "cost_usd": 0.5}
    return json.dumps({**known, "status": status, "started_at": began.isoformat(), **fields}) + "\n"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / RUN
    folder.mkdir(parents=True)
    return folder / "journal.jsonl"


def test_it_is_counted_as_it_grows(tmp_path: Path, journal: Path) -> None:
    watched = WatchedRun(Store(tmp_path), RUN)
    assert watched.progress() is None
    journal.write_text(line("a") + line("b", "fail") + line("c")[:20])
    found = watched.progress()
    assert found is not None
    assert (found.done, found.passed, found.failed, found.errors, found.cost_usd) == (2, 1, 1, 0, 1.0)
    journal.write_text(line("a") + line("b", "fail") + line("c", "error") + line("a", "timeout", cost_usd=None))
    found = watched.progress()
    assert found is not None
    assert (found.done, found.passed, found.failed, found.errors, found.cost_usd) == (3, 0, 1, 2, None)
    assert found.rate == pytest.approx(3, abs=1)
    journal.unlink()
    assert watched.progress() is None


def test_a_run_that_stopped_at_a_limit_says_which(tmp_path: Path, journal: Path) -> None:
    stopped = ReachedLimit(limit="cost", allowed=1.0, spent=1.5)
    benchmark = ManifestBenchmark(id="sums", version="1.0.0")
    write_manifest(
        journal.parent,
        Manifest(run_id=RUN, created_at=datetime.now(UTC), benchmark=benchmark, skills=[], planned_items=3, stopped=stopped),
    )
    journal.write_text(line("a"))
    (found,) = LiveRuns(Store(tmp_path)).progress()
    assert (found.planned, found.is_running, found.stopped) == (3, False, "cost limit")


def test_the_cost_so_far_is_that_of_all_attempts(tmp_path: Path, journal: Path) -> None:
    journal.write_text(line("a", attempts=[{"cost_usd": 0.25}, {"cost_usd": 0.5}]))
    found = WatchedRun(Store(tmp_path), RUN).progress()
    assert found is not None
    assert found.cost_usd == 0.75


def test_an_old_item_is_no_rate_and_damage_hides_nothing(tmp_path: Path, journal: Path) -> None:
    journal.write_text(line("a", ago_s=3600) + "nonsense\n" + line("b", started_at="yesterday") + line("c", ago_s=3000))
    found = WatchedRun(Store(tmp_path), RUN).progress()
    assert found is not None
    assert (found.done, found.rate, found.left_s, found.planned) == (2, None, None, None)


@pytest.mark.parametrize(
    "owner",
    [
        pytest.param(str(os.getpid()), id="a-process-that-does-not-hold-it"),
        pytest.param("999999999", id="a-process-that-is-gone"),
        pytest.param("", id="nobody-yet"),
        pytest.param(None, id="no-lock"),
    ],
)
def test_a_lock_that_nobody_holds_says_nothing(tmp_path: Path, journal: Path, owner: str | None) -> None:
    journal.write_text(line("a"))
    if owner is not None:
        journal.with_suffix(".lock").write_text(owner)
    (found,) = LiveRuns(Store(tmp_path)).progress()
    assert not found.is_running


def test_who_holds_the_lock_writes_also_in_another_container(tmp_path: Path, journal: Path) -> None:
    journal.write_text(line("a"))
    with RunLock(journal):
        journal.with_suffix(".lock").write_text("999999999")  # where the process has this id
        (found,) = LiveRuns(Store(tmp_path)).progress()
    assert found.is_running


async def test_browsers_are_told_of_changes_alone(tmp_path: Path, journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.viewer.live.EVERY_S", 0.01)
    journal.write_text(line("a", ago_s=3600))
    events = LiveRuns(Store(tmp_path)).events(lambda: False)
    first, second = [await anext(events) for _ in range(2)]
    assert json.loads(first.removeprefix(b"data: "))[0]["done"] == 1
    assert second.startswith(b":")
    (journal.parent.parent / "stray").mkdir()
    (journal.parent.parent / "stray" / "journal.jsonl").write_text("")
    journal.unlink()
    assert json.loads((await anext(events)).removeprefix(b"data: ")) == []
    await events.aclose()  # type: ignore[attr-defined]


def test_a_run_without_an_item_has_a_page(tmp_path: Path, journal: Path) -> None:
    journal.touch()
    assert "No item of this run has ended yet" in Site(Store(tmp_path)).page(f"run-{RUN}.html")


def test_the_list_of_runs_says_which_are_running(tmp_path: Path, journal: Path) -> None:
    benchmark = ManifestBenchmark(id="sums", version="1.0.0")
    began = datetime(2026, 11, 21, 23, 38, 24, tzinfo=UTC)
    fields: dict[str, Any] = {"request": {}, "skills": [], "versions": {}, "planned_items": 4}
    write_manifest(journal.parent, Manifest(run_id=RUN, created_at=began, benchmark=benchmark, **fields))
    journal.write_text(line("a"))
    states = []
    for held in (RunLock(journal), nullcontext()):
        with held:
            page = Site(Store(tmp_path)).page("index.html")
        (table,) = data_of(page)["tables"]
        place = [column["title"] for column in table["columns"]].index("State")
        states.append([row[place] for row in table["rows"]])
    assert states == [["running"], ["unfinished"]]
