"""What comparisons would find, before they are run: the verdict's own test, simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval_skills.core.statistics.losses import loss_of, weighed_loss
from eval_skills.core.statistics.paired import Spread, holm, sign_flip_test
from eval_skills.core.statistics.rates import DEFAULT_SEED, IntArray

SIGNIFICANCE = 0.05
DRAWS = 400
_SURE, _ALIKE = 0.999, 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChances:
    """How the tasks' chances to pass are spread, as a beta distribution: the components of the variance.

    `rate` is their mean, in (0, 1). `flakiness` is the chance that two runs of one task differ, E[2ρ(1 − ρ)], from 0 (each task
    always passes or never does) to 2·rate·(1 − rate) (all tasks alike).
    """

    rate: float
    flakiness: float

    @property
    def likeness(self) -> float:
        """The correlation of two runs of one task, kept within [0.001, 0.999]: 1 − flakiness / (2·rate·(1 − rate))."""
        return min(_SURE, max(_ALIKE, 1 - self.flakiness / (2 * self.rate * (1 - self.rate))))

    @property
    def shape(self) -> tuple[float, float]:
        """The parameters of the beta distribution."""
        size = (1 - self.likeness) / self.likeness
        return self.rate * size, (1 - self.rate) * size

    def spread(self, runs: int) -> Spread:
        """What the noise of a comparison of an unchanged skill with itself would be, with so many runs of each task."""
        return Spread(deviation=(self.flakiness / runs) ** 0.5, rate=self.rate, runs=runs)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items of each task passed, and how many there are (at least one)."""

    passed: IntArray
    items: IntArray

    def chances(self, *, flakiness: float | None = None) -> TaskChances:
        """The estimate of what they were drawn from; `flakiness` where no task has two runs.

        Half a pass and half a failure are added to the rate, and half a task that differs to the flakiness: a run without a
        failure is not certainty. Flakiness: the mean over tasks of 2c(n − c)/(n(n − 1)), which is unbiased.
        """
        rate = float((self.passed.sum() + 0.5) / (self.items.sum() + 1))
        several = self.items > 1
        if several.any():
            c, n = self.passed[several], self.items[several]
            flakiness = float(((2 * c * (n - c) / (n * (n - 1))).sum() + 0.5) / (several.sum() + 1))
        return TaskChances(rate=rate, flakiness=min(flakiness or 0.0, 2 * rate * (1 - rate)))


def power(chances: TaskChances, tasks: int, runs: int, effect: float, *, skills: int = 1) -> float:
    """The share of simulated comparisons that call a skill worse which lost `effect` of its completion rate.

    The loss is in proportion to each task's chance. One of `skills` lost it: p must reach the first step of Holm's procedure.
    """
    random, found = np.random.default_rng(DEFAULT_SEED), 0
    for _ in range(DRAWS):
        drawn = random.beta(*chances.shape, tasks)
        after = random.binomial(runs, drawn * _kept(effect, chances.rate))
        found += _worse_p(random.binomial(runs, drawn), after, np.full(tasks, runs)) <= SIGNIFICANCE / skills
    return found / DRAWS


def gate_rate(skills: Sequence[Counts], effect: float, *, flakiness: float, draws: int = DRAWS) -> float:
    """How often a gate that fails on worse fails where one of these skills, in turn, lost `effect`; at 0, its false alarms.

    Both sides are drawn anew, with as many runs, from what the stored runs say of each task's chance: the posterior of the beta
    distribution fitted to all tasks of the skill (empirical Bayes). `flakiness` is for skills with one run of each task.
    """
    random, failed = np.random.default_rng(DEFAULT_SEED), 0
    fitted = [counts.chances(flakiness=flakiness) for counts in skills]
    for draw in range(draws):
        p_values, fails = [], False
        for index, (counts, fit) in enumerate(zip(skills, fitted, strict=True)):
            passes, failures = fit.shape
            drawn = random.beta(passes + counts.passed, failures + counts.items - counts.passed)
            kept = _kept(effect, fit.rate) if index == draw % len(skills) else 1.0
            after, before = random.binomial(counts.items, drawn * kept), random.binomial(counts.items, drawn)
            p_values.append(_worse_p(before, after, counts.items))
            fails = fails or _is_lost(before, after, counts.items, len(skills))
        failed += fails or min(holm(p_values)) <= SIGNIFICANCE
    return failed / draws


def _kept(effect: float, rate: float) -> float:
    return max(0.0, 1 - effect / rate)


def _worse_p(before: IntArray, after: IntArray, runs: IntArray) -> float:
    """The two-sided p of one comparison of how many of the `runs` passed; 1 where it is not for the worse."""
    differences = (after - before) / runs
    return sign_flip_test(differences) if differences.sum() < 0 else 1.0


def _is_lost(before: IntArray, after: IntArray, runs: IntArray, skills: int) -> bool:
    """Whether the gate fails for another reason than the test over tasks."""
    loss = loss_of((before, runs), (after, runs))
    return loss is not None and weighed_loss(loss, compared=skills, significance=SIGNIFICANCE) is not None
