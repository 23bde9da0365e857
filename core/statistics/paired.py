"""The statistics of two results on the same tasks, from the differences of the tasks' means, after − before, each in [−1, 1]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray, normal_quantile, t_quantile, two_sided_t_p

EXACT_LIMIT = 16
"""Up to so many differing tasks every sign pattern is tried; above, patterns are drawn."""

PERMUTATION_DRAWS = 10_000
_SAME = 1e-12
_CELLS_PER_CHUNK = 1_000_000
_SMALL = 30


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean of the differences and an interval of it; `method` is ``t`` or ``constant``."""

    mean: float
    lower: float
    upper: float
    level: float
    method: Literal["t", "constant"]


def mean_difference(differences: FloatArray, *, level: float = 0.95) -> MeanDifference:
    """The mean difference with its t interval, clipped to [−1, 1]; at least one task is needed.

    Where all differences are the same (one task, or no task that changed) the t interval has no width, which is false certainty.
    There the share u of tasks that differ otherwise is bounded by the chance of having seen none, (1 − u)^T = (1 − level)/2,
    and those tasks may differ by anything: method ``constant``. With 60 unchanged tasks, level 0.9: ±0.049.
    Source of the t interval: Miller 2024, arXiv:2411.00640, section 4.
    """
    tasks, mean = len(differences), float(differences.mean())
    if np.ptp(differences) <= _SAME:
        other = 1 - ((1 - level) / 2) ** (1 / tasks)
        centre = mean * (1 - other)
        return MeanDifference(mean, max(-1.0, centre - other), min(1.0, centre + other), level, "constant")
    half = t_quantile((1 + level) / 2, tasks - 1) * float(differences.std(ddof=1)) / math.sqrt(tasks)
    return MeanDifference(mean, max(-1.0, mean - half), min(1.0, mean + half), level, "t")


def paired_t_p(differences: FloatArray) -> float | None:
    """Two-sided p of the paired t test; None for fewer than two tasks or where all differences are the same."""
    tasks = len(differences)
    if tasks < 2 or np.ptp(differences) <= _SAME:
        return None
    return two_sided_t_p(float(differences.mean() / differences.std(ddof=1)) * math.sqrt(tasks), tasks - 1)


def sign_test(better: int, worse: int) -> float:
    """Two-sided p of the exact sign test: of better + worse tasks that differ, is the split like a fair coin's? 1 if none does.

    With one run each it is McNemar's exact test. Source: Dixon & Mood 1946, doi:10.1080/01621459.1946.10501898.
    """
    tasks, most = better + worse, max(better, worse)
    ways = tail = math.comb(tasks, most)
    for count in range(most, tasks):
        ways = ways * (tasks - count) // (count + 1)
        tail += ways
    return min(1.0, (2 * tail) / (1 << tasks))


def sign_flip_test(differences: FloatArray, *, seed: int = DEFAULT_SEED) -> float:
    """Two-sided p of the sign-flip permutation test: how often random signs give a sum at least as far from 0.

    Exact up to 16 differing tasks; above, 10,000 seeded draws and p = (b + 1)/(B + 1). 1 where no task differs.
    The order of the tasks never changes the result. Source: Fisher 1935, The Design of Experiments, section 21.
    """
    sizes = np.sort(np.abs(differences[np.abs(differences) > _SAME]))
    observed = abs(math.fsum(differences)) - _SAME
    if len(sizes) <= EXACT_LIMIT:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return float((np.abs(sums) >= observed).mean())
    return float(_drawn_p(sizes, observed, seed))


def sign_flip_tests(rows: FloatArray, *, seed: int = DEFAULT_SEED) -> FloatArray:
    """The p of `sign_flip_test` for several comparisons, one per row of differences; where signs are drawn, all rows share them.

    A hundred comparisons of 200 tasks take a tenth of the time.
    """
    p_values = np.ones(len(rows))
    drawn = (np.abs(rows) > _SAME).sum(axis=1) > EXACT_LIMIT
    p_values[~drawn] = [sign_flip_test(row, seed=seed) for row in rows[~drawn]]
    if drawn.any():
        sizes = np.sort(np.abs(rows[drawn]), axis=1).T
        observed = np.abs(rows[drawn].sum(axis=1)) - _SAME
        p_values[drawn] = _drawn_p(sizes[(sizes > _SAME).any(axis=1)], observed, seed)
    return p_values


def p_floor(differing: int) -> float:
    """The smallest two-sided p that so many differing tasks can give, even if all agree: 2^(1 − m), and 1.0e-4 for drawn signs.

    Below six it is above 0.05: nothing can be decided at that size.
    """
    return 1 / (PERMUTATION_DRAWS + 1) if differing > EXACT_LIMIT else min(1.0, math.ldexp(2.0, -differing))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values adjusted for being several, in the order given: max over j ≤ i of min(1, (m − j + 1)·p_(j)).

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure".
    """
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def smallest_effect(deviation: float, tasks: int) -> float | None:
    """The smallest mean difference that a two-sided 5 % test shows with 80 % power: 2.8016·sd/√T.

    Below 30 tasks t with T − 1 degrees takes the place of z. None where it is unknown: one task, or no spread to judge by.
    Source: Miller 2024, arXiv:2411.00640, section 5.
    """
    if tasks < 2 or deviation <= _SAME:
        return None
    factor = t_quantile(0.975, tasks - 1) + t_quantile(0.8, tasks - 1) if tasks < _SMALL else _power_factor()
    return factor * deviation / math.sqrt(tasks)


def tasks_needed(deviation: float, effect: float) -> int | None:
    """How many tasks show a mean difference of `effect` > 0 with 80 % power at two-sided 5 %: ⌈2.8016²·sd²/effect²⌉.

    The variance of a task's difference is ω² + σ²(before)/K + σ²(after)/K with K runs per side. None where there is no spread.
    Source: Miller 2024, arXiv:2411.00640, section 5.
    """
    return None if deviation <= _SAME else math.ceil((_power_factor() * deviation / effect) ** 2)


def correlation(before: FloatArray, after: FloatArray) -> float | None:
    """Pearson's r of the tasks' means on both sides: what pairing gains. None where one side does not vary."""
    if len(before) < 2 or np.ptp(before) <= _SAME or np.ptp(after) <= _SAME:
        return None
    return float(np.clip(np.corrcoef(before, after)[0, 1], -1, 1))


def _power_factor() -> float:
    return normal_quantile(0.975) + normal_quantile(0.8)


def _drawn_p(sizes: FloatArray, observed: FloatArray | float, seed: int) -> FloatArray:
    """Of the sizes of one comparison (tasks), or of several (tasks × comparisons)."""
    random = np.random.default_rng(seed)
    beyond = np.zeros(sizes.shape[1:])
    step = max(1, _CELLS_PER_CHUNK // len(sizes))
    for start in range(0, PERMUTATION_DRAWS, step):
        signs = random.integers(0, 2, size=(min(step, PERMUTATION_DRAWS - start), len(sizes)), dtype=np.int8)
        beyond += (np.abs((2.0 * signs - 1) @ sizes) >= observed).sum(axis=0)
    return np.asarray((beyond + 1) / (PERMUTATION_DRAWS + 1))
