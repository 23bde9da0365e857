"""Tasks that always passed and now always fail: the evidence of small samples, where no test over tasks can decide.

A task that is merely flaky, with the chance p to pass, passes h times and then fails a times with the probability
p^h·(1 − p)^a. That is the highest at p = h/(h + a), where it is h^h·a^a/(h + a)^(h + a), and no flakiness gives more: it is the
p value of Barnard's unconditional test for this outcome. Passed once and failed seven times since: 0.049.

Several such tasks of a skill must all be flaky: of F tasks that are seen to flip and k that may be flaky unseen, C(F + k, k)
choices of k could be the ones. The expected number of choices that look like this by chance is at most C(F + k, k)·Π of their
probabilities. F is counted, not bounded: tasks that have not yet flipped are taken for steady ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eval_skills.core.statistics.rates import IntArray

LEAST_RUNS = 2
"""Of one comparison alone, a task with one run on a side says nothing: whether it flips is not seen. Where nothing changed, a
chance of at most 5 % is found in at most 5 % of comparisons from two runs on (simulated with tasks of every flakiness), and in up
to half of them with one."""


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
    choices = math.log(math.comb(flaky + len(counts), len(counts)))
    return math.exp(min(0.0, choices + sum(math.log(chance_of_a_flaky_task(*count)) for count in counts)))


@dataclass(frozen=True, slots=True)
class FailingTasks:
    """Which of the tasks compared passed in every run before and in none after, each in at least two: their positions.

    `chance` is that of `chance_of_flaky_tasks`, 1 where there are none; `floor` what it would be had all tasks been lost, 1 where
    none has two runs on both sides.
    """

    tasks: list[int]
    chance: float
    floor: float


def newly_failing_tasks(before: tuple[IntArray, IntArray], after: tuple[IntArray, IntArray]) -> FailingTasks:
    """What two sides say task by task; each is how many runs passed, and how many there are (at least one)."""
    (passed_before, runs_before), (passed_after, runs_after) = before, after
    several = (runs_before >= LEAST_RUNS) & (runs_after >= LEAST_RUNS)
    lost = (passed_before == runs_before) & (passed_after == 0)
    steady = ((passed_before == 0) & (passed_after == 0)) | ((passed_before == runs_before) & (passed_after == runs_after))
    counts = list(zip(runs_before.tolist(), runs_after.tolist(), strict=True))
    found: list[int] = (lost & several).nonzero()[0].tolist()
    flaky = int((~steady & ~(lost & several)).sum())
    return FailingTasks(
        tasks=found,
        chance=chance_of_flaky_tasks([counts[task] for task in found], flaky) if found else 1.0,
        floor=chance_of_flaky_tasks([counts[task] for task in several.nonzero()[0]], 0),
    )
