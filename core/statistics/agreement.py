"""How well two raters agree about the same items: shares, kappas, rank correlation, and intervals with the task as the unit.

Runs of one task are a cluster, so intervals draw, or count, tasks and never items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from pydantic import Field

from eval_skills.core.models.base import Model
from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray, IntArray, completion_interval

DRAWS = 1_000
LEVEL = 0.95
LEAST_DEFINED = 0.95
"""Where fewer of the draws have a value at all, the limits of those that do would be a selection."""

_ROUNDING = 1e-9
"""What rounding makes of two equal figures."""

LEAST_RANKED = 3
"""Two points always lie on a line, so fewer have no rank correlation."""


class Estimate(Model):
    """A figure with its interval. `value` is None where it is not defined; the bounds are None where they are not known."""

    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    level: float = Field(default=LEVEL, gt=0, lt=1)
    method: str = ""


def cohens_kappa(table: npt.ArrayLike) -> float | None:
    """κ = (p_o − p_e)/(1 − p_e) of a square table of counts; [[40, 5], [10, 45]] → 0.70. None where p_e is 1, or it is empty.

    Where one answer is much more frequent, κ is low however well the raters agree: [[90, 5], [5, 0]] → −0.05 at an accuracy of
    0.90, so the table belongs beside it. Source: Cohen 1960, doi:10.1177/001316446002000104.
    """
    counts = np.asarray(table, dtype=np.float64)
    return _kappa(counts, 1 - np.eye(len(counts)))


def weighted_kappa(first: IntArray, second: IntArray) -> float | None:
    """κ of two raters' ordered levels (numbers from 0 on), item by item, where a miss by d levels weighs d².

    None as in `cohens_kappa`; the table [[10, 2, 0], [3, 10, 2], [0, 1, 12]] → 0.846, with two levels it is plain κ. No table is
    built, so there may be as many levels as items: 1 − Σ(i − j)²/(n·E), with E = (ī − j̄)² + var(i) + var(j) the mean weight of a
    pair that is drawn by chance. Source: Cohen 1968, doi:10.1037/h0026256.
    """
    if not len(first):
        return None
    misses = float(np.mean((first - second) ** 2))
    chance = float((first.mean() - second.mean()) ** 2 + first.var() + second.var())
    return None if chance == 0 else 1 - misses / chance


def spearman(first: FloatArray, second: FloatArray) -> float | None:
    """Spearman's rank correlation, ties at their mean rank; None for fewer than three items, or where a side does not vary.

    Source: Spearman 1904, doi:10.2307/1412159; it is Pearson's r of the ranks.
    """
    if len(first) < LEAST_RANKED or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.clip(np.corrcoef(ranks(first), ranks(second))[0, 1], -1, 1))


def ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1 on; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: FloatArray = (last - (counts - 1) / 2)[place]
    return mean


def counts_of(first: IntArray, second: IntArray, levels: int) -> IntArray:
    """The table of counts of two raters' levels, each from 0 to `levels` − 1: the first in rows, the second in columns."""
    table: IntArray = np.bincount(first * levels + second, minlength=levels * levels).reshape(levels, levels)
    return table


def nearest_levels(values: FloatArray, levels: FloatArray) -> IntArray:
    """The index of the nearest of ascending `levels`; exactly between two, the lower one."""
    above = np.minimum(np.searchsorted(levels, values), len(levels) - 1)
    below = np.maximum(above - 1, 0)
    found: IntArray = np.where(levels[above] - values < values - levels[below], above, below)
    return found


def share(hits: npt.NDArray[np.bool_], task: IntArray, *, level: float = LEVEL) -> Estimate:
    """The share of hits, with the interval that the completion rate has (`completion_interval`); no value of no items."""
    if not len(hits):
        return Estimate(level=level)
    _, place = np.unique(task, return_inverse=True)
    items = np.bincount(place)
    found = completion_interval(np.bincount(place, weights=hits).astype(np.int64), items, level=level)
    return Estimate(value=float(hits.mean()), lower=found.lower, upper=found.upper, level=level, method=found.method)


def clustered(figure: Callable[[IntArray], float | None], task: IntArray) -> Estimate:
    """A figure of items, given as a function of their indices, with its percentile bootstrap over tasks.

    Tasks are drawn with replacement and keep all their items; the same items give the same bytes. No bounds where there are fewer
    than three tasks, where nearly all draws agree (they would claim a certainty that few tasks cannot give), or where more than a
    twentieth of the draws have no value.
    """
    value = figure(np.arange(len(task)))
    if value is None or len(np.unique(task)) < LEAST_RANKED:
        return Estimate(value=value)
    found = [each for rows in _drawn(task) if (each := figure(rows)) is not None]
    if len(found) < LEAST_DEFINED * DRAWS:
        return Estimate(value=value)
    lower, upper = np.percentile(found, [50 * (1 - LEVEL), 50 * (1 + LEVEL)], method="inverted_cdf").tolist()
    if upper - lower <= _ROUNDING:
        return Estimate(value=value)
    return Estimate(value=value, lower=min(lower, value), upper=max(upper, value), method="cluster_bootstrap")


def _drawn(task: IntArray) -> Iterator[IntArray]:
    """For each draw the indices of the items of as many tasks as there are."""
    _, place = np.unique(task, return_inverse=True)
    members, sizes = np.argsort(place, kind="stable"), np.bincount(place)
    starts, random = np.cumsum(sizes) - sizes, np.random.default_rng(DEFAULT_SEED)
    for _ in range(DRAWS):
        chosen = random.integers(0, len(sizes), size=len(sizes))
        ends = np.cumsum(sizes[chosen])
        within = np.arange(ends[-1]) - np.repeat(ends - sizes[chosen], sizes[chosen])
        yield members[np.repeat(starts[chosen], sizes[chosen]) + within]


def _kappa(counts: FloatArray, weights: FloatArray) -> float | None:
    total = counts.sum()
    if not total:
        return None
    chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    expected = float((weights * chance).sum())
    return None if expected == 0 else 1 - float((weights * counts).sum()) / expected
