"""A Dask cluster as the place where items are executed: real schedulers and worker processes, without Prefect."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import dask
import psutil
import pytest
from distributed import Client, LocalCluster

from eval_skills.core.errors import RunError
from eval_skills.core.models import ItemResult
from eval_skills.engine.evaluation import session as session_module
from eval_skills.engine.evaluation.cluster import executor as cluster_module
from eval_skills.engine.evaluation.cluster import worker as cluster_worker
from eval_skills.engine.evaluation.cluster.dask import DaskExecutor, RunOnWorker
from eval_skills.engine.evaluation.cluster.worker import Share
from eval_skills.engine.evaluation.execution import Outcome
from eval_skills.engine.evaluation.observer import NullObserver
from eval_skills.engine.evaluation.plan import Item, RunPlan
from eval_skills.engine.evaluation.retries import final_results
from eval_skills.engine.evaluation.session import RunSession
from tests.dask_workers import forked_workers
from tests.limited_service import limited_service
from tests.scripted_model import Says, ScriptedModel

if TYPE_CHECKING:
    from tests.engine.evaluations import MakePlan

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PATIENCE_S = 120.0
OKAY = {"keywords": ["ok"]}
SECRET = "a-secret-of-the-worker"

SKILL = """
import json, os, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent.parent / "seen"
here.mkdir(exist_ok=True)
for line in sys.stdin:
    request = json.loads(line)
    what, gate = request["params"]["what"], here / "gate"
    (here / f"{what}-{os.getpid()}-{time.time_ns()}").touch()
    if what == "assassin":
        os.kill(os.getppid(), signal.SIGKILL)
    while what.startswith("wait") and not gate.exists() and os.getppid() != 1:
        time.sleep(0.01)
    result = os.environ.get("WORKERS_SECRET", "nothing") if what == "secret" else "ok"
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
"""Writes down every call, waits at a gate, tells a secret, or kills the worker that called it."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Two worker processes with two places each; an item may bring down two of them before it is given up."""
    options: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    options |= {"silence_logs": logging.CRITICAL, "env": {"WORKERS_SECRET": SECRET}}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        forked_workers(),
        LocalCluster(n_workers=2, threads_per_worker=2, **options) as started,  # type: ignore[no-untyped-call]
        kept_up(started),
    ):
        yield started


@contextmanager
def kept_up(cluster: LocalCluster) -> Iterator[None]:
    """Inside, workers that are not started anew are replaced, as somebody's cluster does: Dask's own guard gives up on one that
    an item kills while it starts."""
    is_over = threading.Event()

    def replace() -> None:
        while not is_over.wait(1):
            cluster.scale(len(cluster.worker_spec))  # type: ignore[no-untyped-call]

    thread = threading.Thread(target=replace, daemon=True)
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"}):
        thread.start()
        yield
        is_over.set()
        thread.join()


class Scene:
    """A plan on a cluster, and what its skill has seen."""

    def __init__(self, plan: RunPlan, seen: Path) -> None:
        self.plan, self._seen, self.executor = plan, seen, DaskExecutor(plan)

    def begun(self) -> list[str]:
        return sorted(path.name for path in self._seen.glob("*-*-*"))

    def calls(self) -> Counter[str]:
        return Counter(name.rsplit("-", 2)[0] for name in self.begun())

    def processes(self) -> set[int]:
        return {int(name.split("-")[-2]) for name in self.begun()}

    def open_the_gate(self) -> None:
        (self._seen / "gate").touch()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[RunSession]:
        """The run with its journal in this process and its items on the cluster."""
        from eval_skills.core.store import Journal

        with Journal(self.plan.store.journal_path(self.plan.run_id)) as journal:
            async with RunSession(self.plan, journal, NullObserver(), "flow-run", self.executor) as session:
                yield session

    def journal(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.plan.store.journal_path(self.plan.run_id).read_text().splitlines()]


MakeScene = Callable[..., Scene]


@pytest.fixture
def make_scene(tmp_path: Path, make_plan_of: MakePlan, write_skill: Callable[..., Path], cluster: LocalCluster) -> MakeScene:
    def make(*whats: str, address: str | None = None, **fields: Any) -> Scene:
        skill = write_skill(**fields.pop("skill", {}))
        (skill / "skill.py").write_text(SKILL)
        address = address or cluster.scheduler_address
        return Scene(make_plan_of(*whats, task_runner=address.replace("tcp", "dask"), **fields), tmp_path / "skills" / "seen")

    return make


async def until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.02)


def is_whole(file: Path) -> bool:
    """Whether a file of JSON is there to its end: the scheduler writes its own in place."""
    try:
        return bool(json.loads(file.read_text()))
    except (FileNotFoundError, ValueError):
        return False


def is_alive(pid: int) -> bool:
    try:
        return not Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].startswith(" Z")
    except OSError:  # it may end while it is looked at
        return False


