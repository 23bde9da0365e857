"""Estimates corrected for selection: the skill that looks best of several is on average not as good as it looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval_skills.core.ranking.outcomes import Outcomes
from eval_skills.core.statistics.rates import FloatArray

_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Shrinkage:
    """For every skill the mean `centre` of its group, and the share `kept` of its distance from it, in [0, 1]."""

    centre: FloatArray
    kept: FloatArray

    def estimates(self, rates: FloatArray) -> FloatArray:
        """The corrected rates; they lie between the rate and the centre."""
        return self.centre + self.kept * (rates - self.centre)


def shrinkage(outcomes: Outcomes, groups: Sequence[Sequence[int]], rates: FloatArray) -> Shrinkage:
    """Empirical-Bayes shrinkage of the `rates` towards the mean of each group of skills that could not be told apart.

    What is kept of a difference is the variance between the skills' true rates as a share of the observed one, by the analysis of
    variance of skills × tasks: max(0, 1 − 1/F). Tasks are shared, so that how hard they are cancels. It is James and Stein's
    estimator in its positive part with S − 1 for S − 3, so that it is defined for two skills. A skill that is alone in its group
    was not picked by chance, and keeps its rate.
    Sources: James & Stein 1961; Morris 1983, "Parametric empirical Bayes inference", doi:10.1080/01621459.1983.10477920.
    """
    centre, kept = np.empty(len(rates)), np.empty(len(rates))
    for group in map(list, groups):
        centre[group], kept[group] = rates[group].mean(), _kept(outcomes[group].rates())
    return Shrinkage(centre, kept)


def _kept(rates: FloatArray) -> float:
    """max(0, 1 − 1/F) of the tasks that all skills have a rate on; 1 of one skill, 0 where fewer than two tasks are left."""
    known = rates[:, ~np.isnan(rates).any(axis=0)]
    skills, tasks = known.shape
    if skills < 2:
        return 1.0
    if tasks < 2:
        return 0.0
    means = known.mean(axis=1)
    left = known - means[:, None] - known.mean(axis=0) + known.mean()
    between = tasks * float(np.square(means - means.mean()).sum()) / (skills - 1)
    within = float(np.square(left).sum()) / ((skills - 1) * (tasks - 1))
    kept = 1 - within / between if between > _SAME else 0.0
    return kept if kept > _SAME else 0.0  # rounding must not leave a trace of what is all noise: it would be divided out again
