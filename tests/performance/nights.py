"""A made-up store of nightly runs, in the files that real ones leave, as fast as files can be written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from eval_skills.core.fingerprint import digest_of_json
from eval_skills.core.metrics.reports import skill_reports
from eval_skills.core.models import Benchmark
from eval_skills.core.store.digests import DIGESTS_FILE, digest_line, digest_of_file, with_checksum
from eval_skills.core.store.layout import Layout, TableName, derived_run_id, start_date
from eval_skills.core.store.rows import report_row
from eval_skills.core.store.schema import ITEM_SCHEMA, REPORT_SCHEMA
from eval_skills.engine.definition.request import EvaluateRequest

FIRST = datetime(2026, 1, 1, 2, tzinfo=UTC)
DROP_AT, BEFORE, AFTER = 0.5, 0.9, 0.7
"""After this share of the nights, the first skill becomes worse, and its folder is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How much is asked in a night: each suite is a run over skills × tasks × runs."""

    suites: int
    skills: int
    tasks: int
    runs: int

    @property
    def items(self) -> int:
        """How many items a run has."""
        return self.skills * self.tasks * self.runs


SMALL = Shape(suites=2, skills=5, tasks=20, runs=3)
"""A year of these nights has 219,000 items."""
LARGE = Shape(suites=1, skills=4, tasks=100, runs=10)
"""500 of these nights have 2 million items."""


def write_nights(root: Path, nights: int, shape: Shape = SMALL) -> int:
    """The runs of so many nights; returns how many items they have."""
    random = np.random.default_rng(20260101)
    layout = Layout.of(root)
    root.mkdir(parents=True, exist_ok=True)
    lines: list[bytes] = []
    for suite in range(shape.suites):
        frame = _template(suite, shape)
        for night in range(nights):
            lines += _write_run(layout, frame, suite, night, shape, late=night >= nights * DROP_AT, random=random)
    (root / DIGESTS_FILE).write_bytes(b"".join(lines))
    return nights * shape.suites * shape.items


def _template(suite: int, shape: Shape) -> pa.Table:
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
            "forbidden_unknown": False,
            "origin": "run",
            "timeout_ms": 30_000.0,
        }
        for run in range(shape.runs)
        for task in range(shape.tasks)
        for skill in range(shape.skills)
    ]
    return pa.Table.from_pylist(rows, schema=ITEM_SCHEMA)


def _write_run(
    layout: Layout, template: pa.Table, suite: int, night: int, shape: Shape, *, late: bool, random: np.random.Generator
) -> list[bytes]:
    """Write the files of one run; returns the lines of their digests."""
    began = FIRST + timedelta(days=night, hours=suite)
    run_id = derived_run_id(began, f"suite-{suite}")
    table = _dated(template, run_id, began, late=late, random=random)
    reports = skill_reports(table.select(_MEASURED).to_pandas(), _benchmark(suite), 30_000.0, task_results=False)
    rows = [
        report_row(report.model_copy(update={"timestamp": began}), run_id=run_id, benchmark_version="1.0.0", origin="run")
        for report in reports
    ]
    folder = layout.run_folder(run_id)
    folder.mkdir(parents=True)
    manifest = _manifest(run_id, began, suite, shape, late=late)
    (folder / "manifest.json").write_bytes(manifest)
    tables: dict[TableName, pa.Table] = {"items": table, "reports": pa.Table.from_pylist(rows, schema=REPORT_SCHEMA)}
    lines = []
    for name, found in tables.items():
        relative = Layout.table_file(name, start_date(run_id), run_id)
        path = layout.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(found, path, compression="zstd", write_page_checksum=True)
        lines.append(digest_line(relative, digest_of_file(path)))
    return lines


_MEASURED = ["skill_id", "skill_version", "benchmark_id", "task_id", "run_index", "status", "score", "weight", "latency_ms"]


def _dated(template: pa.Table, run_id: str, began: datetime, *, late: bool, random: np.random.Generator) -> pa.Table:
    """The items of one night: 9 of 10 pass, of the first skill 7 of 10 after the drop."""
    first = pa.compute.equal(template["skill_id"], "skill-0").to_numpy()
    passed = random.random(len(template)) < np.where(first & late, AFTER, BEFORE)
    digests = np.where(first & late, _digest(99), template["skill_digest"].to_numpy())
    columns: dict[str, Any] = {
        "run_id": pa.array([run_id] * len(template)),
        "flow_run_id": pa.array([_id(random)] * len(template)),
        "task_run_id": pa.array([_id(random) for _ in range(len(template))]),
        "started_at": pa.array(_moments(began, len(template), random), template.schema.field("started_at").type),
        "skill_digest": pa.array(digests),
        "status": pa.array(np.where(passed, "pass", "fail")),
        "passed": pa.array(passed),
        "score": pa.array(passed.astype(float)),
        "latency_ms": pa.array(random.lognormal(3, 0.5, len(template)).round(3)),
        "output": pa.array([f'{{"result": {number}}}' for number in random.integers(0, 1_000_000, len(template))]),
    }
    for name, column in columns.items():
        template = template.set_column(template.schema.get_field_index(name), ITEM_SCHEMA.field(name), column)
    return template


def _id(random: np.random.Generator) -> str:
    return str(UUID(bytes=random.bytes(16)))


def _moments(began: datetime, count: int, random: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int64]]:
    """When each item began, in microseconds: one after the other, some 5 ms apart."""
    moments: np.ndarray[Any, np.dtype[np.int64]] = (began.timestamp() * 1e6 + random.exponential(5e3, count).cumsum()).astype(
        np.int64
    )
    return moments


def _manifest(run_id: str, began: datetime, suite: int, shape: Shape, *, late: bool) -> bytes:
    from pydantic_core import to_json

    from eval_skills.core.store import Manifest, ManifestBenchmark, ManifestSkill

    request = EvaluateRequest(
        benchmark=f"suite-{suite}", runs=shape.runs, skills=[f"skills/skill-{n}" for n in range(shape.skills)]
    )
    manifest = Manifest(
        run_id=run_id,
        created_at=began,
        request=request.to_json(),
        skills=[ManifestSkill(key=f"skill-{n}@1.0.0", digest=_digest(99 if late and not n else n)) for n in range(shape.skills)],
        benchmark=ManifestBenchmark(id=f"suite-{suite}", version="1.0.0", digest=_digest(suite)),
        versions={"python": "3.13.1", "eval-skills": "0.1.0", "prefect": "3.8.8"},
        git_commit=f"{int(late):040x}",
        platform="Linux",
        planned_items=shape.items,
    )
    return with_checksum(to_json(manifest.to_json(), indent=2), indent="  ") + b"\n"


def _benchmark(suite: int) -> Benchmark:
    return Benchmark.model_validate({"id": f"suite-{suite}", "name": "Suite", "version": "1.0.0", "tasks": []})


def _digest(number: int) -> str:
    return digest_of_json(number)
