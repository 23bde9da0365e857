"""What is known of a skill in one night, before and after its fresh runs, and how it was classified (see `classification`).

*Newly failing* tasks always passed and now always fail: the evidence of small samples, where no test over tasks can decide.

A task that is merely flaky, with the chance p to pass, passes h times and then fails a times with the probability
p^h·(1 − p)^a. That is the highest at p = h/(h + a), where it is h^h·a^a/(h + a)^(h + a), and no flakiness gives more: it is the
p value of Barnard's unconditional test for this outcome. Passed once and failed seven times since: 0.049.

Several such tasks of a skill must all be flaky: of F tasks that are seen to flip and k that may be flaky unseen, C(F + k, k)
choices of k could be the ones. The expected number of choices that look like this by chance is at most C(F + k, k)·Π of their
probabilities. F is counted, not bounded: a suite whose flaky tasks have not yet flipped is taken for a steady one; the tasks'
growing history corrects that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from eval_skills.core.diff.model import SkillDiff
from eval_skills.core.metrics.tasks import Tallies, count_tallies
from eval_skills.core.models import SkillCompletionReport

NightVerdict = Literal["regressed", "recovered", "flaky", "suspect", "better", "steady", "new", "failed"]
ReferenceKind = Literal["last good", "baseline"]
BAD = frozenset({"regressed", "suspect", "failed"})
"""Verdicts after which later nights are not compared with this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """A skill compared with one reference: its report there, and the difference as the whole night's test judged it."""

    kind: ReferenceKind
    name: str
    before: SkillCompletionReport
    diff: SkillDiff

    def worse_tasks(self) -> list[str]:
        """The tasks that moved to worse; none where the verdict is not worse."""
        return [flip.task_id for flip in self.diff.flips if flip.change == "worse"] if self.diff.verdict == "worse" else []


@dataclass(frozen=True, slots=True, kw_only=True)
class LostEvidence:
    """What an earlier night found lost and no later one recovered: the tasks, their rate before, and when it was lost."""

    tasks: list[str]
    expected_rate: float
    observed_rate: float
    since: str

    @property
    def halfway(self) -> float:
        """The rate at which half of it is back."""
        return (self.expected_rate + self.observed_rate) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillNight:
    """Everything that is known of a skill of a suite before anything is confirmed.

    `before` counts the tasks up to and with the last good night, `after` since then and tonight, fresh runs of earlier nights
    included. `lost` is what an earlier night found.
    """

    suite: str
    report: SkillCompletionReport
    against: list[Against] = field(default_factory=list)
    before: Tallies = field(default_factory=dict)
    after: Tallies = field(default_factory=dict)
    lost: LostEvidence | None = None

    def newly_failing(self) -> list[str]:
        """See the function `newly_failing`; of the tasks that were run tonight."""
        asked = count_tallies(self.report.task_results)
        return [task for task in newly_failing(self.before, self.after) if task in asked and asked[task].always_failed]

    def moved(self) -> list[str]:
        """The tasks that are evidence against the skill, which fresh runs are to confirm; sorted."""
        return sorted({*self.newly_failing(), *(task for against in self.against for task in against.worse_tasks())})


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshRuns:
    """The fresh runs of the tasks that moved; `report` is None where they could not be made, and `problem` says why."""

    report: SkillCompletionReport | None
    run_id: str | None = None
    problem: str = ""

    def tallies(self) -> Tallies:
        """How the tasks did in the fresh runs."""
        return count_tallies(self.report.task_results) if self.report else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """The verdict on a skill and its explanation; `lost` is what counts as lost after this night."""

    verdict: NightVerdict
    explanation: str
    tasks: list[str] = field(default_factory=list)
    lost: LostEvidence | None = None


FALSE_ALARM_CHANCE = 0.05


def newly_failing(before: Tallies, after: Tallies) -> list[str]:
    """The tasks that were passed whenever they were asked before, and never after; sorted."""
    return sorted(task for task, tally in after.items() if tally.always_failed and task in before and before[task].always_passed)


def chance_of_a_flaky_task(passed: int, failed: int) -> float:
    """The highest probability, over all p, that a task of chance p passes `passed` times and then fails `failed` times."""
    total = passed + failed
    if not passed or not failed:
        return 1.0
    return math.exp(passed * math.log(passed) + failed * math.log(failed) - total * math.log(total))


def chance_of_flaky_tasks(counts: Sequence[tuple[int, int]], flaky: int) -> float:
    """How many sets of tasks could be expected to look like these (passed, then failed) if they were flaky; at most 1.

    `flaky` is how many other tasks are seen to flip.
    """
    choices = math.comb(flaky + len(counts), len(counts))
    return min(1.0, choices * math.prod(chance_of_a_flaky_task(*count) for count in counts))
