"""The core flow with its items on real Dask and Ray clusters of two worker processes: the same results, states and journal."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import LocalCluster

from eval_skills.core.errors import RunError
from eval_skills.core.store import Store
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation import session
from eval_skills.engine.evaluation.cluster import ray as ray_module
from eval_skills.engine.evaluation.summary import RunSummary
from eval_skills.flows import evaluate
from tests.dask_workers import forked_workers
from tests.flows.test_skill_effect import check_arms
from tests.otlp_receiver import Receiver
from tests.ray_head import RayHead, ray_head

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.usefixtures("prefect_url")]

Ask = Callable[..., Any]
PATIENCE_S = 180.0

SKILL = """
import json, os, pathlib, sys, time
seen = pathlib.Path(__file__).parent.parent / "seen"
seen.mkdir(exist_ok=True)

def first(mark):
    # Of all processes that ask at the same moment, one is the first.
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True

for line in sys.stdin:
    request = json.loads(line)
    what = request["params"]["what"]
    (seen / f"{what}:{os.getppid()}:{time.time_ns()}").touch()
    if what == "hang":
        time.sleep(600)
    if what == "assassin":
        os.kill(os.getppid(), 9)
    if what == "die" or (what == "die-once" and first(seen / "death")):
        os._exit(9)
    while what.startswith("wait") and not (seen / "gate").exists() and os.getppid() != 1:
        time.sleep(0.01)
    seen_here = sorted(name for name in os.environ if name.startswith(("DASK", "RAY", "PREFECT")))
    answer = {"wrong": "wrong", "environment": seen_here}.get(what, "ok")
    reply = {"error": {"code": 1, "message": "cannot"}} if what == "refuse" else {"result": answer}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
"""
"""Does what it is told, be it to kill the worker that called it, and writes down every call with that worker."""


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[str]:
    options: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    with forked_workers():
        cluster = LocalCluster(n_workers=2, threads_per_worker=2, silence_logs=logging.CRITICAL, **options)  # type: ignore[no-untyped-call]
    with cluster as started:
        yield started.scheduler_address.replace("tcp", "dask")


@pytest.fixture(scope="module")
def head() -> Iterator[RayHead]:
    with ray_head() as started:
        yield started


@pytest.fixture(scope="module")
def client_cluster(head: RayHead) -> str:
    """Ray's, from outside."""
    return head.client_url


@pytest.fixture(scope="module")
def ray_cluster(head: RayHead) -> Iterator[str]:
    """Ray's, by a process that is part of it: that takes two seconds less than a client does."""
    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("RAY_ADDRESS", head.gcs)
        yield "ray://auto"


@pytest.fixture(params=["dask", "ray"])
def address(request: pytest.FixtureRequest) -> str:
    """Where a cluster of either kind takes work; each is started once."""
    where: str = request.getfixturevalue(f"{request.param}_cluster")
    return where


class Scene:
    """A skill that does what it is told, and evaluations of it."""

    def __init__(self, folder: Path, task_runner: str) -> None:
        self.folder, self.task_runner, self.store = folder, task_runner, Store(folder / "store")
        self._seen = folder / "skills" / "seen"
        python, kept = f"{sys.executable} -ISs skill.py", {"persistent": True}
        skill = self.add_skill("moody", adapterType="subprocess", entrypoint=python, adapterConfig=kept)
        (skill / "skill.py").write_text(SKILL)

    def add_skill(self, name: str, **described: Any) -> Path:
        skill = self.folder / "skills" / name
        skill.mkdir(parents=True)
        (skill / "skill.json").write_text(json.dumps({"id": name, "name": name, "version": "1.0.0", **described}))
        return skill

    def run(self, *whats: str, **options: Any) -> RunSummary:
        limit = {"hang": 1000}
        tasks = [
            {"id": what, "inputData": {"what": what}, "expectedOutput": {"value": "ok"}, "timeoutMs": limit.get(what, 120_000)}
            for what in whats
        ]
        (self.folder / "tasks.json").write_text(json.dumps(tasks))
        what = {"skills": [str(self.folder / "skills" / "moody")], "tasks": str(self.folder / "tasks.json")}
        where = {"store": str(self.folder / "store"), "format": [], "task_runner": self.task_runner}
        return evaluate(EvaluateRequest(**{**what, **where, **options}))

    def rows(self, summary: RunSummary) -> list[dict[str, Any]]:
        rows = self.store.items(run_id=summary.run_id).iterrows()
        return [{str(name): value for name, value in row.items()} for _, row in rows]

    def calls(self) -> Counter[str]:
        return Counter(path.name.split(":")[0] for path in self._seen.glob("*:*"))

    def workers(self) -> set[int]:
        """The processes that have called the skill."""
        return {int(path.name.split(":")[1]) for path in self._seen.glob("*:*")}

    def journal(self) -> list[str]:
        """The task ids in the journal of the unfinished run."""
        lines = [line for path in (self.folder / "store").glob("runs/*/journal.jsonl") for line in path.read_text().splitlines()]
        return [json.loads(line)["task_id"] for line in lines]

    def open_the_gate(self) -> None:
        (self._seen / "gate").touch()


