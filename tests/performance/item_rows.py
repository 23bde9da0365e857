"""A made-up Parquet file of item rows, as wide as the metrics need and as uneven as real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eval_skills.core.models import Benchmark

SKILLS, RUNS = 10, 20


def write_items(path: Path, rows: int) -> None:
    """`rows` items of 10 skills × tasks × 20 runs, one row group after the other, in the order in which items finish."""
    random = np.random.default_rng(20260101)
    tasks = rows // (SKILLS * RUNS)
    run, task, skill = (axis.ravel() for axis in np.meshgrid(range(RUNS), range(tasks), range(SKILLS), indexing="ij"))
    status = np.array(["pass", "fail", "error", "timeout"])[random.choice(4, rows, p=[0.7, 0.2, 0.06, 0.04])]
    score = np.where(status == "pass", 1.0, np.where(status == "fail", random.random(rows).round(3), np.nan))
    columns = {
        "skill_id": pa.array(np.char.mod("skill-%d", skill)),
        "skill_version": pa.array(np.full(rows, "1.0.0")),
        "task_id": pa.array(np.char.mod("task-%05d", task)),
        "run_index": pa.array(run.astype(np.int32)),
        "status": pa.array(status),
        "score": pa.array(score, from_pandas=True),
        "weight": pa.array(np.ones(rows)),
        "latency_ms": pa.array(random.lognormal(5, 1, rows).round(3)),
        "prompt_tokens": pa.array(random.integers(10, 2000, rows)),
        "completion_tokens": pa.array(random.integers(10, 500, rows)),
        "cost_usd": pa.array(random.random(rows) / 100),
    }
    pq.write_table(pa.table(columns), path)


def read_items(path: Path) -> pd.DataFrame:
    """The rows as the store reads them."""
    frame: pd.DataFrame = pq.read_table(path).to_pandas()
    return frame


def no_benchmark() -> Benchmark:
    """A benchmark that knows no task: everything comes from the rows."""
    return Benchmark.model_validate({"id": "speed", "name": "Speed", "version": "1.0.0", "tasks": []})
