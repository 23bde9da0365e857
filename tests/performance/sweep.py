"""Row 5: a large sweep, a hundred items to a task run, durable to the end."""

from __future__ import annotations

from statistics import median

from tests.performance.bar import Bar
from tests.performance.cpu import CpuClock
from tests.performance.isolation import folder_of_row
from tests.performance.memory import peak_mb
from tests.performance.server import settle, warm_server
from tests.performance.subjects import evaluation, noop_skill, register_noop

BATCH = 100


def measure(*, quick: bool) -> list[Bar]:
    """Items/s from the call of the flow until every item has landed, and the peak memory of this process in the first sweep."""
    tasks, runs, rounds = (100, 20, 2) if quick else (1000, 20, 3)
    folder, items = folder_of_row(), tasks * runs
    rates: list[float] = []
    peak = 0.0
    with warm_server() as server:
        from tests.performance.prefect_flows import evaluated

        register_noop()
        skill = noop_skill(folder)
        evaluated(evaluation(folder, skill, 20))
        clock = CpuClock(server)
        for number in range(rounds):
            summary, duration = evaluated(evaluation(folder, skill, tasks, runs=runs, items_per_task=BATCH))
            peak = peak_mb() if number == 0 else peak
            rates.append(items / duration)
            settle(server, summary.flow_runs[0], summary.task_runs)
            _check_landed(folder / "store", summary.run_id, items)
        cost = clock.per(items * rounds)
    what = f"{items} no-op items, {BATCH} per task run, journal + Parquet"
    made_of = (
        f"{min(rates):.0f}..{max(rates):.0f} items/s in {rounds} sweeps, 4 task runs at a time; the adapter is a no-op; {cost}"
    )
    return [
        Bar(row="sweep", what=what, measured=median(rates), limit=1500, at_least=True, unit="items/s", detail=made_of),
        Bar(row="sweep", what="peak memory of the process meanwhile", measured=peak, limit=500, unit="MB"),
    ]


def _check_landed(store: object, run_id: str, items: int) -> None:
    from eval_skills.core.store import Store

    landed = len(Store(str(store)).items(run_id=run_id, columns=["task_id"]))
    if landed != items:
        raise RuntimeError(f"{landed} of {items} items landed")
