"""What the tests of the store share: ways to make a result, a report, a manifest and a landed run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import (
    ConfidenceInterval,
    ItemResult,
    Latency,
    SkillCompletionReport,
    StatusCounts,
    Summary,
    TokenCost,
)
from eval_skills.core.store import (
    Journal,
    Manifest,
    ManifestBenchmark,
    ManifestSkill,
    Store,
    land,
    land_items,
    land_reports,
    write_manifest,
)

MakeResult = Callable[..., ItemResult]
MakeReport = Callable[..., SkillCompletionReport]


@pytest.fixture
def run_id() -> str:
    return "20261121T233824Z-3f9a"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def make_result(run_id: str) -> MakeResult:
    """A passing result of task ``t0``; keyword arguments replace its fields."""

    def make(task_id: str = "t0", **fields: Any) -> ItemResult:
        given: dict[str, Any] = {
            "run_id": run_id,
            "started_at": datetime(2026, 11, 21, 23, 38, 25, 123456, tzinfo=UTC),
            "skill_id": "adder",
            "skill_version": "1.0.0",
            "benchmark_id": "sums",
            "benchmark_version": "2.0.0",
            "task_id": task_id,
            "run_index": 0,
            "status": "pass",
            "passed": True,
            "score": 1.0,
            "latency_ms": 12.5,
        }
        return ItemResult(**{**given, **fields})

    return make


@pytest.fixture
def make_report(run_id: str) -> MakeReport:
    """A report of adder@1.0.0 that completed 0.5; keyword arguments replace top-level fields."""

    def make(completion_rate: float = 0.5, **fields: Any) -> SkillCompletionReport:
        given: dict[str, Any] = {
            "skill_id": "adder",
            "skill_version": "1.0.0",
            "benchmark_id": "sums",
            "timestamp": datetime(2026, 11, 21, 23, 39, tzinfo=UTC),
            "summary": Summary(
                completion_rate=completion_rate,
                partial_score=0.75,
                error_rate=0.25,
                consistency_score=1.0,
                composite_score=0.6,
                confidence_interval=ConfidenceInterval(lower=0.15, upper=0.85, method="wilson"),
                pass_at_k=0.5,
                pass_hat_k=None,
                flake_rate=None,
                items=4,
                tasks=4,
                runs=1,
                counts=StatusCounts(passed=2, fail=1, error=1),
                throughput=3.5,
            ),
            "latency": Latency(p50_ms=10.0, p95_ms=20.0, p99_ms=30.0, mean_ms=15.0),
            "token_cost": TokenCost(prompt_tokens=10, completion_tokens=20, total_tokens=30, estimated_usd=0.01),
        }
        return SkillCompletionReport(**{**given, **fields})

    return make


@pytest.fixture
def land_run(store: Store, make_result: MakeResult) -> Callable[..., str]:
    """Journals the named tasks under a run id and lands them; returns where they landed."""

    def land_tasks(run_id: str, *task_ids: str, **fields: Any) -> str:
        with Journal(store.journal_path(run_id)) as journal:
            for task_id in task_ids:
                journal.append(make_result(task_id, run_id=run_id, **fields))
        return land(store, run_id)

    return land_tasks


@pytest.fixture
def make_manifest(run_id: str) -> Callable[..., Manifest]:
    """The manifest of four items of adder@1.0.0 on sums; keyword arguments replace its fields."""

    def make(**fields: Any) -> Manifest:
        given: dict[str, Any] = {
            "run_id": run_id,
            "created_at": datetime(2026, 11, 21, 23, 38, 24, tzinfo=UTC),
            "request": {"runs": 1, "concurrency": 4},
            "skills": [ManifestSkill(key="adder@1.0.0", digest="sha256:0123456789abcdef", path="skills/adder")],
            "benchmark": ManifestBenchmark(id="sums", version="2.0.0"),
            "versions": {"eval-skills": "0.1.0"},
            "planned_items": 4,
        }
        return Manifest(**{**given, **fields})

    return make


RUNS = ("20261121T233824Z-0001", "20261122T233824Z-0002", "20261123T233824Z-0003")


@pytest.fixture
def landed(
    store: Store,
    make_result: Callable[..., Any],
    make_report: Callable[..., Any],
    make_manifest: Callable[..., Manifest],
) -> Store:
    """Three runs with items and reports."""
    for run_id in RUNS:
        write_manifest(store.run_folder(run_id), make_manifest(run_id=run_id))
        land_items(store, run_id, [make_result(f"t{number}", run_id=run_id) for number in range(20)])
        land_reports(store, run_id, None, [make_report()], benchmark_version="1.0.0")
    return store


def file_of(store: Store, table: Any, run_id: str) -> Path:
    return Path(store.tables.files(table, [run_id])[run_id])
