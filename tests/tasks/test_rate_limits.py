"""A model's rate limit is the one of that name on the Prefect server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from eval_skills.core.rate_limits.services import Services, at_once
from eval_skills.engine.definition.scoring import judges_of
from eval_skills.scorers.judging.budget import no_rate_limit
from eval_skills.tasks.rate_limits import apply_rate_limits, limit_of, limit_of_service, limit_services

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/gpt-4o", "eval-skills-judge-openai-gpt-4o"),
        ("hosted_vllm/Qwen/Qwen2.5:7b", "eval-skills-judge-hosted_vllm-Qwen-Qwen2.5-7b"),
    ],
)
def test_the_name_of_a_limit_is_one_that_the_server_takes(model: str, name: str) -> None:
    assert limit_of(model) == name


@pytest.mark.slow
async def test_a_request_waits_for_the_limit_that_is_there_and_for_no_other(
    prefect_url: str, make_plan_of: MakePlan, write_tasks: Callable[..., str]
) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate

    tasks = write_tasks("ok", expectedOutput={"type": "llm_judge", "criteria": "Be right."})
    plan = make_plan_of(tasks=tasks, llm={"model": "openai/limited", "apiBase": "http://127.0.0.1:9/v1"})
    judges = judges_of(plan.scorings)
    assert judges is not None
    apply_rate_limits(plan.scorings)
    assert judges.before_request is no_rate_limit
    async with get_client() as client:
        made = GlobalConcurrencyLimitCreate(name=limit_of("openai/limited"), limit=5, slot_decay_per_second=0.001)
        await client.create_global_concurrency_limit(made)
        apply_rate_limits(plan.scorings)
        for _ in range(2):
            await judges.before_request("openai/limited")
        await judges.before_request("openai/other")
        limit = await client.read_global_concurrency_limit_by_name(limit_of("openai/limited"))
    assert limit.active_slots == 2


@pytest.mark.slow
async def test_requests_to_a_service_wait_for_its_limit_on_the_server(prefect_url: str) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate

    services = Services()
    async with get_client() as client:
        for name, decay in (("api.limited.example", 0.001), ("api.slots.example", 0.0)):
            made = GlobalConcurrencyLimitCreate(name=limit_of_service(name), limit=5, slot_decay_per_second=decay)
            await client.create_global_concurrency_limit(made)
        limit_services(services)
        assert services.before_request is not at_once
        for name in ("api.limited.example", "api.limited.example", "api.slots.example", "other.example"):
            await services.caller(f"https://{name}/v1", "a skill").turn()
        used = [
            (await client.read_global_concurrency_limit_by_name(limit_of_service(name))).active_slots
            for name in ("api.limited.example", "api.slots.example")
        ]
    assert used == [2, 0]
