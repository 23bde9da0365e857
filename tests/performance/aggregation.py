"""Row 7: the metrics of a million items, against DuckDB's time for the same figures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from eval_skills.core.metrics.reports import skill_reports
from tests.performance.bar import Bar
from tests.performance.isolation import ROOT, folder_of_row
from tests.performance.item_rows import no_benchmark, read_items, write_items
from tests.performance.memory import peak_mb
from tests.performance.rounds import Rounds, alternate, seconds
from tests.performance.sql_figures import refuse_difference, sql_figures

TIMEOUT_MS = 30_000.0


def measure(*, quick: bool) -> list[Bar]:
    """The time ratio, each way from its own table in memory, and the peak memory of a process that only reads and reports."""
    rows, rounds = (100_000, 3) if quick else (1_000_000, 7)
    path = folder_of_row() / "items.parquet"
    write_items(path, rows)
    taken = _compared(path, rounds)
    return [
        Bar(
            row="aggregation",
            what=f"metrics of {rows} item rows over DuckDB",
            measured=taken.ratio("ours s", "DuckDB s"),
            limit=3.0,
            detail=f"{taken.spread('ours s')}, {taken.spread('DuckDB s')}, each from its own table in memory; "
            f"DuckDB over the same DataFrame: {taken.spread('DuckDB on pandas s')}",
        ),
        Bar(
            row="aggregation",
            what="peak memory of reading and reporting them",
            measured=_peak_apart_mb(path),
            limit=1500,
            unit="MB",
            detail="a process of its own, from Parquet to reports",
        ),
    ]


def _compared(path: Path, rounds: int) -> Rounds:
    import duckdb

    frame, benchmark, connection = read_items(path), no_benchmark(), duckdb.connect()
    native, on_pandas = connection, duckdb.connect()
    native.execute("create table items as select * from read_parquet(?)", [str(path)])
    on_pandas.register("items", frame)
    refuse_difference(skill_reports(frame, benchmark, TIMEOUT_MS, task_results=False), sql_figures(native))
    return alternate(
        {
            "ours s": lambda: seconds(lambda: skill_reports(frame, benchmark, TIMEOUT_MS, task_results=False)),
            "DuckDB s": lambda: seconds(lambda: sql_figures(native)),
            "DuckDB on pandas s": lambda: seconds(lambda: sql_figures(on_pandas)),
        },
        rounds,
    )


def _peak_apart_mb(path: Path) -> float:
    command = [sys.executable, "-m", "tests.performance.aggregation", str(path)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    skill_reports(read_items(Path(sys.argv[1])), no_benchmark(), TIMEOUT_MS, task_results=False)
    print(peak_mb())
