"""What one item costs: processor time, bytes and memory, by which a run on a cluster can be planned; no bars.

python -m tests.performance.unit_costs [ITEMS]

With ``PREFECT_API_DATABASE_CONNECTION_URL`` Prefect's records go to that PostgreSQL; its own processor time is not counted. With
``PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED=true`` the server keeps single events, as one that stays does.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time, sleep

import psutil

from eval_skills.core.store import Journal, land
from eval_skills.engine.evaluation.in_process import _evaluate
from eval_skills.engine.evaluation.plan import make_plan
from eval_skills.engine.evaluation.rounds import Rounds, batches_of
from eval_skills.engine.evaluation.session import manifest_of
from eval_skills.engine.evaluation.summary import landed_reports
from tests.performance.cpu import CpuClock
from tests.performance.memory import peak_mb
from tests.performance.subjects import evaluation, noop_skill, register_noop

ITEMS, RUNS, TASK_RUNS = 100_000, 20, 1000
SETTLED_S = 5.0
"""How long the server may take to write down what it keeps beside the states of task runs."""


def main(items: int) -> None:
    """Measure and print each cost, one line each."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {items:,} no-op items")
    with TemporaryDirectory() as home:
        folder = Path(home)
        register_noop()
        _plan(folder, items)
        _run(folder, items)
        _prefect(folder)


def _plan(folder: Path, items: int) -> None:
    before = _resident_mb()
    with _cost("plan", items):
        plan = make_plan(evaluation(folder, noop_skill(folder), items // RUNS, runs=RUNS))
        held = [Rounds(plan).next(), batches_of(plan)]
    _say("memory of the plan and its batches", 1e6 * (_resident_mb() - before) / items, "bytes an item")
    del held


def _run(folder: Path, items: int) -> None:
    """A run without Prefect, step by step, and what it leaves on the disk."""
    plan = make_plan(evaluation(folder, noop_skill(folder), items // RUNS, runs=RUNS))
    plan.write_manifest(manifest_of(plan))
    with _cost("call a no-op, score, record in the journal", items), Journal(plan.store.journal_path(plan.run_id)) as journal:
        asyncio.run(_evaluate(plan, journal, None))
    _say("journal", plan.store.journal_path(plan.run_id).stat().st_size / items, "bytes an item")
    _say("peak memory so far", peak_mb(), "MB")
    with _cost("land", items):
        landed = land(plan.store, plan.run_id)
    _say("Parquet", Path(landed).stat().st_size / items, "bytes an item")
    _say("peak memory so far", peak_mb(), "MB")
    with _cost("figures", items):
        landed_reports(plan)
    _say("peak memory so far", peak_mb(), "MB")


def _prefect(folder: Path) -> None:
    """What a task run costs Prefect's client and server, and how many bytes of database it takes."""
    os.environ |= {"PREFECT_HOME": str(folder / "prefect"), "BENCHMARK_ROW_FOLDER": str(folder)}
    from tests.performance.server import settle, warm_server

    with warm_server() as server:
        from tests.performance.prefect_flows import idle

        settle(server, idle(20).flow_run, 20)
        sleep(SETTLED_S)
        before, clock = _database_bytes(folder), CpuClock(server)
        settle(server, idle(TASK_RUNS).flow_run, TASK_RUNS)
        sleep(SETTLED_S)
        print(f"  a task run of Prefect: {clock.per(TASK_RUNS).replace('per item', 'a task run')}")
        _say("Prefect's database", (_database_bytes(folder) - before) / TASK_RUNS, "bytes a task run")


def _database_bytes(folder: Path) -> int:
    if (url := os.environ.get("PREFECT_API_DATABASE_CONNECTION_URL")) is not None:
        return asyncio.run(_postgres_bytes(url.replace("+asyncpg", "", 1)))
    return sum(path.stat().st_size for path in (folder / "prefect").glob("prefect.db*"))


async def _postgres_bytes(url: str) -> int:
    import asyncpg  # type: ignore[import-untyped]

    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval("SELECT pg_database_size(current_database())"))
    finally:
        await connection.close()


@contextmanager
def _cost(what: str, items: int) -> Iterator[None]:
    before = process_time()
    yield
    _say(what, 1000 * (process_time() - before) / items, "ms of CPU an item")


def _resident_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 1e6


def _say(what: str, figure: float, unit: str) -> None:
    print(f"  {what}: {figure:.3g} {unit}" if figure < 1000 else f"  {what}: {figure:,.0f} {unit}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ITEMS)
