"""Looking at a comparison again and again as it grows, at a false rate that is that of a single look."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from eval_skills.core.statistics.rates import FloatArray, normal_quantile

_POINTS, _HALVINGS, _FARTHEST = 401, 45, 12.0


def look_levels(fractions: Sequence[float], *, significance: float = 0.05) -> list[float]:
    """The p at which each of several looks at a growing comparison may decide, so that all of them together are wrong as often
    as one at `significance` (two-sided).

    `fractions` say how much of the last look's information each one has; they rise to 1. Of `significance` so much is spent
    until fraction t: 4 − 4Φ(z/√t) with z = Φ⁻¹(1 − significance/4), little at the beginning. A look's level follows from the
    joint normal distribution of all looks up to it, whose covariances are those of sums of independent parts; where looks are
    more alike than that, as with tasks that differ among themselves, less is spent. Sources: Lan & DeMets 1983,
    doi:10.1093/biomet/70.3.659 (spending like O'Brien & Fleming 1979); Armitage, McPherson & Rowe 1969, doi:10.2307/2343787
    (the integral, look by look).

    Raises:
        ValueError: the fractions do not rise to 1.
    """
    if not fractions or fractions[-1] != 1 or any(not 0 < a < b for a, b in zip([1e-9, *fractions], fractions, strict=False)):
        raise ValueError(f"the fractions of the looks must rise from above 0 to 1; got {list(fractions)}")
    levels, spent = [], 0.0
    sums, density = np.zeros(1), np.ones(1)
    before = 0.0
    for fraction in fractions:
        step = math.sqrt(fraction - before)
        spending = _spent(fraction, significance) - spent
        bound = _bound(sums, density, step, spending, fraction)
        levels.append(math.erfc(bound / math.sqrt(2 * fraction)))
        sums, density = _continued(sums, density, step, bound)
        before, spent = fraction, spent + spending
    return levels


def information(runs: int, most_runs: int, runs_before: float) -> float:
    """How much of the information of `most_runs` runs of each task so many have, beside `runs_before` of the earlier side.

    The variance of a task's difference is in proportion to 1/before + 1/after, so this is (1/b + 1/K)/(1/b + 1/k).
    """
    return (1 / runs_before + 1 / most_runs) / (1 / runs_before + 1 / runs)


def _spent(fraction: float, significance: float) -> float:
    return 2 * math.erfc(normal_quantile(1 - significance / 4) / math.sqrt(2 * fraction))


def _bound(sums: FloatArray, density: FloatArray, step: float, spending: float, fraction: float) -> float:
    """Where the chance to lie beyond it for the first time, after one more normal step, is `spending`."""
    low, high = 0.0, _FARTHEST * math.sqrt(fraction)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = sum(
            weight * (math.erfc((middle - at) / (step * math.sqrt(2))) + math.erfc((middle + at) / (step * math.sqrt(2)))) / 2
            for at, weight in zip(sums.tolist(), density.tolist(), strict=True)
        )
        low, high = (middle, high) if beyond > spending else (low, middle)
    return high


def _continued(sums: FloatArray, density: FloatArray, step: float, bound: float) -> tuple[FloatArray, FloatArray]:
    """The chances of the sums within ± `bound` after one more step, on a grid of points with Simpson's weights."""
    points = np.linspace(-bound, bound, _POINTS)
    simpson = np.full(_POINTS, 2.0)
    simpson[1::2] = 4.0
    simpson[[0, -1]] = 1.0
    far = (points[:, None] - sums[None, :]) / step
    chances = (np.exp(-(far**2) / 2) @ density) / (step * math.sqrt(2 * math.pi))
    return points, chances * simpson * (points[1] - points[0]) / 3
