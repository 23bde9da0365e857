"""Limits and sandboxes hold on the workers of a cluster, too; one that has no sandbox is refused before it gets an item."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from distributed import LocalCluster

from eval_skills.core.errors import RunError
from eval_skills.engine.evaluation.cluster.dask import DaskExecutor, RunOnWorker
from eval_skills.engine.evaluation.cluster.worker import Share
from eval_skills.engine.evaluation.plan import RunPlan

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SKILL = """
import json, resource, sys
for line in sys.stdin:
    held = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": held}), flush=True)
"""
WORKER: Any = SimpleNamespace(address="tcp://127.0.0.1:1")


@pytest.fixture
def plan(make_plan_of: MakePlan, write_skill: Callable[..., Path]) -> Callable[..., RunPlan]:
    """A plan whose skill says how many files it may have open."""

    def make(**fields: Any) -> RunPlan:
        (write_skill() / "skill.py").write_text(SKILL)
        return make_plan_of("files", timeout_ms=120_000, **fields)

    return make


async def test_p59_a_limit_of_the_run_holds_on_a_worker(plan: Callable[..., RunPlan]) -> None:
    held = plan(open_files=77)
    run = RunOnWorker(held, private=False)
    await run.setup(worker=WORKER)
    [outcome] = await run.execute(Share("key", (held.items[0],)))
    await run.teardown(worker=WORKER)
    assert outcome.result.output == 77


@pytest.mark.slow
async def test_p59_also_on_one_that_is_another_process(plan: Callable[..., RunPlan]) -> None:
    options: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    async with LocalCluster(n_workers=1, threads_per_worker=1, asynchronous=True, **options) as cluster:  # type: ignore[no-untyped-call]
        held = plan(open_files=78, task_runner=cluster.scheduler_address.replace("tcp", "dask"))
        async with DaskExecutor(held) as workers:
            assert (await workers.execute(held.items[0], [])).result.output == 78


async def test_p59_a_worker_without_the_sandbox_is_refused(
    plan: Callable[..., RunPlan], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    free = plan()
    confined = dataclasses.replace(free, request=free.request.model_copy(update={"sandbox": "bwrap"}))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunError, match=r"worker tcp:.* cannot evaluate: --sandbox bwrap: there is no bwrap on PATH"):
        await RunOnWorker(confined, private=False).setup(worker=WORKER)
