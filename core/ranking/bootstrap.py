"""How sure the order of skills is, by drawing the tasks again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eval_skills.core.ranking.outcomes import Outcomes
from eval_skills.core.ranking.shrinkage import Shrinkage
from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray, IntArray

DRAWS = 2000
LEVEL = 0.95
FEWEST_TASKS = 5
"""Below this the tasks that happen to be there, drawn again, say too little of others."""

_CELLS_PER_CHUNK = 1_000_000
_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Draws:
    """`rates`: the observed ones, by skill. `errors`: what drawing the tasks again changed, draws × skills."""

    rates: FloatArray
    errors: FloatArray


def draw_tasks(outcomes: Outcomes, *, draws: int = DRAWS, seed: int = DEFAULT_SEED) -> Draws:
    """Cluster bootstrap of Σpassed/Σjudged: tasks are drawn with replacement, and keep all items of all skills.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap.
    """
    random, tasks = np.random.default_rng(seed), outcomes.items.shape[1]
    passed, judged = outcomes.passed, outcomes.judged
    rates = passed.sum(axis=1) / judged.sum(axis=1)
    errors = np.empty((draws, len(rates)))
    step = max(1, _CELLS_PER_CHUNK // tasks)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        drawn = random.integers(0, tasks, size=(rows, tasks)) + tasks * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * tasks).reshape(rows, tasks).astype(np.float64)
        of = times @ judged.T
        errors[start : start + rows] = np.divide(times @ passed.T, of, out=np.tile(rates, (rows, 1)), where=of > 0) - rates
    return Draws(rates, errors)


def probability_best(draws: Draws, groups: list[list[int]], shrunk: Shrinkage) -> FloatArray:
    """For every skill the chance that its true rate is the highest; they sum to 1.

    The draws are centred at the corrected estimates, and differences inside a group vary by √kept: those of skills whose
    differences are all noise are none, so that they share the first place. Around the observed rates the luckiest one would be
    best in 45 % of the draws where all ten skills are equal.
    Source: the posterior of a normal mean under an empirical prior; Morris 1983, doi:10.1080/01621459.1983.10477920.
    """
    common = np.empty_like(draws.errors)
    for group in groups:
        common[:, group] = draws.errors[:, group].mean(axis=1, keepdims=True)
    kept = shrunk.kept
    drawn = shrunk.centre + common + kept * (draws.rates - shrunk.centre) + np.sqrt(kept) * (draws.errors - common)
    first = drawn >= drawn.max(axis=1, keepdims=True) - _SAME
    return np.asarray((first / first.sum(axis=1, keepdims=True)).mean(axis=0))


def rank_intervals(draws: Draws) -> tuple[IntArray, IntArray]:
    """For every skill the lowest and the highest rank it may truly have, from 1, at `LEVEL` for each skill alone.

    A skill's differences from all others get simultaneous intervals from the draws: so many standard errors wide that in the
    share `LEVEL` of the draws all of them hold. Skills whose interval lies above 0 are ahead of it, those below are behind.
    Percentiles of the drawn ranks would be too narrow among skills of nearly equal quality.
    Source: Mogstad, Romano, Shaikh & Wilhelm 2024, "Inference for ranks", doi:10.1093/restud/rdad006.
    """
    skills = len(draws.rates)
    lower, upper = np.ones(skills, dtype=np.int64), np.full(skills, skills, dtype=np.int64)
    for skill in range(skills):
        errors = draws.errors - draws.errors[:, [skill]]
        spread = errors.std(axis=0)
        moves = spread > _SAME
        widest = np.sort(np.abs(errors[:, moves] / spread[moves]).max(axis=1, initial=0.0))
        width = widest[math.ceil(LEVEL * len(widest)) - 1] * spread + _SAME
        distance = draws.rates - draws.rates[skill]
        lower[skill] += np.count_nonzero((distance > width) & moves)
        upper[skill] -= np.count_nonzero((distance < -width) & moves)
    return lower, upper