@pytest.fixture
def scene(tmp_path: Path, address: str) -> Scene:
    return Scene(tmp_path, address)


def until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def said(row: dict[str, Any]) -> str:
    """What a row tells of its item, whenever and wherever that was executed."""
    kinds = tuple(attempt["error_kind"] for attempt in row["attempts"])
    codes = tuple(reason["code"] for reason in row["reasons"])
    told = (row["run_index"], row["status"], row["score"], row["passed"], row["error_kind"], row["output"], kinds, codes)
    return repr(told)  # a NaN equals itself here


@pytest.mark.parametrize("address", ["dask", "client"], indirect=True)
def test_results_and_states_are_those_of_a_run_in_this_process(scene: Scene, tmp_path: Path, ask: Ask) -> None:
    whats = ("ok", "wrong", "refuse", "die", "die-once", "hang", "environment")
    here = Scene(tmp_path / "here", "local")
    rows = [{row["task_id"]: said(row) for row in each.rows(each.run(*whats, retries=1))} for each in (scene, here)]
    assert rows[0] == rows[1]
    called = [Counter({what: count for what, count in each.calls().items() if what != "hang"}) for each in (scene, here)]
    # what hangs may be cut before it has written down that it was called; its row has both attempts
    assert called == [{"ok": 1, "wrong": 1, "refuse": 1, "die": 2, "die-once": 2, "environment": 1}] * 2
    assert "('timeout', 'timeout')" in rows[0]["hang"]
    assert "'[]'" in rows[0]["environment"]  # a skill sees no variable of its cluster
    assert here.workers() == {os.getpid()}
    assert os.getpid() not in scene.workers()
    assert final_states(scene, ask) == final_states(here, ask)


def final_states(scene: Scene, ask: Ask) -> dict[str, tuple[str, str, int]]:
    """Name, state and attempts of the mapped task runs of the scene's run, once all are recorded."""
    [flow_run] = set(scene.store.items()["flow_run_id"])
    found: list[dict[str, Any]] = []

    def recorded() -> bool:
        found[:] = ask("task_runs/filter", flow_runs={"id": {"any_": [flow_run]}})
        return len(found) == 10 and all(each["state_type"] in {"COMPLETED", "FAILED"} for each in found)

    until(recorded)
    return {each["name"]: (each["state_type"], each["state_name"], each["run_count"]) for each in found if "#" in each["name"]}


@pytest.mark.parametrize("address", ["dask"], indirect=True)
def test_batches_keep_a_journal_line_for_each_item(scene: Scene) -> None:
    summary = scene.run("ok", "wrong", "die-once", runs=5, retries=1, items_per_task=4)
    assert Counter(row["status"] for row in scene.rows(summary)) == {"pass": 10, "fail": 5}
    assert scene.calls() == {"ok": 5, "wrong": 5, "die-once": 6}


def test_a_worker_that_is_killed_in_the_middle_costs_no_item_and_doubles_none(scene: Scene) -> None:
    whats = [f"wait-{number}" if number % 3 == 0 else f"free-{number}" for number in range(30)]
    on_record: list[str] = []

    def kill_one() -> None:
        try:
            until(lambda: len(scene.journal()) >= 1 and len(scene.workers()) == 2)
            # every place is taken
            until(lambda: sum(count for what, count in scene.calls().items() if what.startswith("wait")) >= 4)
            on_record.extend(scene.journal())
            time.sleep(0.5)  # until the scheduler knows that these are kept: one that it does not know of yet is computed again
            os.kill(min(scene.workers()), signal.SIGKILL)
        finally:  # where the cluster never comes to that, the items do not wait for their time limits
            scene.open_the_gate()

    killer = threading.Thread(target=kill_one)
    killer.start()
    summary = scene.run(*whats, concurrency=8)
    killer.join()
    assert Counter(row["task_id"] for row in scene.rows(summary)) == Counter(whats)
    assert {row["status"] for row in scene.rows(summary)} == {"pass"}
    assert on_record
    assert {scene.calls()[what] for what in on_record} == {1}
    assert scene.calls().total() > len(whats)  # what the dead worker had begun was begun again


def test_a_run_that_fails_fast_stops_and_says_so(scene: Scene) -> None:
    scene.run("wrong", "ok", runs=10, concurrency=1, fail_fast=True)
    assert scene.calls() == {"wrong": 1}


def test_each_arm_of_an_effect_can_be_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, dask_cluster: str
) -> None:
    check_arms(tmp_path, monkeypatch, ask, dask_cluster)


