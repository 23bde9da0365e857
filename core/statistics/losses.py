"""What a loss is that the test over tasks does not call worse: by the runs of few tasks, or too large to be passed over."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from eval_skills.core.statistics.newly_failing import newly_failing_tasks
from eval_skills.core.statistics.paired import p_floor
from eval_skills.core.statistics.rates import IntArray
from eval_skills.core.statistics.runs import fewer_passes_p

LARGE_LOSS = 0.5
"""A loss of half is not passed for being chance: of few tasks it may well be, but nobody would want to release it unseen."""

_NEWLY_FAILING, _FEWER_PASSES = 0.475, 0.025
_SAME = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What is known of a loss of one skill.

    `size` is how much the mean completion rate of so many `tasks` went down, in (0, 1]. `newly_failing` and `floor` are those of
    `FailingTasks`, its chance and its floor; `fewer_passes` is the chance that `fewer_passes_p` gives.
    """

    size: float
    tasks: int
    newly_failing: float
    floor: float
    fewer_passes: float


def loss_of(before: tuple[IntArray, IntArray], after: tuple[IntArray, IntArray]) -> Loss | None:
    """The loss between two sides, each how many runs of each task passed and how many there are; None where nothing was lost."""
    size = float((before[0] / before[1] - after[0] / after[1]).mean())
    if size <= _SAME:
        return None
    found = newly_failing_tasks(before, after)
    return Loss(
        size=size,
        tasks=len(before[0]),
        newly_failing=found.chance,
        floor=found.floor,
        fewer_passes=fewer_passes_p(before, after),
    )


def weighed_loss(
    loss: Loss, *, compared: int, significance: float
) -> Literal["newly failing", "fewer runs pass", "cannot be told"] | None:
    """What a loss is, of one of `compared` skills, where the test over tasks does not call it worse.

    ``newly failing``: flaky tasks would seldom look like that. ``fewer runs pass``: fewer runs of these very tasks passed than
    chance explains. ``cannot be told``: so few tasks, with so few runs, that not even the loss of all of them could have shown;
    or at least half was lost. Half of the `significance` is spent here, nineteen twentieths of that on the first and one on the
    second, as the test over tasks spends half of its own on losses; all are adjusted for the skills `compared` (Bonferroni,
    Holm).
    """
    level = significance / compared
    if loss.newly_failing <= _NEWLY_FAILING * level:
        return "newly failing"
    if fewer_pass(loss.fewer_passes, compared=compared, significance=significance):
        return "fewer runs pass"
    could_show = loss.floor <= _NEWLY_FAILING * level or p_floor(loss.tasks) <= level
    return None if could_show and loss.size < LARGE_LOSS else "cannot be told"


def fewer_pass(chance: float, *, compared: int, significance: float) -> bool:
    """Whether this chance of `fewer_passes_p`, of one of so many comparisons, is too low to be one: 0.00125 of one, at 0.05."""
    return chance * compared <= _FEWER_PASSES * significance


def least_tasks(loss: Loss, *, compared: int, significance: float) -> int:
    """How many tasks, with one run each, the test over tasks needs at least to show a loss of this size; more than there are."""
    return max(loss.tasks + 1, math.ceil(math.ceil(math.log2(compared / significance)) / loss.size))
