"""How a run's items share Prefect task runs: each has its own up to a thousand, and more share about so many."""

from __future__ import annotations

from collections import defaultdict

from eval_skills.core.config.limits import AUTO
from eval_skills.core.errors import UserError
from eval_skills.core.text import plural
from eval_skills.engine.evaluation.plan import Item, RunPlan

TASK_RUNS = 1000
"""So many task runs Prefect's server records, and its UI shows, without becoming what a run waits for."""

MOST_ITEMS, MOST_SECONDS = 200, 60.0
"""A batch is at most so large, and at most so long as far as the store knows: one after the other, its items show as one."""


class ItemBatch:
    """Items that share one Prefect task run; each keeps its own time limit, retries and journal line.

    Not a dataclass: Prefect looks for futures in every field of those, six times per task run, which takes it longer than short
    items take.
    """

    __slots__ = ("items",)

    def __init__(self, items: tuple[Item, ...]) -> None:
        self.items = items

    def __str__(self) -> str:
        return f"{self.items[0]} +{len(self.items) - 1}" if len(self.items) > 1 else str(self.items[0])


def batches_of(plan: RunPlan) -> list[ItemBatch]:
    """The plan's items in batches, in their order.

    As many items each as `items_per_task` says. With ``auto`` one each up to `TASK_RUNS` items; then about so many batches,
    where the runs of a skill's task stay together, none over `MOST_ITEMS` or, by the latencies of the youngest run on the
    benchmark, over `MOST_SECONDS`.
    """
    size = plan.request.items_per_task
    if isinstance(size, int):
        return [ItemBatch(tuple(plan.items[start : start + size])) for start in range(0, len(plan.items), size)]
    if len(plan.items) <= TASK_RUNS:
        return [ItemBatch((item,)) for item in plan.items]
    return _packed(plan.items, min(MOST_ITEMS, -(-len(plan.items) // TASK_RUNS)), _latencies(plan))


def batch_words(plan: RunPlan) -> str:
    """``, 1,000 task runs of up to 20`` items; empty where each item has its own."""
    if plan.request.items_per_task == AUTO and len(plan.items) <= TASK_RUNS:
        return ""
    batches = batches_of(plan)
    most = max((len(batch.items) for batch in batches), default=1)
    return "" if most == 1 else f" in {plural(len(batches), 'task run')} of up to {most:,}"


def _packed(items: list[Item], most: int, latencies: dict[str, float]) -> list[ItemBatch]:
    batches: list[ItemBatch] = []
    filling: list[Item] = []
    seconds = 0.0
    for piece in _pieces(items, most):
        expected = len(piece) * latencies.get(piece[0].skill, 0.0)
        if filling and (len(filling) + len(piece) > most or seconds + expected > MOST_SECONDS):
            batches.append(ItemBatch(tuple(filling)))
            filling, seconds = [], 0.0
        filling += piece
        seconds += expected
    return [*batches, ItemBatch(tuple(filling))]


def _pieces(items: list[Item], most: int) -> list[list[Item]]:
    """The runs of each skill's task, at most so many at a time; in the order of their first ones."""
    together: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        together[item.skill, item.task].append(item)
    return [runs[start : start + most] for runs in together.values() for start in range(0, len(runs), most)]


def _latencies(plan: RunPlan) -> dict[str, float]:
    """The mean seconds that an item of each skill took in the youngest run on this benchmark; none where nothing is known."""
    of_benchmark = f"{plan.benchmark.id}@"
    same = (
        row["run_id"]
        for row in plan.store.run_rows()
        if row["run_id"] != plan.run_id and (row["benchmark"] or "").startswith(of_benchmark)
    )
    if (run_id := next(same, None)) is None:
        return {}
    try:
        table = plan.store.item_table(run_id).select(["skill_id", "skill_version", "latency_ms"])
    except UserError:  # a damaged run must not keep another from being run
        return {}
    means = table.group_by(["skill_id", "skill_version"]).aggregate([("latency_ms", "mean")]).to_pylist()
    known = {row["skill_id"]: row["latency_ms_mean"] / 1000 for row in means if row["latency_ms_mean"] is not None}
    return {skill.key: known[skill.id] for skill in plan.skills.values() if skill.id in known}
