"""A run without Prefect is a run like any other: the same store, retries and verdicts, and it can be stopped."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from eval_skills.core.errors import RunError
from eval_skills.core.models import ItemResult
from eval_skills.core.store import Store, mirror_sqlite
from eval_skills.engine.evaluation.in_process import evaluate_in_process
from eval_skills.engine.evaluation.observer import NullObserver, observed_runs

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan


@pytest.mark.slow
def test_it_lands_like_any_run(make_plan_of: MakePlan) -> None:
    plan = make_plan_of("ok", "wrong", "refuse", runs=2, concurrency=3, timeout_ms=120_000)
    summary = evaluate_in_process(plan)
    [report] = summary.reports
    assert (report.summary.counts.passed, report.summary.counts.fail, report.summary.counts.error) == (2, 2, 2)  # type: ignore[union-attr]
    assert summary.line.startswith("1 skill × 3 tasks × 2 runs: 2 passed, 2 failed, 2 errors in ")
    store = Store(summary.store)
    assert (store.latest_run(), store.unfinished()) == (summary.run_id, [])
    assert sorted(store.items(run_id=summary.run_id)["status"]) == ["error", "error", "fail", "fail", "pass", "pass"]
    assert store.reports()["completion_rate"].tolist() == [pytest.approx(1 / 3)]
    assert store.manifest(summary.run_id).planned_items == 6
    assert mirror_sqlite(store, summary.run_id, plan.store.layout.root / "x.db").exists()


def test_a_run_of_a_night_that_cannot_land_says_the_whole_command_that_goes_on_with_it(
    make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    plan = make_plan_of("ok", timeout_ms=120_000, provenance={"night": "20260101T000000Z-000a", "suite": "s"})
    monkeypatch.setattr(pq.ParquetWriter, "write_batch", full)
    command = f"eval-skills eval --resume {plan.run_id} --store {plan.store.path}"
    with pytest.raises(RunError, match=f"its journal is kept, so continue with: {command}$"):
        evaluate_in_process(plan)


@pytest.mark.slow
def test_transient_trouble_is_tried_again(make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.engine.evaluation.retries.delay_s", lambda attempt: 0.0)
    [report] = evaluate_in_process(make_plan_of("die", retries=2, timeout_ms=120_000)).reports
    [item] = report.task_results
    assert (item.status, item.error_kind, item.attempts) == ("error", "skill", 3)


def test_a_running_loop_is_in_nobodys_way(make_plan_of: MakePlan) -> None:
    async def within() -> float:
        return evaluate_in_process(make_plan_of("ok", timeout_ms=120_000)).reports[0].summary.completion_rate

    assert asyncio.run(within()) == 1


class _Interrupts(NullObserver):
    """Presses Ctrl-C when the first item has ended."""

    def finished(self, result: ItemResult) -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_stopped_by_hand_it_keeps_what_is_done_and_leaves_no_process(make_plan_of: MakePlan) -> None:
    assert threading.current_thread() is threading.main_thread()
    plan = make_plan_of("ok", "hang", concurrency=2, timeout_ms=600_000)
    before = set(_children())
    with observed_runs.by(_Interrupts()), pytest.raises(KeyboardInterrupt):
        evaluate_in_process(plan)
    assert set(_children()) <= before
    assert plan.store.unfinished() == [plan.run_id]
    assert len(plan.store.journal_path(plan.run_id).read_text().splitlines()) == 1


def _children() -> list[str]:
    with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as own:
        return own.read().split()


def test_what_breaks_inside_is_raised_as_it_is(make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval_skills.core.errors import RunError
    from eval_skills.engine.evaluation.session import RunSession

    async def full(*_: Any, **__: Any) -> Any:
        raise RunError("the disk is full")

    monkeypatch.setattr(RunSession, "attempt", full)
    with pytest.raises(RunError, match="the disk is full"):
        evaluate_in_process(make_plan_of("ok", "wrong"))
