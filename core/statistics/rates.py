"""The statistics of one result: intervals of a rate, pass@k and pass^k, percentiles, the composite score; and Student's t.

The task is the unit everywhere: runs of one task are a cluster, never independent trials. Results are given as two arrays of
equal length with one entry per task: how many of its items passed, and how many items it has (at least one).

Student's t is computed here because scipy would be the only other way: 35 MB more for every installation, and about half a second
of import for two functions. The tests compare it with scipy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from eval_skills.core.models.report import ConfidenceInterval

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
IntervalMethod = Literal["wilson_effective", "cluster_bootstrap"]
MethodUsed = Literal["wilson", "wilson_widened", "wilson_effective", "wilson_tasks", "cluster_bootstrap"]
OUR_METHODS: frozenset[str] = frozenset(get_args(MethodUsed))
"""How `completion_interval` computes intervals, by which our reports are known."""

BOOTSTRAP_DRAWS = 10_000
DEFAULT_SEED = 20261121
_CELLS_PER_CHUNK = 1_000_000
_WIDER, _HALVINGS = 0.6, 50


def wilson(rate: float, size: float, *, level: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of a rate that was observed in `size` trials; (0, 1) where `size` is 0.

    `size` need not be a whole number: an effective sample size is one too. The interval always holds `rate`.
    Source: Wilson 1927, doi:10.1080/01621459.1927.10502953.
    """
    if size <= 0:
        return 0.0, 1.0
    z = normal_quantile((1 + level) / 2)
    scale = 1 + z * z / size
    centre = (rate + z * z / (2 * size)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / size + z * z / (4 * size * size))
    return min(rate, max(0.0, centre - half)), max(rate, min(1.0, centre + half))


