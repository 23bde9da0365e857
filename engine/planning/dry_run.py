"""What the run at hand could show, and what judging it would take, before anything is called."""

from __future__ import annotations

from collections import Counter

from pydantic import Field

from eval_skills.core.errors import UserError
from eval_skills.core.models.base import Model, Rate
from eval_skills.core.text import plural
from eval_skills.engine.evaluation.plan import RunPlan
from eval_skills.engine.planning.plan import StoredSample, read_sample, shown_effect, task_chances
from eval_skills.reporting.numbers import usd


class Foreseen(Model):
    """The smallest loss of completion that a comparison of this run with another of its size finds in 80 %, None where it finds
    none; how many answers models will judge, about how many `questions` each of them gets by its name, and what that costs (None:
    not known); and in how many conversations models play users, with the most `user_questions` that each of them can get."""

    smallest_effect: float | None
    base_rate: Rate
    flakiness: Rate
    source: str | None
    assumed: list[str]
    judged_answers: int
    questions: dict[str, int]
    judging_usd: float | None
    simulated: int = 0
    user_questions: dict[str, int] = Field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """In words, one line for each."""
        shows = "no loss at all" if self.smallest_effect is None else f"a loss of {100 * self.smallest_effect:.1f} pp or more"
        origin = [f"run {self.source}"] if self.source else []
        origin += [f"assumed {', '.join(self.assumed)}"] if self.assumed else []
        said = [f"shows      {shows}, in 80 % of comparisons", f"           by {' and '.join(origin)}"]
        if self.judged_answers:
            said += self._judging
        if self.simulated:
            asked = ", ".join(f"{name} ({count:,})" for name, count in self.user_questions.items())
            most = plural(sum(self.user_questions.values()), "question")
            said.append(f"users      {plural(self.simulated, 'conversation')} with simulated ones, at most {most} to {asked}")
        return said

    @property
    def _judging(self) -> list[str]:
        asked = ", ".join(f"{name} ({count:,})" for name, count in self.questions.items())
        if self.judging_usd is None:
            cost = "at a cost that is not known, since no run like this was judged at a known one"
        else:
            cost = f"about {usd(self.judging_usd)}, as in run {self.source}"
        questions = plural(sum(self.questions.values()), "question")
        return [
            f"judging    {plural(self.judged_answers, 'answer')}, about {questions} to {asked}",
            f"           {cost}; what is in the cache costs nothing",
        ]


def foreseen(plan: RunPlan) -> Foreseen:
    """From the last stored run on the same benchmark, else from the values that `plan` assumes."""
    sample = _last_sample(plan)
    chances, assumed = task_chances(sample)
    judged = [plan.scorings[item.task].questions for item in plan.items if plan.scorings[item.task].models]
    questions = Counter[str]()
    for asked in judged:
        questions.update({name or str(plan.request.llm.model): count for name, count in asked.items()})
    simulated = [plan.scorings[item.task].user_questions for item in plan.items if plan.calls_skills]
    users = Counter[str]()
    for most in simulated:
        users.update({name or str(plan.request.llm.model): count for name, count in most.items()})
    each = sample.question_usd if sample and _asked_as_now(plan, sample.run_id) else None
    return Foreseen(
        smallest_effect=shown_effect(chances, _tasks_of_a_skill(plan), plan.request.most_runs, max(1, len(plan.skills))),
        base_rate=chances.rate,
        flakiness=chances.flakiness,
        source=sample.run_id if sample else None,
        assumed=assumed,
        judged_answers=len(judged),
        questions=questions,
        judging_usd=None if each is None else each * questions.total(),
        simulated=sum(bool(most) for most in simulated),
        user_questions=users,
    )


def _tasks_of_a_skill(plan: RunPlan) -> int:
    """How many tasks a skill is asked; the mean where each has its own."""
    tasks, parts = len(plan.benchmark.tasks), plan.benchmark.parts
    return max(1, round(tasks / len(parts))) if parts else tasks


def _asked_as_now(plan: RunPlan, run_id: str) -> bool:
    """Whether the model of that run is the one that is named now: another one has another price."""
    then = plan.store.manifest(run_id).request.get("llm") or {}
    return then.get("model") == plan.request.llm.model


def _last_sample(plan: RunPlan) -> StoredSample | None:
    same = (row["run_id"] for row in plan.store.run_rows() if (row["benchmark"] or "").startswith(f"{plan.benchmark.id}@"))
    try:
        return read_sample(plan.store, run_id) if (run_id := next(same, None)) else None
    except UserError:
        return None  # a damaged run must not keep another from being planned
