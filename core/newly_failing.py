"""Tasks that always passed and now always fail: the evidence of small samples, where no test over tasks can decide.

A task that is merely flaky, with the chance p to pass, passes h times and then fails a times with the probability
p^h·(1 − p)^a. That is the highest at p = h/(h + a), where it is h^h·a^a/(h + a)^(h + a), and no flakiness gives more: it is the
p value of Barnard's unconditional test for this outcome. Passed once and failed seven times since: 0.049.

Several such tasks of a skill must all be flaky: of F tasks that are seen to flip and k that may be flaky unseen, C(F + k, k)
choices of k could be the ones. The expected number of choices that look like this by chance is at most C(F + k, k)·Π of their
probabilities. F is counted, not bounded: a suite whose flaky tasks have not yet flipped is taken for a steady one, which the
tasks' growing history mends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from eval_skills.core.task_tally import Tallies

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
