"""The difference of two evaluations, as data."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import Field

from eval_skills.core.models.base import Model, Rate
from eval_skills.core.models.result import Reason, Status
from eval_skills.core.statistics.paired import Spread
from eval_skills.core.text import plural, skill_key

Change = Literal["compared", "added", "removed"]
Judgement = Literal["better", "worse", "equivalent", "inconclusive"]
JUDGEMENTS: tuple[Judgement, ...] = get_args(Judgement)
MissingRule = Literal["bounds", "ignore"]
"""Items without a verdict: a judgement must hold however they would have gone, or is made of the others alone."""
Metric = Literal[
    "completionRate", "errorRate", "p95Ms", "compositeScore", "latencyMs", "costUsd", "tokens", "steps", "partialScore"
]


class DiffRow(Model, defer_build=True):
    """One figure on both sides. The arrow says where it went, `good` whether that is welcome; neither where it did not move.

    Both may be chance: only where `significant` does a test of this figure's own say that it changed, and only there are they
    shown. `adjusted_p` is Holm's, `p_value` that of the figure alone; None where it has no test (P95, composite). The test of the
    completion rate is the verdict's. `ratio` is after / before where that is what is tested.
    `before`, `after` and so `delta` are None where unknown; units are those of the report (rates, ms), never rounded.
    """

    metric: Metric
    before: float | None
    after: float | None
    delta: float | None = None
    arrow: Literal["↑", "↓", ""] = ""
    good: bool | None = None
    ratio: float | None = None
    p_value: Rate | None = None
    adjusted_p: Rate | None = None
    significant: bool = False


class FlipSide(Model, defer_build=True):
    """One run of a task that shows how that side went: the pass on the better side, the miss on the worse one.

    `run_index` counts from 0, of `runs` that the side has; 0 where an earlier version did not write that down.
    """

    completion_rate: Rate
    run_index: int
    runs: int = Field(default=0, ge=0)
    status: Status
    output: Any = None
    reasons: list[Reason] = Field(default_factory=list)


class Flip(Model, defer_build=True):
    """A task whose completion rate moved."""

    task_id: str
    change: Literal["better", "worse"]
    before: FlipSide
    after: FlipSide


class DifferenceInterval(Model, defer_build=True):
    """An interval of the mean difference, in [−1, 1]; method ``t`` (for equivalence with the limits of `proving_interval`), or
    ``constant`` where all tasks moved alike."""

    lower: float
    upper: float
    level: float
    method: Literal["t", "constant"]


class AtBound(Model, defer_build=True):
    """What the test says with all missing items taken one way; `adjusted_p` is Holm's over the skills of the diff."""

    p_value: Rate
    adjusted_p: Rate
    equivalence_interval: DifferenceInterval


class MissingItems(Model, defer_build=True):
    """Items without a verdict on the skill (error kinds infra, scorer, judge, simulator), and how far they could move the mean
    difference.

    `lower` takes those after as failed and those before as passed, `upper` the other way round; `at_lower` and `at_upper` are
    what the test says there. `judges_alone`: only judges failed, so all have their answers; it is in no document.
    """

    before: int
    after: int
    lower: float
    upper: float
    at_lower: AtBound
    at_upper: AtBound
    judges_alone: bool = Field(default=False, exclude=True)

    @property
    def count(self) -> int:
        """Of both sides."""
        return self.before + self.after


class PairedStatistics(Model, defer_build=True):
    """The shared tasks compared pairwise; differences are after − before of each task's completion rate, both of the items that
    have a verdict on the skill.

    `p_value` is the mid-p of `test`, the sign-flip permutation test (exact where that can be computed, else drawn with `seed`);
    `adjusted_p` is Holm's over the skills of the diff, and what the verdict reads. `p_floor` is the least p that so many
    differing tasks can give; `smallest_effect` the least mean difference that this sample shows with 80 % power (None: unknown),
    and `tasks_needed` how many tasks would show one as small as the equivalence margin, both by the same test and adjusted for
    as many skills. `spread` is what they are computed from. `fewer_passes_p` is the chance that so few runs pass after if no
    task changed, by the runs of each task, one-sided (None in documents of earlier versions).
    """

    tasks: int
    tasks_better: int
    tasks_worse: int
    mean_difference: float
    interval: DifferenceInterval
    equivalence_interval: DifferenceInterval
    equivalence_margin: float
    correlation: float | None
    test: Literal["sign_flip_exact", "sign_flip_drawn"]
    seed: int
    p_value: Rate
    adjusted_p: Rate
    sign_test_p: Rate
    t_test_p: Rate | None
    p_floor: Rate
    smallest_effect: float | None
    tasks_needed: int | None
    spread: Spread | None = None
    fewer_passes_p: Rate | None = None
    missing: MissingItems | None = None


