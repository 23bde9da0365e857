"""What the tests of the tasks share: a skill that does what it is told, and requests to evaluate it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Attempt, ItemResult
from eval_skills.core.rate_limits.services import Throttled
from eval_skills.core.store import Journal, Store, land, land_reports, started_at, write_manifest
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.evaluation.observer import NullObserver, observed_runs
from eval_skills.engine.evaluation.plan import RunPlan, make_plan
from eval_skills.engine.evaluation.session import RunSession, manifest_of
from tests.engine.backfill.backfills import DAY, START, Days
from tests.scripted_model import ScriptedModel

SKILL = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    what = request["params"]["what"]
    if what == "die":
        os._exit(9)
    if what == "hang":
        time.sleep(600)
    result = {"output": "ok", "usage": {"promptTokens": 3, "completionTokens": 4}, "costUsd": 0.5} if what == "dear" else what
    reply = {"error": {"code": 1, "message": "cannot"}} if what == "refuse" else {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
"""

MakeRequest = Callable[..., EvaluateRequest]
MakePlan = Callable[..., RunPlan]
LandedRun = Callable[..., str]
WriteExpectations = Callable[..., str]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ScriptedModel]:
    """A model that says what the test wrote down; verdicts are cached in the test's own folder, and no key is set."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with ScriptedModel() as server:
        yield server


class Watcher(NullObserver):
    """What a run tells while it goes on."""

    def __init__(self) -> None:
        self.throttles: list[Throttled] = []
        self.retried: list[str] = []
        self.results: list[ItemResult] = []

    def throttled(self, throttled: Throttled) -> None:
        self.throttles.append(throttled)

    def retrying(self, item: str, reason: str) -> None:
        self.retried.append(item)

    def finished(self, result: ItemResult) -> None:
        self.results.append(result)


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    """What the runs of a test tell."""
    observer = Watcher()
    with observed_runs.by(observer):
        yield observer


@pytest.fixture
def write_skill(tmp_path: Path) -> Callable[..., Path]:
    """Writes a skill's folder: a persistent program that does what it is told, unless fields say otherwise."""

    def write(name: str = "moody", **fields: Any) -> Path:
        folder = tmp_path / "skills" / name
        folder.mkdir(parents=True)
        described = {
            "id": name,
            "name": name,
            "version": "1.0.0",
            "adapterType": "subprocess",
            "entrypoint": f"{sys.executable} -ISs skill.py",
            "adapterConfig": {"persistent": True},
        }
        (folder / "skill.json").write_text(json.dumps(described | fields))
        (folder / "skill.py").write_text(SKILL)
        return folder

    return write


@pytest.fixture
def write_tasks(tmp_path: Path) -> Callable[..., str]:
    """Writes a file of tasks, one for each thing to tell the skill; the answer "ok" is the right one."""

    def write(*whats: str, **fields: Any) -> str:
        tasks = [{"id": what, "inputData": {"what": what}, "expectedOutput": {"value": "ok"}, **fields} for what in whats]
        path = tmp_path / "tasks.json"
        path.write_text(json.dumps(tasks))
        return str(path)

    return write


@pytest.fixture
def make_request(tmp_path: Path, write_skill: Callable[..., Path], write_tasks: Callable[..., str]) -> MakeRequest:
    """A request to evaluate the skill on these tasks; keyword arguments are further fields of it."""

    def make(*whats: str, **fields: Any) -> EvaluateRequest:
        skill = tmp_path / "skills" / "moody"
        skills = fields.pop("skills", None) or [str(skill if skill.exists() else write_skill())]
        tasks = fields.pop("tasks", None) or write_tasks(*(whats or ("ok",)))
        return EvaluateRequest(**{"skills": skills, "tasks": tasks, "store": str(tmp_path / "store"), "format": [], **fields})

    return make


@pytest.fixture
def make_plan_of(make_request: MakeRequest) -> MakePlan:
    """A plan to evaluate the skill on these tasks."""
    return lambda *whats, **fields: make_plan(make_request(*whats, **fields))


@pytest.fixture
def open_run() -> Callable[..., RunSession]:
    """An open journal's session of a plan, to be entered; whoever watches may be given."""

    def make(plan: RunPlan, watcher: Any = None) -> RunSession:
        return RunSession(plan, Journal(plan.store.journal_path(plan.run_id)), watcher or NullObserver(), "flow-run")

    return make


@pytest.fixture
def write_expectations(tmp_path: Path) -> Callable[..., str]:
    """Writes the file of tasks anew: for each the answer that is the right one."""

    def write(**answers: Any) -> str:
        tasks = [{"id": task, "inputData": {}, "expectedOutput": {"value": answer}} for task, answer in answers.items()]
        path = tmp_path / "tasks.json"
        path.write_text(json.dumps(tasks))
        return str(path)

    return write


@pytest.fixture
def landed_run(tmp_path: Path, make_request: MakeRequest, write_expectations: Callable[..., str]) -> LandedRun:
    """Lands a run of the skill without calling it: its answers by task, of which "right" is the right one.

    `evaluator` judges tasks that name none. Keyword arguments named like a task are fields of its result, others those of every
    result.
    """

    def landed(answers: dict[str, Any], *, at: datetime | None = None, evaluator: str = "exact", **fields: Any) -> str:
        if not (tmp_path / "tasks.json").exists():
            write_expectations(**dict.fromkeys(answers, "right"))
        plan = make_plan(make_request(tasks=str(tmp_path / "tasks.json"), at=at, evaluator=evaluator))
        write_manifest(plan.store.run_folder(plan.run_id), manifest_of(plan))
        common = {name: value for name, value in fields.items() if name not in answers}
        with Journal(plan.store.journal_path(plan.run_id)) as journal:
            for task, answer in answers.items():
                passed = answer == "right"
                own = {"status": "pass" if passed else "fail", "passed": passed, "score": float(passed), "output": answer}
                journal.append(_result(plan, task, **(own | common | fields.get(task, {}))))
        land(plan.store, plan.run_id)
        reports = skill_reports(plan.store.items(run_id=plan.run_id), plan.benchmark, plan.request.timeout_ms)
        land_reports(plan.store, plan.run_id, None, reports)
        return plan.run_id

    return landed


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The store of this test."""
    return Store(tmp_path / "store")


@pytest.fixture
def days(landed_run: LandedRun) -> Days:
    """Lands a run for each of these answers, a day apart."""
    return lambda *answers: [landed_run(each, at=START + number * DAY) for number, each in enumerate(answers)]


def _result(plan: RunPlan, task: str, **fields: Any) -> ItemResult:
    began = started_at(plan.run_id)
    known: dict[str, Any] = {
        "run_id": plan.run_id,
        "started_at": began,
        "skill_id": "moody",
        "skill_version": "1.0.0",
        "skill_digest": plan.digests["moody@1.0.0"],
        "benchmark_id": plan.benchmark.id,
        "benchmark_version": plan.benchmark.version,
        "benchmark_digest": plan.digests["benchmark"],
        "task_id": task,
        "task_digest": plan.digests.get(f"task/{task}"),
        "run_index": 0,
        "latency_ms": 10.0,
        "timeout_ms": 30_000.0,
        "attempts": [Attempt(started_at=began, latency_ms=10.0)],
        "scorer": "exact_match",
    }
    return ItemResult(**(known | fields))