async def attempt_all(session: RunSession, items: list[Item], *, last: bool = True) -> list[Outcome]:
    return await asyncio.gather(*(session.attempt(item, last=last) for item in items))


async def test_a_batch_at_a_service_that_refuses_loses_no_item_and_counts_no_refusal(
    make_plan_of: MakePlan, write_skill: Callable[..., Path], cluster: LocalCluster, tmp_path: Path
) -> None:
    with limited_service(5, burst=2) as service:
        skill = write_skill("web", adapterType="http", entrypoint=service.url, adapterConfig={})
        address = cluster.scheduler_address.replace("tcp", "dask")
        scene = Scene(make_plan_of("ok", skills=[str(skill)], runs=8, task_runner=address), tmp_path)
        results: list[ItemResult] = []
        async with scene.session() as session:
            while left := scene.plan.items[len(results) :]:
                results += await final_results(session, left, retries=0)
    assert [(result.status, len(result.attempts)) for result in results] == [("pass", 1)] * 8
    assert sorted(line["run_index"] for line in scene.journal()) == list(range(8))


async def test_adapters_are_opened_once_per_worker_and_closed_with_the_run(make_scene: MakeScene, cluster: LocalCluster) -> None:
    scene = make_scene("ok", runs=40)
    async with scene.session() as session:
        outcomes = await attempt_all(session, scene.plan.items)
        assert {outcome.result.status for outcome in outcomes} == {"pass"}
        assert len(scene.processes()) <= 4  # a warm process for each place of a worker
    assert scene.calls() == {"ok": 40}
    assert len(scene.journal()) == 40
    assert not any(map(is_alive, scene.processes()))
    async with Client(cluster.scheduler_address, asynchronous=True) as client:  # type: ignore[no-untyped-call]
        known = await client.run(lambda dask_worker: [name for name in dask_worker.plugins if name.startswith("eval-skills")])
    assert list(known.values()) == [[], []]


async def test_conversations_are_held_on_workers(make_scene: MakeScene, model: ScriptedModel, tmp_path: Path) -> None:
    turns = [{"input": {"what": "a"}}, {"input": {"what": "b"}, "expected": "ok"}]
    user = {"goal": "ok", "opening": '{"what": "u"}', "model": "openai/scripted"}
    tasks = [{"id": "written", "turns": turns}, {"id": "played", "user": user, "evaluator": "contains", "expectedOutput": OKAY}]
    (tmp_path / "talks.json").write_text(json.dumps(tasks))
    model.otherwise = Says({"reason": "all is said", "done": True, "message": ""})
    scene = make_scene(tasks=str(tmp_path / "talks.json"), llm={"apiBase": model.url})
    program = tmp_path / "skills" / "moody" / "skill.py"
    asked = 'request["params"] if isinstance(request["params"], dict) else json.loads(request["params"])'
    program.write_text(SKILL.replace('request["params"]', f"({asked})", 1))
    async with scene.session() as session:
        outcomes = await attempt_all(session, scene.plan.items)
    found = {outcome.result.task_id: outcome.result for outcome in outcomes}
    assert [turn.output for turn in found["written"].turns or []] == ["ok", "ok"]
    assert (found["played"].status, found["played"].user_requests, found["played"].user_stopped) == ("pass", 1, "done")


async def test_a_result_is_in_the_journal_while_items_that_began_before_it_still_work(make_scene: MakeScene) -> None:
    scene = make_scene("wait", "ok")
    async with scene.session() as session:
        waiting = asyncio.create_task(session.attempt(scene.plan.items[0], last=True))
        await until(scene.begun)
        await session.attempt(scene.plan.items[1], last=True)
        assert [line["task_id"] for line in scene.journal()] == ["ok"]
        scene.open_the_gate()
        await waiting


async def test_a_secret_that_only_workers_know_never_leaves_them(make_scene: MakeScene) -> None:
    assert "WORKERS_SECRET" not in os.environ
    scene = make_scene("secret", skill={"adapterConfig": {"persistent": True, "passEnv": ["WORKERS_SECRET"]}})
    async with scene.session() as session:
        [outcome] = await attempt_all(session, scene.plan.items)
    assert outcome.result.output == "[redacted:WORKERS_SECRET]"


async def test_items_of_a_worker_that_dies_are_given_to_another(make_scene: MakeScene, cluster: LocalCluster) -> None:
    scene = make_scene("wait-1", "wait-2", "wait-3", "wait-4")
    async with scene.session() as session:
        working = asyncio.create_task(attempt_all(session, scene.plan.items))
        await until(lambda: len(scene.begun()) == 4)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        scene.open_the_gate()
        outcomes = await working
    assert [outcome.result.status for outcome in outcomes] == ["pass"] * 4
    assert sorted(line["task_id"] for line in scene.journal()) == ["wait-1", "wait-2", "wait-3", "wait-4"]
    assert scene.calls().total() > 4


