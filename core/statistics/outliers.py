"""Single values that lie outside the band of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log, sqrt

import numpy as np

from eval_skills.core.statistics.rates import t_quantile

MIN_OTHERS = 7
LEVEL = 0.0003
"""Of each value, two-sided: of 60 flat ones, any is marked in less than 2 %."""


@dataclass(frozen=True, slots=True)
class Outlier:
    """The value at index `at` lies outside `lower` to `upper`, where a value like the others lies in all but `LEVEL` of cases."""

    at: int
    lower: float
    upper: float


def outliers(
    values: Sequence[float | None], sizes: Sequence[int | None] | None = None, *, positive: bool = False
) -> list[Outlier]:
    """The single values outside the prediction interval of the others of one stretch (t, with the others' mean and deviation).

    None and values that are not finite are passed over. `sizes`: the values are shares of so many tasks each, and vary at least
    as much as such shares do (binomial, with Laplace's (k + 1)/(n + 2)); `positive`: they are compared by their logarithms.
    With fewer than `MIN_OTHERS` others nothing is known of their band.
    """
    known = [place for place, value in enumerate(values) if _is_usable(value, positive=positive)]
    if len(known) <= MIN_OTHERS:
        return []
    series = np.array([values[place] for place in known], dtype=float)
    series = np.log(series) if positive else series
    reach = t_quantile(1 - LEVEL / 2, len(series) - 2)
    found = []
    for index, place in enumerate(known):
        others = np.delete(series, index)
        mean, count = float(others.mean()), len(others)
        size = sizes[place] if sizes is not None else None
        spread = max(float(others.std(ddof=1)), _least(mean, count, size))
        half = reach * spread * sqrt(1 + 1 / count)
        lower, upper = mean - half, mean + half
        if spread and not lower <= series[index] <= upper:
            found.append(Outlier(place, *((float(np.exp(lower)), float(np.exp(upper))) if positive else (lower, upper))))
    return found


def _is_usable(value: float | None, *, positive: bool) -> bool:
    return value is not None and isfinite(value) and (not positive or (value > 0 and isfinite(log(value))))


def _least(mean: float, count: int, size: int | None) -> float:
    """The deviation of a share of `size` tasks whose true rate is that of the others; 0 where it is not a share."""
    if not size:
        return 0.0
    rate = (mean * size * count + 1) / (size * count + 2)
    return sqrt(rate * (1 - rate) / size)
