"""Which items of a run come next: all at once, or run by run until every skill is decided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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

    manifest = plan.store.manifest(plan.run_id)
    noted = manifest.provenance | {DECISIONS: [decision.to_json() for decision in plan.decisions]}
    manifest = manifest.model_copy(update={"planned_items": plan.planned, "provenance": noted})
    plan.write_manifest(manifest)
