"""A made-up store of nightly runs, in the files that real ones leave, as fast as files can be written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark
from eval_skills.core.store.layout import Layout, derived_run_id, start_date
from eval_skills.core.store.rows import report_row
from eval_skills.core.store.schema import ITEM_SCHEMA, REPORT_SCHEMA
from eval_skills.engine.definition.request import EvaluateRequest

SUITES, SKILLS, TASKS, RUNS = 2, 5, 20, 3
FIRST = datetime(2026, 1, 1, 2, tzinfo=UTC)
DROP_AT, BEFORE, AFTER = 0.5, 0.9, 0.7
"""After this share of the nights, the first skill becomes worse, and its folder is another one."""


def write_nights(root: Path, nights: int) -> int:
    """A run a night of each suite, over 5 skills × 20 tasks × 3 runs; returns how many items they have."""
    random = np.random.default_rng(20260101)
    for suite in range(SUITES):
        frame = _template(suite)
        for night in range(nights):
            _write_run(root, frame, suite, night, late=night >= nights * DROP_AT, random=random)
    return nights * SUITES * SKILLS * TASKS * RUNS


def _template(suite: int) -> pa.Table:
    """The items of any night, but for what differs from night to night."""
    rows = [
        {
            "skill_id": f"skill-{skill}",
            "skill_version": "1.0.0",
            "skill_digest": _digest(skill),
            "benchmark_id": f"suite-{suite}",
            "benchmark_version": "1.0.0",
            "benchmark_digest": _digest(suite),
            "task_id": f"task-{task:02d}",
            "task_digest": _digest(task),
            "tags": ["math"],
            "weight": 1.0,
            "run_index": run,
            "scorer": "exact_match",
            "dimensions": [("output_quality", 1.0)],
            "reasons": [{"code": "matched", "message": f"the answer is {task}, as expected", "where": "output"}],
            "attempts": [{"started_at": FIRST, "latency_ms": 12.0, "error_kind": None}],
            "output": f'{{"result": {task}}}',
            "output_truncated": False,
            "origin": "run",
            "timeout_ms": 30_000.0,
        }
        for run in range(RUNS)
        for task in range(TASKS)
        for skill in range(SKILLS)
    ]
    return pa.Table.from_pylist(rows, schema=ITEM_SCHEMA)


def _write_run(root: Path, template: pa.Table, suite: int, night: int, *, late: bool, random: np.random.Generator) -> None:
    began = FIRST + timedelta(days=night, hours=suite)
    run_id = derived_run_id(began, f"suite-{suite}")
    table = _dated(template, run_id, began, late=late, random=random)
    reports = skill_reports(table.select(_MEASURED).to_pandas(), _benchmark(suite), 30_000.0, task_results=False)
    rows = [
        report_row(report.model_copy(update={"timestamp": began}), run_id=run_id, benchmark_version="1.0.0", origin="run")
        for report in reports
    ]
    for name, found in (("items", table), ("reports", pa.Table.from_pylist(rows, schema=REPORT_SCHEMA))):
        path = root / Layout.table_file(name, start_date(run_id), run_id)  # type: ignore[arg-type] # both are names of tables
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(found, path, compression="zstd")
    folder = Layout.of(root).run_folder(run_id)
    folder.mkdir(parents=True)
    manifest = _manifest(run_id, began, suite, late=late)
    (folder / "manifest.json").write_bytes(manifest)


_MEASURED = ["skill_id", "skill_version", "benchmark_id", "task_id", "run_index", "status", "score", "weight", "latency_ms"]


def _dated(template: pa.Table, run_id: str, began: datetime, *, late: bool, random: np.random.Generator) -> pa.Table:
    """The items of one night: 9 of 10 pass, of the first skill 7 of 10 after the drop."""
    first = pa.compute.equal(template["skill_id"], "skill-0").to_numpy()
    passed = random.random(len(template)) < np.where(first & late, AFTER, BEFORE)
    digests = np.where(first & late, _digest(99), template["skill_digest"].to_numpy())
    columns: dict[str, Any] = {
        "run_id": pa.array([run_id] * len(template)),
        "started_at": pa.array([began] * len(template), template.schema.field("started_at").type),
        "skill_digest": pa.array(digests),
        "status": pa.array(np.where(passed, "pass", "fail")),
        "passed": pa.array(passed),
        "score": pa.array(passed.astype(float)),
        "latency_ms": pa.array(random.lognormal(3, 0.5, len(template)).round(3)),
    }
    for name, column in columns.items():
        template = template.set_column(template.schema.get_field_index(name), ITEM_SCHEMA.field(name), column)
    return template


def _manifest(run_id: str, began: datetime, suite: int, *, late: bool) -> bytes:
    from pydantic_core import to_json

    from eval_skills.core.store import Manifest, ManifestBenchmark, ManifestSkill

    request = EvaluateRequest(benchmark=f"suite-{suite}", runs=RUNS, skills=[f"skills/skill-{n}" for n in range(SKILLS)])
    manifest = Manifest(
        run_id=run_id,
        created_at=began,
        request=request.to_json(),
        skills=[ManifestSkill(key=f"skill-{n}@1.0.0", digest=_digest(99 if late and not n else n)) for n in range(SKILLS)],
        benchmark=ManifestBenchmark(id=f"suite-{suite}", version="1.0.0", digest=_digest(suite)),
        versions={"python": "3.13.1", "eval-skills": "0.1.0", "prefect": "3.8.8"},
        git_commit=f"{int(late):040x}",
        platform="Linux",
        planned_items=SKILLS * TASKS * RUNS,
    )
    return to_json(manifest.to_json(), indent=2) + b"\n"


def _benchmark(suite: int) -> Benchmark:
    return Benchmark.model_validate({"id": f"suite-{suite}", "name": "Suite", "version": "1.0.0", "tasks": []})


def _digest(number: int) -> str:
    return digest_of_json(number)
