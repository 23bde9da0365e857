"""What the run at hand could show, and what judging it would take, before anything is called."""

from __future__ import annotations

from eval_skills.core.errors import UserError
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.text import plural
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.planning.plan import StoredSample, read_sample, shown_effect, task_chances
from eval_skills.reporting.numbers import usd


class Foreseen(Model):
    """The smallest loss of completion that a comparison of this run with another of its size finds in 80 %, None where it finds
    none; how many answers a model will judge, and what that costs (None: not known)."""

    smallest_effect: float | None
    base_rate: Rate
    flakiness: Rate
    source: str | None
    assumed: list[str]
    judged_answers: int
    judging_usd: float | None

    @property
    def lines(self) -> list[str]:
        """In words, one line for each."""
        shows = "no loss at all" if self.smallest_effect is None else f"a loss of {100 * self.smallest_effect:.1f} pp or more"
        origin = [f"run {self.source}"] if self.source else []
        origin += [f"assumed {', '.join(self.assumed)}"] if self.assumed else []
        said = [f"shows      {shows}, in 80 % of comparisons", f"           by {' and '.join(origin)}"]
        if self.judged_answers:
            cost = "" if self.judging_usd is None else f", about {usd(self.judging_usd)}"
            said.append(f"judging    {plural(self.judged_answers, 'answer')} by a model{cost}")
        return said


def foreseen(plan: RunPlan) -> Foreseen:
    """From the last stored run on the same benchmark, else from the values that `plan` assumes."""
    sample = _last_sample(plan)
    chances, assumed = task_chances(sample)
    judges = {task for task, scoring in plan.scorings.items() if scoring.judge or scoring.claims_judge}
    judged = sum(item.task in judges for item in plan.items)
    each = sample.judging_usd if sample else None
    return Foreseen(
        smallest_effect=shown_effect(chances, len(plan.benchmark.tasks), plan.request.most_runs, max(1, len(plan.skills))),
        base_rate=chances.rate,
        flakiness=chances.flakiness,
        source=sample.run_id if sample else None,
        assumed=assumed,
        judged_answers=judged,
        judging_usd=None if each is None else each * judged,
    )


def _last_sample(plan: RunPlan) -> StoredSample | None:
    same = (row["run_id"] for row in plan.store.run_rows() if (row["benchmark"] or "").startswith(f"{plan.benchmark.id}@"))
    try:
        return read_sample(plan.store, run_id) if (run_id := next(same, None)) else None
    except UserError:
        return None  # a damaged run must not keep another from being planned
