"""`prefect=True`: the flow runs with functions of this process, silently, and leaves Prefect's settings as they were."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import eval_skills as es

pytestmark = pytest.mark.xdist_group("prefect")

TASKS = [{"id": "a", "input": "x", "expected": "X"}, {"id": "b", "input": "y", "expected": "Z"}]


def upper(text: str) -> str:
    return text.upper()


def same(output: str, expected: str) -> bool:
    return output == expected


async def slowly(text: str) -> str:
    await asyncio.sleep(0)
    return text.upper()


def test_the_flow_gives_the_same_result(
    prefect_url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], ask: Callable[..., Any]
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect_url)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # where nothing is; a proxy does not lead to this machine
    before = dict(os.environ)
    result = es.evaluate([upper, slowly], TASKS, prefect=True, runs=2)
    assert [report.summary.completion_rate for report in result.reports] == [0.5, 0.5]
    assert (result.store, dict(os.environ)) == (None, before)
    assert capfd.readouterr() == ("", "")
    task_runs = {item.task_run_id for item in result.items}
    assert len(task_runs) == 8
    assert None not in task_runs

    async def notebook() -> list[float]:
        blocking = es.evaluate(upper, TASKS, prefect=True, items_per_task=2, evaluator=same)
        return [blocking.completion, (await es.aevaluate(slowly, TASKS, prefect=True)).completion]

    assert asyncio.run(notebook()) == [0.5, 0.5]
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_call_that_hangs_in_a_thread_of_asyncio_holds_up_nobody(prefect_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect_url)
    release, returned = threading.Event(), threading.Event()

    def hang() -> None:
        release.wait(60)
        returned.set()

    async def hangs(_: str) -> None:
        await asyncio.to_thread(hang)

    try:
        (item, _) = es.evaluate(hangs, TASKS, prefect=True, timeout_ms=50).items
        assert (item.status, returned.is_set()) == ("timeout", False)
    finally:
        release.set()


def test_a_run_that_stops_early_says_so(prefect_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect_url)
    result = es.evaluate({"wrong": lambda _: 0}, TASKS, prefect=True, fail_fast=True, concurrency=1)
    assert [remark for remark in result.remarks if remark == "the run stopped early: 1 of 2 items"]


def test_a_run_goes_on_with_prefect_and_without(prefect_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect_url)

    def evaluate(**options: Any) -> es.EvaluationResult:
        return es.evaluate(upper, TASKS, store=tmp_path, evaluator=same, **options)

    first = evaluate(prefect=True, max_duration_s=1e-6)
    assert (first.stopped or "").startswith("stopped at max_duration_s 1e-06: ")
    assert evaluate(resume="latest").stopped
    whole = evaluate(prefect=True, resume="latest", max_duration_s=None)
    assert (whole.run_id, whole.completion, len(whole.items)) == (first.run_id, 0.5, 2)
    assert {item.task_run_id for item in evaluate(resume=whole.run_id).items} == {item.task_run_id for item in whole.items}