@lru_cache(maxsize=4096)
def widened_wilson(passed: int, size: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of `passed` of `size` > 0 trials, each limit at least as far out as the exact one of 0.6·(1 − level).

    Near 0 and 1 Wilson's limit on the far side is too close: 0.92 of the 95 % intervals of 50 trials hold a rate of 0.98. These
    hold 0.94 or more of any rate (`tests/simulations/intervals.py`), and are narrower than Clopper and Pearson's, whose limits
    are those of 0.5·(1 − level). The one limit where all or none passed is Wilson's.
    Sources: Brown, Cai & DasGupta 2001, doi:10.1214/ss/1009213286, section 4.1.1, which replaces these limits for up to three
    passes or misses; Clopper & Pearson 1934, doi:10.1093/biomet/26.4.404, for the exact limits. The factor 0.6 is ours.
    """
    lower, upper = wilson(passed / size, size, level=level)
    if passed in {0, size}:
        return lower, upper
    chance = _WIDER * (1 - level)
    return _exact_below(lower, passed, size, chance), 1 - _exact_below(1 - upper, size - passed, size, chance)


def _exact_below(limit: float, passed: int, size: int, chance: float) -> float:
    """The greatest rate up to `limit` at which `passed` or more of `size` pass with at most this chance, by bisection."""

    def fits(rate: float) -> bool:
        return regularised_incomplete_beta(rate, 1 - rate, passed, size - passed + 1) <= chance

    if fits(limit):
        return limit
    low, high = 0.0, limit
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def clustered_standard_error(passed: IntArray, items: IntArray) -> float | None:
    """The standard error of Σpassed/Σitems with tasks as clusters (CR1); None for fewer than two tasks.

    With equally many runs per task it is the sample standard deviation of the tasks' rates, divided by √tasks.
    Source: Miller 2024, arXiv:2411.00640, with the small-sample factor √(T/(T − 1)).
    """
    tasks = len(items)
    if tasks < 2:
        return None
    residuals = passed - items * (passed.sum() / items.sum())
    return math.sqrt(float(residuals @ residuals) * tasks / (tasks - 1)) / float(items.sum())


def effective_size(passed: IntArray, items: IntArray, *, level: float = 0.95) -> float:
    """How many independent trials the items are worth: p(1 − p)/CR1², kept within [T, N], times (z/t)² with T − 1 degrees.

    T is the number of tasks, N that of items.
    It is the number of tasks where the clustered error says nothing: one task, or a rate of 0 or 1.
    """
    tasks, rate = len(items), passed.sum() / items.sum()
    error = clustered_standard_error(passed, items)
    if error is None or rate in {0.0, 1.0}:
        return float(tasks)
    worth = rate * (1 - rate) / error**2 if error > 0 else math.inf
    shrink = normal_quantile((1 + level) / 2) / t_quantile((1 + level) / 2, tasks - 1)
    return float(min(max(worth, tasks), items.sum()) * shrink**2)


def completion_interval(
    passed: IntArray,
    items: IntArray,
    *,
    level: float = 0.95,
    method: IntervalMethod = "wilson_effective",
) -> ConfidenceInterval:
    """The interval of the completion rate Σpassed/Σitems; its `method` is what was used.

    ``wilson_widened`` where every task has one item (``wilson`` where all or none passed); otherwise `method`:
    ``wilson_effective`` needs no random numbers and holds its level from five tasks on. ``cluster_bootstrap`` gives way to
    ``wilson_tasks`` (Wilson with the number of tasks) where all tasks agree or there is only one, since it would have no width
    there. No items at all: [0, 1].
    """
    if not items.sum():
        return ConfidenceInterval(lower=0.0, upper=1.0, level=level, method="wilson")
    rate = float(passed.sum() / items.sum())
    if items.sum() == len(items):
        bounds = widened_wilson(int(passed.sum()), len(items), level=level)
        return _interval(bounds, level, "wilson" if rate in {0.0, 1.0} else "wilson_widened")
    if method == "wilson_effective":
        return _interval(wilson(rate, effective_size(passed, items, level=level), level=level), level, "wilson_effective")
    if np.ptp(passed / items) == 0:
        return _interval(wilson(rate, len(items), level=level), level, "wilson_tasks")
    return _interval(cluster_bootstrap(passed, items, level=level), level, "cluster_bootstrap")


def cluster_bootstrap(
    passed: IntArray, items: IntArray, *, level: float = 0.95, seed: int = DEFAULT_SEED, draws: int = BOOTSTRAP_DRAWS
) -> tuple[float, float]:
    """Percentile bootstrap of Σpassed/Σitems: tasks are drawn with replacement and keep all their items.

    The same seed gives the same bytes. Below 20 tasks it is too narrow: of nominal 95 % intervals 78–94 % hold the truth.
    """
    random, tasks = np.random.default_rng(seed), len(items)
    rates = np.empty(draws)
    step = max(1, _CELLS_PER_CHUNK // tasks)
    for start in range(0, draws, step):
        drawn = random.integers(0, tasks, size=(min(step, draws - start), tasks))
        rates[start : start + step] = passed[drawn].sum(axis=1) / items[drawn].sum(axis=1)
    rates.sort()
    lower, upper = (math.ceil(round(draws * side, 6)) for side in ((1 - level) / 2, (1 + level) / 2))
    return float(rates[max(lower, 1) - 1]), float(rates[upper - 1])


def pass_at_k(items: int, passed: int, k: int) -> float | None:
    """The chance that at least one of `k` runs passes: 1 − C(n − c, k)/C(n, k); None where k exceeds the runs.

    Unbiased, unlike 1 − (1 − c/n)^k. Source: Chen et al. 2021, arXiv:2107.03374.
    """
    return None if k > items else 1 - math.comb(items - passed, k) / math.comb(items, k)


def pass_hat_k(items: int, passed: int, k: int) -> float | None:
    """The chance that all of `k` runs pass: C(c, k)/C(n, k); None where k exceeds the runs.

    Unbiased, unlike (c/n)^k. Source: Yao et al. 2024 (tau-bench), arXiv:2406.12045.
    """
    return None if k > items else math.comb(passed, k) / math.comb(items, k)


def mean_over_tasks(estimate: Callable[[int, int, int], float | None], passed: IntArray, items: IntArray, k: int) -> float | None:
    """The mean of `pass_at_k` or `pass_hat_k` over the tasks; None where k exceeds the runs of any task, or there is none.

    No task is dropped and k is never clamped: both would answer another question than the one that was asked.
    """
    if not len(items) or k > items.min():
        return None
    base = int(items.max()) + 1
    pairs, counts = np.unique(items * base + passed, return_counts=True)
    values = [estimate(pair // base, pair % base, k) or 0.0 for pair in pairs.tolist()]
    return min(1.0, math.fsum(value * count for value, count in zip(values, counts.tolist(), strict=True)) / len(items))


def nearest_rank(ordered: Sequence[float] | npt.NDArray[Any], percent: int) -> float | None:
    """The percentile of ascending values by nearest rank: the ⌈percent·n/100⌉-th value; None of no values.

    In whole numbers, since ceil(0.07 · 100) is 8 in floating point. Equals numpy's ``inverted_cdf`` and DuckDB's
    ``quantile_disc``. Below 20 values the 95th is the largest, below 100 the 99th is.
    """
    return float(ordered[max(0, -(-percent * len(ordered) // 100) - 1)]) if len(ordered) else None


COMPLETION_WEIGHT, LATENCY_WEIGHT, RELIABILITY_WEIGHT = 0.5, 0.2, 0.3
"""The weights of the composite score, as published."""


def composite_score(completion_rate: float, error_rate: float, p95_ms: float | None, max_latency_ms: float) -> float:
    """0.5·completion + 0.2·(1 − clamp(p95/max, 0, 1)) + 0.3·(1 − errors), in [0, 1].

    The formula is the field's published one. Its known weakness: a fast skill that is always wrong gets 0.5. An unknown P95
    earns nothing for speed.
    """
    slowness = 1.0 if p95_ms is None else min(max(p95_ms / max_latency_ms, 0.0), 1.0)
    return COMPLETION_WEIGHT * completion_rate + LATENCY_WEIGHT * (1 - slowness) + RELIABILITY_WEIGHT * (1 - error_rate)


def _interval(bounds: tuple[float, float], level: float, method: MethodUsed) -> ConfidenceInterval:
    return ConfidenceInterval(lower=bounds[0], upper=bounds[1], level=level, method=method)


_PRECISION = 1e-15
_MAX_STEPS = 10_000
_TINY = 1e-300


def normal_quantile(probability: float) -> float:
    """The z with P(Z ≤ z) = `probability`, for a standard normal Z; 0.975 → 1.959964.

    Raises:
        ValueError: `probability` is not strictly between 0 and 1.
    """
    _refuse_no_probability(probability)
    return NormalDist().inv_cdf(probability)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, degrees: float) -> float:
    """The t with P(X ≤ t) = `probability`; 0.975 with 5 degrees → 2.570582. It is found by bisection of the tail.

    Raises:
        ValueError: `probability` is not strictly between 0 and 1, or `degrees` is not above 0.
    """
    _refuse_no_probability(probability)
    _refuse_no_degrees(degrees)
    if probability < 0.5:
        return -t_quantile(1 - probability, degrees)
    tail = 1 - probability
    low, high = 0.0, 1.0
    while _upper_tail(high, degrees) > tail:
        low, high = high, high * 2
    while high - low > 4 * math.ulp(high):
        middle = (low + high) / 2
        low, high = (middle, high) if _upper_tail(middle, degrees) > tail else (low, middle)
    return (low + high) / 2


def two_sided_t_p(value: float, degrees: float) -> float:
    """P(|X| ≥ |`value`|) for Student's t with `degrees` > 0 degrees of freedom; an infinite value gives 0."""
    _refuse_no_degrees(degrees)
    return 0.0 if math.isinf(value) else 2 * _upper_tail(abs(value), degrees)


def regularised_incomplete_beta(x: float, y: float, a: float, b: float) -> float:
    """I(x; a, b), for x in [0, 1], a > 0 and b > 0. `y` is 1 − x, given apart because it loses its digits near x = 1.

    Source: the continued fraction of Abramowitz & Stegun 26.5.8, summed by Lentz's method. It converges fast for
    x < (a + 1)/(a + b + 2); beyond, the symmetry I(x; a, b) = 1 − I(1 − x; b, a) is used.
    """
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - regularised_incomplete_beta(y, x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y)
    return math.exp(log_front) / a / _continued_fraction(x, a, b)


def _continued_fraction(x: float, a: float, b: float) -> float:
    fraction, c, d = 1.0, 1.0, 0.0
    for step in range(1, _MAX_STEPS):
        numerator = _coefficient(step, x, a, b)
        d = 1 / ((1 + numerator * d) or _TINY)
        c = (1 + numerator / c) or _TINY
        fraction *= c * d
        if abs(c * d - 1) < _PRECISION:
            return fraction
    raise ArithmeticError(f"the continued fraction of I({x}; {a}, {b}) does not converge")


def _coefficient(step: int, x: float, a: float, b: float) -> float:
    m, odd = divmod(step, 2)
    if odd:
        return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))


def _upper_tail(value: float, degrees: float) -> float:
    """P(X ≥ `value`), for values from 0 on. Source: Abramowitz & Stegun 26.7.1: I(ν/(ν+t²); ν/2, 1/2) / 2."""
    total = degrees + value * value
    return regularised_incomplete_beta(degrees / total, value * value / total, degrees / 2, 0.5) / 2


def _refuse_no_probability(probability: float) -> None:
    if not 0 < probability < 1:
        raise ValueError(f"a probability strictly between 0 and 1 is needed; got {probability}")


def _refuse_no_degrees(degrees: float) -> None:
    if not degrees > 0:
        raise ValueError(f"degrees of freedom above 0 are needed; got {degrees}")
