"""Which items of a run come next: all at once, or run by run until every skill is decided. And how they share Prefect task runs:
each has its own up to a thousand, and more share about so many.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eval_skills.core.config.values import AUTO
from eval_skills.core.errors import UserError
from eval_skills.core.text import plural
from eval_skills.engine.evaluation.plan import Item, RunPlan

if TYPE_CHECKING:
    from eval_skills.core.diff.until import Decision
    from eval_skills.core.store import ReachedLimit


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a plan's items: the plan without those that a comparison that is decided did not need, how many of its items
    are finished, which limit left the others for a resume, if one did, and how many Prefect task runs evaluated them."""

    plan: RunPlan
    finished: int
    stopped: ReachedLimit | None = None
    task_runs: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether no item is left."""
        return self.finished == self.plan.planned


class Rounds:
    """The items of a plan, in rounds.

    Without a baseline there is one round. With one there is a look at each skill after each of its runs, from the first that the
    request allows; a skill that is decided is run no more. Looks are made from the journal alone, so a resumed run makes them
    again and goes on where it was.
    """

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._left = list(plan.items)
        self._runs = {} if plan.baseline is None else {key: min(levels) for key, levels in plan.baseline.levels.items()}
        self.begun: list[Item] = []
        self.decisions: list[Decision] = []

    def next(self) -> list[Item]:
        """The items of the next round; empty at the end. What the last round gave is in the journal by then."""
        due = set(self._left) if self._plan.baseline is None else self._due()
        items = [item for item in self._left if item in due]
        self._left = [item for item in self._left if item not in due]
        self.begun += items
        return items

    def settled(self) -> RunPlan:
        """The plan as it turned out: without the items that nobody needs any more."""
        return replace(self._plan, items=self.begun, decisions=self.decisions)

    def _due(self) -> set[Item]:
        due: set[Item] = set()
        for skill in list(self._runs):
            due.update(self._due_of(skill))
        return due

    def _due_of(self, skill: str) -> list[Item]:
        while (runs := self._runs.get(skill)) is not None:
            if due := [item for item in self._left if item.skill == skill and item.run < runs]:
                return due
            decision = self._look(skill, runs)
            if decision.is_decided or runs == decision.max_runs:
                self.decisions.append(decision)
                del self._runs[skill]
            else:
                self._runs[skill] = runs + 1
        return []

    def _look(self, skill: str, runs: int) -> Decision:
        from eval_skills.engine.stored_runs.reports import skill_reports_of  # pandas

        plan, of_skill = self._plan, self._plan.skills[skill]
        assert plan.baseline is not None
        items = plan.store.item_table(plan.run_id).to_pandas(maps_as_pydicts="strict")
        seen = items[
            (items["skill_id"] == of_skill.id) & (items["skill_version"] == of_skill.version) & (items["run_index"] < runs)
        ]
        (report,) = skill_reports_of(seen, plan.benchmark, plan.request.timeout_ms, detailed=True)
        return plan.baseline.look(report, runs)


def record_decisions(plan: RunPlan) -> None:
    """Write into the manifest of a run that grew why it ended, and how many items it has for that; before it lands."""
    if not plan.decisions:
        return
    from eval_skills.core.diff.until import DECISIONS

    decisions = {DECISIONS: [decision.to_json() for decision in plan.decisions]}
    provenance = plan.store.manifest(plan.run_id).provenance | decisions
    plan.amend_manifest(planned_items=plan.planned, provenance=provenance)


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
