"""Where items are executed: in this process, adapters are opened once and closed at the end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from eval_skills.adapters.http.client import HttpClient
from eval_skills.adapters.http.service import Service
from eval_skills.engine.evaluation.executor import LocalExecutor

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan

UNUSED = "http://127.0.0.1:{port}/"


class TestAdapters:
    async def test_p18_one_opening_for_all_callers(self, make_plan_of: MakePlan) -> None:
        async with LocalExecutor(make_plan_of()) as here:
            adapters = await asyncio.gather(*(here.adapter("moody@1.0.0") for _ in range(5)))
        assert len({id(adapter) for adapter in adapters}) == 1

    async def test_a_caller_that_is_cancelled_does_not_cancel_the_opening_for_others(self, make_plan_of: MakePlan) -> None:
        async with LocalExecutor(make_plan_of()) as here:
            first = asyncio.create_task(here.adapter("moody@1.0.0"))
            second = asyncio.create_task(here.adapter("moody@1.0.0"))
            await asyncio.sleep(0)
            first.cancel()
            assert await second is await here.adapter("moody@1.0.0")

    async def test_a_service_that_does_not_start_costs_its_wait_once(
        self, make_plan_of: MakePlan, write_skill: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        starts, start = list[Service](), Service._start

        async def counted(service: Service, client: HttpClient) -> None:
            starts.append(service)
            await start(service, client)

        monkeypatch.setattr(Service, "_start", counted)
        sleeper = {"serve": {"command": f"{sys.executable} -ISs -c 'import time; time.sleep(600)'", "readyTimeoutMs": 300}}
        mute = write_skill("mute", adapterType="http", entrypoint=UNUSED, adapterConfig=sleeper)
        plan = make_plan_of("a", "b", "c", skills=[str(mute)])
        async with LocalExecutor(plan) as here:
            outcomes = [await here.execute(item, []) for item in plan.items]
        assert len(starts) == 1
        assert {outcome.result.error_kind for outcome in outcomes} == {"infra"}

    async def test_leaving_does_not_wait_for_a_service_that_nobody_will_use(
        self, make_plan_of: MakePlan, write_skill: Callable[..., Path]
    ) -> None:
        sleeper = {"serve": {"command": f"{sys.executable} -ISs -c 'import time; time.sleep(600)'", "readyTimeoutMs": 600_000}}
        mute = write_skill("mute", adapterType="http", entrypoint=UNUSED, adapterConfig=sleeper)
        began = monotonic()
        async with LocalExecutor(make_plan_of(skills=[str(mute)])) as here:
            waiting = asyncio.create_task(here.adapter("mute@1.0.0"))
            await asyncio.wait([waiting], timeout=0.2)
            waiting.cancel()
        assert monotonic() - began < 60


def test_what_nothing_can_refuse_is_paced_by_no_service(
    make_plan_of: MakePlan, write_skill: Callable[..., Path], write_tasks: Callable[..., str]
) -> None:
    web = write_skill("web", adapterType="http", entrypoint="http://127.0.0.1:9/", adapterConfig={})
    assert LocalExecutor(make_plan_of()).services is None
    assert LocalExecutor(make_plan_of("ok", skills=[str(web)])).services is not None
    judged = write_tasks("ok", expectedOutput={"type": "llm_judge", "criteria": "Be right."})
    assert LocalExecutor(make_plan_of(tasks=judged, llm={"model": "openai/m", "apiBase": "http://127.0.0.1:9/v1"})).services
