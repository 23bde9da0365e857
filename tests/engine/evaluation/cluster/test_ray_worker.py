"""What a worker of Ray does with a run, in this process: the actor without its cluster."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eval_skills.core.errors import RunError
from eval_skills.engine.evaluation.cluster import worker as cluster_worker
from eval_skills.engine.evaluation.cluster.ray_worker import RayWorker
from eval_skills.engine.evaluation.cluster.worker import Share, WorkerRun
from eval_skills.engine.evaluation.plan import RunPlan

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan

SKILL = """
import json, pathlib, sys, time
gate = pathlib.Path(__file__).with_name("gate")
for line in sys.stdin:
    request = json.loads(line)
    while request["params"]["what"] == "wait" and not gate.exists():
        time.sleep(0.01)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "ok"}), flush=True)
"""


@pytest.fixture
def plan(make_plan_of: MakePlan, write_skill: Callable[..., Path]) -> RunPlan:
    (write_skill() / "skill.py").write_text(SKILL)
    return make_plan_of("ok", "wait")


def share(plan: RunPlan, *, for_s: float) -> bytes:
    return pickle.dumps((Share("key", tuple(plan.items), for_s=for_s), {}))


async def test_what_is_known_is_sent_before_a_slow_item_ends(plan: RunPlan, tmp_path: Path) -> None:
    worker = RayWorker()
    assert await worker.take(pickle.dumps(WorkerRun(plan)), ()) is None
    known, is_whole = await worker.begin("key", share(plan, for_s=1.0))
    assert ([outcome.result.task_id for outcome in pickle.loads(known)], is_whole) == (["ok"], False)
    (tmp_path / "skills" / "moody" / "gate").touch()
    assert [outcome.result.task_id for outcome in pickle.loads(await worker.rest("key"))] == ["ok", "wait"]
    assert await worker.close() == []


async def test_a_share_that_goes_wrong_is_answered_with_its_exception(plan: RunPlan) -> None:
    worker = RayWorker()
    error, is_whole = await worker.begin("key", share(plan, for_s=1.0))
    assert (str(pickle.loads(error)), is_whole) == ("this worker has no run yet", True)


async def test_a_worker_with_another_version_is_refused(plan: RunPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    run = pickle.dumps(WorkerRun(plan))
    monkeypatch.setattr(cluster_worker, "version", lambda _: "0.0.1")
    refusal = await RayWorker().take(run, ())
    assert refusal is not None
    assert "has eval-skills 0.0.1, this process" in refusal


async def test_a_worker_without_the_skill_is_refused(plan: RunPlan, tmp_path: Path) -> None:
    run = pickle.dumps(WorkerRun(plan))
    (tmp_path / "skills" / "moody").rename(tmp_path / "skills" / "elsewhere")
    refusal = await RayWorker().take(run, ())
    assert refusal is not None
    assert "moody: no such folder on this worker" in refusal


async def test_modules_of_the_run_are_found_where_its_process_finds_them(
    plan: RunPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    await RayWorker().take(pickle.dumps(WorkerRun(plan)), (sys.path[0], str(tmp_path)))
    assert sys.path[-1] == str(tmp_path)


def test_a_run_that_was_not_taken_cannot_be_closed() -> None:
    with pytest.raises(RunError, match="no run yet"):
        RayWorker()._held()
