"""A run while it works: adapters opened once, attempts kept, results journalled."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.core.errors import RunError, SkillUnavailable
from eval_skills.core.models import Attempt, ItemResult
from eval_skills.core.store import Journal
from eval_skills.engine.evaluation.execution import Outcome, no_answer
from eval_skills.engine.evaluation.executor import LocalExecutor
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.session import MAX_RETRY_AFTER_S, RunRef, RunSession

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan

OpenRun = Callable[..., RunSession]
UNUSED = "http://127.0.0.1:{port}/"


class Busy(LocalExecutor):
    """A place where every skill's service asks for another attempt after `asked_s` seconds."""

    def __init__(self, plan: RunPlan, asked_s: float) -> None:
        super().__init__(plan)
        self.plan, self.asked_s = plan, asked_s

    async def execute(self, item: Item, earlier: Sequence[Attempt]) -> Outcome:
        trouble = SkillUnavailable("HTTP 429", retry_after_s=self.asked_s)
        return no_answer(item, self.plan, trouble, datetime.now(UTC), 1.0, earlier)


class Watcher(NullObserver):
    def __init__(self) -> None:
        self.retried: list[str] = []
        self.results: list[ItemResult] = []
        self.waits: list[tuple[str, float, float]] = []

    def retrying(self, item: str, reason: str) -> None:
        self.retried.append(item)

    def waiting(self, skill: str, waited_s: float, asked_s: float) -> None:
        self.waits.append((skill, waited_s, asked_s))

    def finished(self, result: ItemResult) -> None:
        self.results.append(result)


def journal(plan: RunPlan) -> list[dict[str, Any]]:
    return [json.loads(line) for line in plan.store.journal_path(plan.run_id).read_text().splitlines()]


class TestFinding:
    async def test_an_open_run_is_found_by_its_reference_and_a_closed_one_is_not(
        self, make_plan_of: MakePlan, open_run: OpenRun
    ) -> None:
        plan = make_plan_of()
        async with open_run(plan) as session:
            assert RunSession.of(RunRef(plan.run_id)) is session
        with pytest.raises(RunError, match="not open in this process"):
            RunSession.of(RunRef(plan.run_id))


class TestAttempts:
    async def test_a_final_attempt_is_in_the_journal_when_it_returns(self, make_plan_of: MakePlan, open_run: OpenRun) -> None:
        plan, watcher = make_plan_of("ok"), Watcher()
        async with open_run(plan, watcher) as session:
            await session.attempt(plan.items[0], last=False, task_run_id="task-run")
            [line] = journal(plan)
            assert session.counts == {"pass": 1}
        assert (line["task_id"], line["status"], line["flow_run_id"], line["task_run_id"]) == (
            "ok", "pass", "flow-run", "task-run",
        )  # fmt: skip
        assert [result.task_id for result in watcher.results] == ["ok"]

    async def test_p29_transient_trouble_is_remembered_and_journalled_with_the_last_attempt(
        self, make_plan_of: MakePlan, open_run: OpenRun
    ) -> None:
        plan, watcher = make_plan_of("die"), Watcher()
        async with open_run(plan, watcher) as session:
            await session.attempt(plan.items[0], last=False)
            assert journal(plan) == []
            assert session.counts == {}
            await session.attempt(plan.items[0], last=True)
        [line] = journal(plan)
        assert [attempt["error_kind"] for attempt in line["attempts"]] == ["skill", "skill"]
        assert watcher.retried == ["moody@1.0.0/die#1"]

    @pytest.mark.parametrize("what", ["wrong", "refuse"])
    async def test_p20_what_cannot_change_is_journalled_though_attempts_are_left(
        self, make_plan_of: MakePlan, open_run: OpenRun, what: str
    ) -> None:
        plan = make_plan_of(what)
        async with open_run(plan) as session:
            await session.attempt(plan.items[0], last=False)
            assert len(journal(plan)) == 1

    @pytest.mark.parametrize(("what", "stops"), [("ok", False), ("wrong", True), ("refuse", True)])
    @pytest.mark.parametrize("fail_fast", [True, False])
    async def test_fail_fast_stops_at_the_first_item_that_does_not_pass(
        self, make_plan_of: MakePlan, open_run: OpenRun, what: str, stops: bool, fail_fast: bool
    ) -> None:
        plan = make_plan_of(what, fail_fast=fail_fast)
        async with open_run(plan) as session:
            await session.attempt(plan.items[0], last=True)
            assert session.stopped is (stops and fail_fast)

    async def test_an_item_that_nobody_asked_to_wait_for_does_not_wait(self, make_plan_of: MakePlan, open_run: OpenRun) -> None:
        plan = make_plan_of()
        async with open_run(plan) as session:
            await asyncio.wait_for(session.not_before(plan.items[0]), timeout=60)

    @pytest.mark.parametrize(
        ("asked_s", "waited"),
        [
            pytest.param(100_000.0, [("moody@1.0.0", MAX_RETRY_AFTER_S, 100_000.0)], id="capped"),
            pytest.param(30.0, [("moody@1.0.0", 30.0, 30.0)], id="as-asked"),
            pytest.param(2.0, [], id="too-short-to-say"),
        ],
    )
    async def test_p20_whoever_watches_is_told_once_that_a_skill_waits(
        self, make_plan_of: MakePlan, asked_s: float, waited: list[tuple[str, float, float]]
    ) -> None:
        plan, watcher = make_plan_of("ok", "wrong"), Watcher()
        journalled = Journal(plan.store.journal_path(plan.run_id))
        async with RunSession(plan, journalled, watcher, "flow-run", Busy(plan, asked_s)) as session:
            for item in plan.items:
                await session.attempt(item, last=False)
        assert watcher.waits == waited


class TestAFullDisk:
    async def test_a_journal_that_cannot_be_written_ends_the_run(
        self, make_plan_of: MakePlan, open_run: OpenRun, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What further skills answered would be lost, and may have been paid for."""
        plan = make_plan_of("ok", "later")
        async with open_run(plan) as session:
            with monkeypatch.context() as full:
                full.setattr(os, "write", lambda *_: raise_no_space())
                with pytest.raises(RunError, match="No space left on device"):
                    async with asyncio.timeout(20):  # the request could not be written either, of which the program learns
                        await session.attempt(plan.items[0], last=True)
            assert (session.stopped, session.is_unwritable) == (True, True)
            assert "No space left on device" in str(session.write_error)


def raise_no_space() -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