class TestABatch:
    async def test_what_a_worker_makes_of_it_in_a_moment_is_one_dask_task(
        self, make_scene: MakeScene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(session_module, "UNREPORTED_S", PATIENCE_S)
        scene = make_scene("ok", runs=40)
        async with scene.session() as session:
            outcomes = await session.attempt_some(scene.plan.items, last=True)
            assert len(scene.processes()) == 1
        assert [outcome.result.run_index for outcome in outcomes] == list(range(40))
        assert [line["run_index"] for line in scene.journal()] == list(range(40))

    @pytest.mark.parametrize("limit", [{"fail_fast": True}, {"max_cost": 1e9}, {"max_tokens": 10**9}], ids=str)
    async def test_it_is_one_item_where_each_may_end_the_run(
        self, make_scene: MakeScene, monkeypatch: pytest.MonkeyPatch, limit: dict[str, Any]
    ) -> None:
        monkeypatch.setattr(session_module, "UNREPORTED_S", PATIENCE_S)
        scene = make_scene("ok", runs=5, **limit)
        async with scene.session() as session:
            assert len(await session.attempt_some(scene.plan.items, last=True)) == 1
        assert scene.calls() == {"ok": 1}

    async def test_what_is_known_waits_for_no_slow_item_and_is_not_doubled_when_the_worker_dies(
        self, make_scene: MakeScene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(session_module, "UNREPORTED_S", 2.0)
        scene = make_scene("warm", "a", "b", "wait", runs=8)
        warming = [item for item in scene.plan.items if item.task == "warm"]
        batch = [item for item in scene.plan.items if item.run == 0 and item.task != "warm"]
        async with scene.session() as session:
            await attempt_all(session, warming)
            working = asyncio.create_task(session.attempt_some(batch, last=True))
            await until(lambda: {line["task_id"] for line in scene.journal()} == {"warm", "a", "b"})
            [begun] = [name for name in scene.begun() if name.startswith("wait")]
            assert not working.done()
            os.kill(psutil.Process(int(begun.split("-")[-2])).ppid(), signal.SIGKILL)
            await until(lambda: scene.calls()["wait"] == 2)
            scene.open_the_gate()
            outcomes = await working
        assert [outcome.result.task_id for outcome in outcomes] == ["a", "b", "wait"]
        assert [line["task_id"] for line in scene.journal()[len(warming) :]] == ["a", "b", "wait"]

    async def test_one_item_that_brings_down_its_workers_costs_the_others_nothing(self, make_scene: MakeScene) -> None:
        scene = make_scene("a", "assassin", "b")
        left = scene.plan.items
        async with scene.session() as session:
            while left:
                left = left[len(await session.attempt_some(left, last=True)) :]
        found = [(line["task_id"], line["status"]) for line in scene.journal()]
        assert found == [("a", "pass"), ("assassin", "error"), ("b", "pass")]


@pytest.mark.slow
async def test_an_item_at_which_every_worker_dies_is_an_infra_error_that_a_retry_may_mend(make_scene: MakeScene) -> None:
    scene = make_scene("assassin", "ok")
    async with scene.session() as session:
        outcome = await session.attempt(scene.plan.items[0], last=True)
        await attempt_all(session, scene.plan.items[1:])
    assert (outcome.result.status, outcome.result.error_kind, outcome.transient) == ("error", "infra", True)
    assert outcome.result.error_message == "2 worker processes died while they worked on this item"
    assert scene.calls()["assassin"] == 2
    assert [line["status"] for line in scene.journal()] == ["error", "pass"]


async def test_workers_of_the_runs_own_that_do_not_come_back_are_replaced(make_scene: MakeScene) -> None:
    scene = make_scene("wait", address="dask")
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "100ms"}):
        async with scene.session() as session:
            cluster = scene.executor._client.cluster
            waiting = asyncio.create_task(session.attempt(scene.plan.items[0], last=True))
            await until(lambda: scene.calls()["wait"] == 1)
            await asyncio.gather(*(guard.close() for guard in cluster.workers.values()))  # with their workers
            scene.open_the_gate()
            await waiting
    assert [line["status"] for line in scene.journal()] == ["pass"]
    assert len(scene.begun()) == 2


async def test_a_worker_without_the_skill_is_refused_before_anything_is_called(make_scene: MakeScene, tmp_path: Path) -> None:
    scene = make_scene("ok")
    (tmp_path / "skills" / "moody").rename(tmp_path / "skills" / "elsewhere")
    with pytest.raises(RunError, match=r"worker tcp://127.0.0.1:\d+ cannot evaluate: .*moody"):
        async with scene.session():
            raise AssertionError("the run began")
    assert scene.calls() == {}


