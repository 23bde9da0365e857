"""What is known of a skill in one night, before and after its fresh runs, and how it was classified (see `classification`).

*Newly failing* tasks always passed and now always fail: the evidence of small samples, where no test over tasks can decide (see
`core.statistics.newly_failing`); the tasks' growing history corrects what is taken for steady at first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Literal

from eval_skills.core.diff.model import Judgement, PairedStatistics
from eval_skills.core.metrics.tasks import Tallies, merge_tallies

NightVerdict = Literal["regressed", "recovered", "flaky", "suspect", "better", "steady", "new", "failed", "gone"]
Rule = Literal["good nights", "since change", "slow drop", "baseline", "newly failing"]
BAD = frozenset({"regressed", "suspect", "failed", "gone"})
"""Verdicts after which later nights are not compared with this one."""

POOLED = 30
"""How many good nights, the latest ones, are the reference."""

WATCHED = 60
"""How many good nights the test for slow drops looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """How one skill did in one night, on tasks that tonight's run has unchanged.

    `made_of` is what was evaluated, by name: the skill's version and the digest of its files, the benchmark, the judge; None is
    unknown. `good` is whether later nights may be compared with it.
    """

    night_id: str
    tallies: Tallies
    made_of: Mapping[str, str | None] = field(default_factory=dict)
    good: bool = True

    def changes(self, earlier: Night) -> list[str]:
        """What is another one than in the earlier night, as ``skill version 1.0.0 → 1.1.0``."""
        both = {name: (earlier.made_of.get(name), value) for name, value in self.made_of.items()}
        return [f"{name} {old} → {new}" for name, (old, new) in both.items() if None not in (old, new) and old != new]


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """A skill compared with one reference: the tallies of both sides, and what the test of the whole night says of them.

    `name` is the reference in words; `since` is the night with which the other side begins. `left_open`: items without a verdict
    could make it worse. `by_runs`: it is worse by the runs of its tasks, and not by the test over tasks.
    """

    rule: Rule
    name: str
    before: Tallies
    after: Tallies
    since: str
    statistics: PairedStatistics | None
    verdict: Judgement = "inconclusive"
    explanation: str = ""
    left_open: bool = False
    by_runs: bool = False

    def worse_tasks(self) -> list[str]:
        """The tasks that moved to worse; none where the verdict is not worse."""
        if self.verdict != "worse":
            return []
        rates = {task: (self.before[task].rate, tally.rate) for task, tally in self.after.items() if task in self.before}
        return sorted(task for task, (old, new) in rates.items() if old is not None and new is not None and new < old)


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


@dataclass(frozen=True, kw_only=True)
class SkillNight:
    """Everything that is known of a skill of a suite before anything is confirmed.

    `past` are the nights before, oldest first: up to `WATCHED` good ones, and whatever came after the last of these, with the
    fresh runs then. `pinned` are the tallies of the baseline, under its name. `against` are the comparisons, as soon as they were
    made (`judged`). `lost` is what an earlier night found. `begins_anew`: there were nights, on other tasks or judged otherwise.
    `unread` are the runs of nights that should be among the past and are not, their items being gone or damaged.
    `left` are the tasks of its last night, sorted, that tonight's run does not ask, whatever became of them.
    `run_id` is tonight's run, and `store` where it is: what commands name.
    """

    suite: str
    tonight: Night
    past: Sequence[Night] = ()
    pinned: tuple[str, Tallies] | None = None
    against: Sequence[Against] = ()
    lost: LostEvidence | None = None
    begins_anew: bool = False
    unread: Sequence[str] = ()
    left: Sequence[str] = ()
    run_id: str | None = None
    store: str = ""

    @cached_property
    def good(self) -> list[Night]:
        """The good nights that are the reference, oldest first, at most `POOLED`."""
        return [night for night in self.past if night.good][-POOLED:]

    @cached_property
    def before(self) -> Tallies:
        """The tallies of these, together."""
        return merge_tallies(*(night.tallies for night in self.good))

    @cached_property
    def after(self) -> Tallies:
        """The tallies of tonight and of the nights since the last good one, together."""
        since = takewhile(lambda night: not night.good, reversed(self.past))
        return merge_tallies(*(night.tallies for night in since), self.tonight.tallies)

    @cached_property
    def known(self) -> set[str]:
        """The tasks that a night of the `past` had as they are tonight."""
        return {task for night in self.past for task in night.tallies}

    def newly_failing(self) -> list[str]:
        """See the function `newly_failing`; of the tasks that were run tonight, every item with a verdict."""
        asked = self.tonight.tallies
        failing = newly_failing(self.before, self.after)
        return [task for task in failing if task in asked and asked[task].always_failed and not asked[task].missing]

    def left_open(self) -> list[str]:
        """The tasks that would be newly failing if their items without a verdict had failed; sorted."""
        return sorted(
            task
            for task, tally in self.tonight.tallies.items()
            if tally.missing and not self.after[task].passed and task in self.before and self.before[task].always_passed
        )

    def moved(self) -> list[str]:
        """The tasks that are evidence against the skill, which fresh runs are to confirm; sorted."""
        return sorted({*self.newly_failing(), *(task for against in self.against for task in against.worse_tasks())})

    def changes(self, since: str) -> list[str]:
        """What changed in that night, against the one before."""
        nights = [*self.past, self.tonight]
        found = next((index for index, night in enumerate(nights) if night.night_id == since), 0)
        return nights[found].changes(nights[found - 1]) if found else []


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshRuns:
    """The fresh runs of the tasks that moved; `tallies` is None where they could not be made, and `problem` says why.

    `remarks` are what else their run says of itself. `of_other_files`: the skill's files changed after the run that they are to
    confirm, as before a night is continued: what they do not confirm is not refuted.
    """

    tallies: Tallies | None
    run_id: str | None = None
    problem: str = ""
    of_other_files: bool = False
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """The verdict on a skill and its explanation; `lost` is what counts as lost after this night.

    Of a regression that was found tonight, `rule` is the rule that fired, `began` the night from which on it holds, and `changed`
    what changed then. `left_open`: the skill could not be judged, for items without a verdict, or since every task, or what
    judges it, changed, or its files did before the fresh runs.
    """

    verdict: NightVerdict
    explanation: str
    tasks: list[str] = field(default_factory=list)
    lost: LostEvidence | None = None
    rule: Rule | None = None
    began: str | None = None
    changed: list[str] = field(default_factory=list)
    left_open: bool = False


FALSE_ALARM_CHANCE = 0.05


def newly_failing(before: Tallies, after: Tallies) -> list[str]:
    """The tasks that were passed whenever they were asked before, and never after; sorted."""
    return sorted(task for task, tally in after.items() if tally.always_failed and task in before and before[task].always_passed)