class NewlyFailing(Model, defer_build=True):
    """The tasks that passed in every run before and in none after, each in at least two runs with a verdict; sorted.

    `chance`: flaky tasks would look like that in no more of comparisons (see `core.statistics.newly_failing`); of one skill, not
    adjusted for several. `floor`: the least that it could have been, had every task been lost.
    """

    tasks: list[str]
    chance: Rate
    floor: Rate


class SkillDiff(Model, defer_build=True):
    """One skill: its id and version after (of a removed one: before), its figures, and a verdict where it was compared.

    `explanation` is the verdict in one sentence. `statistics` and `newly_failing` are None where no task has a verdict of the
    skill on both sides. `tasks_changed` are asked, expected or weighed otherwise after than before, `tasks_judged_otherwise` by
    another scorer, code, model or setting; neither are compared, nor are `tasks_without_verdict`, of which a side has no item
    with a verdict on the skill. `several_versions` says of which side the items are of several
    versions of the skill's files. `figures_of_tasks`: where the sides do not hold the same tasks, the rows are of so many shared
    ones alone; None where they are those of the reports.
    """

    skill_id: str
    skill_version: str
    benchmark_id: str
    before_skill_id: str | None = None
    before_version: str | None = None
    change: Change
    rows: list[DiffRow]
    verdict: Judgement | None = None
    explanation: str = ""
    statistics: PairedStatistics | None = None
    newly_failing: NewlyFailing | None = None
    flips: list[Flip] = Field(default_factory=list)
    tasks_only_before: list[str] = Field(default_factory=list)
    tasks_only_after: list[str] = Field(default_factory=list)
    tasks_changed: list[str] = Field(default_factory=list)
    tasks_judged_otherwise: list[str] = Field(default_factory=list)
    tasks_without_verdict: list[str] = Field(default_factory=list)
    several_versions: str | None = None
    figures_of_tasks: int | None = None

    @property
    def skill_key(self) -> str:
        """``id@version`` after, of a removed one before."""
        return skill_key(self.skill_id, self.skill_version)

    @property
    def before_key(self) -> str | None:
        """``id@version`` before; None where it was not there."""
        if self.before_skill_id is None or self.before_version is None:
            return None
        return skill_key(self.before_skill_id, self.before_version)

    @property
    def is_beside_another(self) -> bool:
        """Whether it was compared with another skill, or another version."""
        return self.change == "compared" and self.before_key != self.skill_key

    @property
    def tasks_incomparable(self) -> list[str]:
        """The tasks of both sides that are not compared, because they, or how they are judged, changed."""
        return [*self.tasks_changed, *self.tasks_judged_otherwise]

    @property
    def left_open(self) -> bool:
        """Whether items without a verdict on the skill keep it from being judged."""
        return self.verdict == "inconclusive" and self.statistics is not None and self.statistics.missing is not None


class Together(Model, defer_build=True):
    """Several skills as one: each task's differences averaged over those of them that are compared on it, and their mean.

    `p_value` is the mid-p of the sign-flip test over the `tasks`. What many skills lose together may be too little of each.
    """

    skills: int
    tasks: int
    mean_difference: float
    p_value: Rate


class ReportDiff(Model, defer_build=True):
    """Two evaluations compared skill by skill, and `together` where several are.

    `significance` is the p, and `min_effect` the size of the mean difference, that a verdict of better or worse must reach.
    """

    skills: list[SkillDiff]
    together: Together | None = None
    significance: float = Field(gt=0, lt=0.5)
    equivalence_margin: float = Field(gt=0, lt=1)
    min_effect: Rate = 0.0
    missing: MissingRule = "bounds"

    @property
    def not_compared(self) -> str:
        """In words, how many tasks no verdict is about: those of the earlier side that changed, left or are judged otherwise, and
        those that are new; a task of several skills counts once. Empty where every task was compared.
        """
        lost = {
            (skill.benchmark_id, task) for skill in self.skills for task in (*skill.tasks_incomparable, *skill.tasks_only_before)
        }
        new = {(skill.benchmark_id, task) for skill in self.skills for task in skill.tasks_only_after} - lost
        gone = _not_compared(len(lost), "of the earlier side changed, left or {} judged otherwise")
        return "; ".join(filter(None, [gone, _not_compared(len(new), "of the later side {} new")]))


def _not_compared(count: int, why: str) -> str:
    is_, was = ("is", "was") if count == 1 else ("are", "were")
    return f"{plural(count, 'task')} {why.format(is_)}, and {was} not compared" if count else ""