async def test_an_idle_worker_closes_its_adapters_and_opens_them_again(
    make_plan_of: MakePlan, monkeypatch: pytest.MonkeyPatch, write_skill: Callable[..., Path], tmp_path: Path
) -> None:
    monkeypatch.setattr(cluster_worker, "IDLE_S", 0.0)
    skill = write_skill()
    (skill / "skill.py").write_text(SKILL)
    scene = Scene(make_plan_of("ok"), tmp_path / "skills" / "seen")
    run: Any = RunOnWorker(scene.plan, private=False)
    await run.setup(worker=SimpleNamespace(address="tcp://127.0.0.1:1"))
    for time_ in (1, 2):
        await run.execute(Share("key", (scene.plan.items[0],)))
        await until(lambda: not any(map(is_alive, scene.processes())))
        assert len(scene.processes()) == time_
    await run.teardown(worker=None)


class TestLosing:
    """A scheduler and its worker in processes of their own, as on other machines."""

    @pytest.fixture
    def start(self, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
        started: list[subprocess.Popen[bytes]] = []

        def start(program: str, *options: str) -> subprocess.Popen[bytes]:
            with (tmp_path / f"program-{len(started)}.log").open("wb") as log:
                command = [sys.executable, *program.split("|"), "--scheduler-file", str(tmp_path / "scheduler.json"), *options]
                started.append(subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log))
            return started[-1]

        yield start
        for process in started:
            process.kill()
            process.wait()

    @pytest.fixture
    async def scheduler(
        self, start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
    ) -> tuple[subprocess.Popen[bytes], str]:
        options = ("--no-dashboard", "--host", "127.0.0.1", "--port", "0")
        process = start("-m|distributed.cli.dask_scheduler", *options)
        await until(lambda: is_whole(tmp_path / "scheduler.json"))
        return process, json.loads((tmp_path / "scheduler.json").read_text())["address"]

    @pytest.mark.slow
    async def test_a_scheduler_that_dies_leaves_its_items_without_a_result(
        self, make_scene: MakeScene, start: Callable[..., subprocess.Popen[bytes]], scheduler: tuple[subprocess.Popen[bytes], str]
    ) -> None:
        start("-m|distributed.cli.dask_worker", "--no-dashboard", "--no-nanny", "--nthreads", "2")
        scene = make_scene("ok", "wait", address=scheduler[1])
        async with scene.session() as session:
            await session.attempt(scene.plan.items[0], last=True)
            waiting = asyncio.create_task(session.attempt(scene.plan.items[1], last=True))
            await until(lambda: scene.calls()["wait"] == 1)
            scheduler[0].kill()
            with pytest.raises(RunError, match="the connection to the Dask cluster was lost"):
                await waiting
            with pytest.raises(RunError, match="the connection to the Dask cluster was lost"):
                await session.attempt(scene.plan.items[1], last=True)
        assert [line["task_id"] for line in scene.journal()] == ["ok"]

    @pytest.mark.slow
    async def test_a_cluster_whose_workers_are_gone_is_given_up(
        self,
        make_scene: MakeScene,
        start: Callable[..., subprocess.Popen[bytes]],
        scheduler: tuple[subprocess.Popen[bytes], str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        worker = start("-m|distributed.cli.dask_worker", "--no-dashboard", "--no-nanny", "--nthreads", "2")
        scene = make_scene("wait", address=scheduler[1])
        async with scene.session() as session:
            monkeypatch.setattr(cluster_module, "NO_WORKER_S", 1.0)
            waiting = asyncio.create_task(session.attempt(scene.plan.items[0], last=True))
            await until(scene.begun)
            worker.kill()
            with pytest.raises(RunError, match="the Dask cluster has had no worker for 1 s"):
                await waiting
        assert scene.journal() == []

    @pytest.mark.slow
    async def test_a_cluster_without_workers_is_refused(
        self, make_scene: MakeScene, scheduler: tuple[subprocess.Popen[bytes], str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cluster_module, "NO_WORKER_S", 0.5)
        with pytest.raises(RunError, match=r"the Dask cluster dask://127.0.0.1:\d+ cannot be used: .*0/1"):
            async with make_scene("ok", address=scheduler[1]).session():
                raise AssertionError("the run began")

    @pytest.mark.slow
    async def test_a_worker_without_this_package_is_refused(
        self, make_scene: MakeScene, start: Callable[..., subprocess.Popen[bytes]], scheduler: tuple[subprocess.Popen[bytes], str]
    ) -> None:
        program = "import sys; sys.modules['eval_skills'] = None; from distributed.cli.dask_worker import main; main()"
        start(f"-c|{program}", "--no-dashboard", "--no-nanny", "--nthreads", "2")
        with pytest.raises(RunError, match="eval_skills"):
            async with make_scene("ok", address=scheduler[1]).session():
                raise AssertionError("the run began")