class TestRay:
    """What Dask's scheduler does for its clusters, and the tests of its executor show; for Ray it is done here."""

    @pytest.fixture
    def member(self, tmp_path: Path, ray_cluster: str) -> Scene:
        return Scene(tmp_path, ray_cluster)

    def test_what_is_known_of_a_batch_waits_for_no_slow_item_and_is_not_doubled_when_the_worker_dies(
        self, member: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(session, "UNREPORTED_S", 2.0)
        known: list[str] = []

        def kill_the_worker() -> None:
            until(lambda: len(member.journal()) == 2)
            known.extend(member.journal())
            [worker] = member.workers()
            os.kill(worker, signal.SIGKILL)
            until(lambda: member.calls()["wait"] == 2)
            member.open_the_gate()

        killer = threading.Thread(target=kill_the_worker)
        killer.start()
        summary = member.run("a", "b", "wait", items_per_task=3)
        killer.join()
        assert known == ["a", "b"]
        assert [(row["task_id"], row["status"]) for row in member.rows(summary)] == [
            (name, "pass") for name in ("a", "b", "wait")
        ]
        assert member.calls() == {"a": 2, "b": 2, "wait": 2}  # called again, and recorded once

    def test_one_item_that_brings_down_its_workers_costs_the_others_nothing(
        self, member: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(ray_module, "PROCESSES_PER_SHARE", 2)
        summary = member.run("a", "assassin", "b", items_per_task=3, concurrency=1)
        rows = {row["task_id"]: row for row in member.rows(summary)}
        assert {name: row["status"] for name, row in rows.items()} == {"a": "pass", "assassin": "error", "b": "pass"}
        assert rows["assassin"]["error_kind"] == "infra"
        assert rows["assassin"]["error_message"] == "2 worker processes died while they worked on this item"

    def test_a_connection_that_ends_leaves_a_run_that_can_be_resumed_elsewhere(self, member: Scene) -> None:
        def end() -> None:
            until(lambda: member.journal() and member.calls()["wait"])
            for child in psutil.Process().children():
                if any("ray_driver" in word for word in child.cmdline()):
                    child.kill()

        ender = threading.Thread(target=end)
        ender.start()
        with pytest.raises(RunError, match=r"1 of 2 items have no result \(.*Ray cluster.*\); continue with --resume"):
            member.run("ok", "wait")
        ender.join()
        assert member.journal() == ["ok"]
        member.open_the_gate()
        summary = evaluate(EvaluateRequest(resume="latest", store=member.store.path, format=[], task_runner="local"))
        assert {row["task_id"]: row["status"] for row in member.rows(summary)} == {"ok": "pass", "wait": "pass"}
        assert member.calls()["ok"] == 1


def test_dask_alone_starts_workers_of_its_own_for_the_length_of_the_run(tmp_path: Path, otlp: Callable[[str], None]) -> None:
    with Receiver() as receiver:
        otlp(receiver.url)  # they see the variables of this process
        scene = Scene(tmp_path, "dask")
        scene.add_skill("web", adapterType="http", entrypoint=f"{receiver.url}/skill")
        summary = scene.run("ok", "wrong", runs=4, skills=[str(tmp_path / "skills")])
        attempts = {attempt.traceparent for attempt in receiver.named("invoke_agent")}
        called = [call["traceparent"][:-3] for call in receiver.called]
    statuses = Counter(row["status"] for row in scene.rows(summary) if row["skill_id"] == "moody")
    assert statuses == {"pass": 4, "fail": 4}
    assert os.getpid() not in scene.workers()
    assert len(set(called)) == len(called) == 8
    assert attempts.issuperset(called)  # what a worker sends is part of the attempt's trace
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in scene.workers()))


def test_a_cluster_that_goes_away_leaves_a_run_that_can_be_resumed_elsewhere(tmp_path: Path) -> None:
    options: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    with (
        forked_workers(),
        LocalCluster(n_workers=1, threads_per_worker=2, silence_logs=logging.CRITICAL, **options) as doomed,  # type: ignore[no-untyped-call]
    ):
        scene = Scene(tmp_path, doomed.scheduler_address.replace("tcp", "dask"))

        def close() -> None:
            until(lambda: scene.journal() and scene.calls()["wait"])
            doomed.close()

        closer = threading.Thread(target=close)
        closer.start()
        with pytest.raises(RunError, match=r"1 of 2 items have no result \(.*Dask cluster.*\); continue with --resume"):
            scene.run("ok", "wait")
        closer.join()
    assert scene.journal() == ["ok"]
    scene.open_the_gate()
    store = str(tmp_path / "store")
    summary = evaluate(EvaluateRequest(resume="latest", store=store, format=[], task_runner="local"))
    assert {row["task_id"]: row["status"] for row in scene.rows(summary)} == {"ok": "pass", "wait": "pass"}
    assert scene.calls()["ok"] == 1
