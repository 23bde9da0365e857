"""A task runner leaves nothing behind: what runs is stopped, what it holds is left, its loop is closed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from prefect import flow, task
from prefect.context import FlowRunContext

from eval_skills.tasks.runner import EventLoopTaskRunner

pytestmark = pytest.mark.usefixtures("prefect_url")


def test_an_exception_in_the_flow_cancels_what_runs_and_lets_it_clean_up() -> None:
    started, cleaned = threading.Event(), threading.Event()

    @task
    async def work() -> None:
        started.set()
        try:
            await asyncio.sleep(600)
        finally:
            await asyncio.sleep(0.05)
            cleaned.set()

    @flow(task_runner=EventLoopTaskRunner())
    def breaks() -> None:
        work.submit()
        assert started.wait(60)
        raise LookupError("the flow itself")

    began = time.monotonic()
    with pytest.raises(LookupError, match="the flow itself"):
        breaks()
    assert cleaned.is_set()
    assert time.monotonic() - began < 60


def test_p54_a_ctrl_c_inside_submit_loses_no_task_run(monkeypatch: pytest.MonkeyPatch) -> None:
    started, cleaned = threading.Event(), threading.Event()

    @task
    async def work() -> None:
        started.set()
        try:
            await asyncio.sleep(600)
        finally:
            cleaned.set()

    class InterruptedSet(set[Any]):
        """Ctrl-C arrives when the loop has the task run and the runner has not noted its future yet."""

        def add(self, _: Any) -> None:
            assert started.wait(60)
            raise KeyboardInterrupt

    @flow(task_runner=EventLoopTaskRunner())
    def interrupted() -> None:
        context = FlowRunContext.get()
        assert context is not None
        monkeypatch.setattr(context.task_runner, "_pending", InterruptedSet())
        work.submit()

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert cleaned.is_set()


def test_p19_holding_leaves_a_resource_in_the_task_that_entered_it() -> None:
    left: list[str] = []

    @asynccontextmanager
    async def scoped() -> AsyncIterator[str]:
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep_forever)
            yield "held"
            group.cancel_scope.cancel()
        left.append("in order")

    with EventLoopTaskRunner() as runner, runner.holding(scoped()) as value:
        assert value == "held"
        assert not left
    assert left == ["in order"]


def test_holding_stops_what_still_runs_before_it_leaves_the_resource() -> None:
    order: list[str] = []

    @asynccontextmanager
    async def resource() -> AsyncIterator[threading.Event]:
        yield threading.Event()
        order.append("left")

    @task
    async def work(started: threading.Event) -> None:
        started.set()
        try:
            await asyncio.sleep(600)
        finally:
            order.append("stopped")

    with EventLoopTaskRunner() as runner, runner.holding(resource()) as started:
        runner.submit(work, {"started": started})
        assert started.wait(60)
    assert order == ["stopped", "left"]


def test_what_entering_a_held_resource_raises_reaches_the_flow() -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[None]:
        raise OSError("no such thing")
        yield

    with EventLoopTaskRunner() as runner, pytest.raises(OSError, match="no such thing"), runner.holding(broken()):
        pass


def test_leaving_ends_the_thread_and_closes_the_loop() -> None:
    with EventLoopTaskRunner() as runner:
        loop, thread = runner._loop, runner._thread
        assert thread is not None
        assert thread.is_alive()
    assert loop is not None
    assert loop.is_closed()
    assert not thread.is_alive()
