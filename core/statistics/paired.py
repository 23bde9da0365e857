"""The statistics of two results on the same tasks, from the differences of the tasks' means, after − before, each in [−1, 1]."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eval_skills.core.models.base import Model
from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray, IntArray, normal_quantile, t_quantile, two_sided_t_p

EXACT_LIMIT = 16
"""Up to so many differing tasks every sign pattern is tried, whatever their differences are; see `sign_flip_test`."""

PERMUTATION_DRAWS = 10_000
_SAME = 1e-12
_MOST_PARTS, _ROUNDING = 60, 1e-9
_CELLS_PER_CHUNK = 1_000_000
_SMALL = 30
_AIM, _TOO_SMALL, _HALVINGS = 0.82, 2.0, 50


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
    There it holds what tasks of which none was seen may add (`_with_unseen`), method ``constant``. With 60 unchanged tasks,
    level 0.9: ±0.049.
    Source of the t interval: Miller 2024, arXiv:2411.00640, section 4.
    """
    tasks, mean = len(differences), float(differences.mean())
    if np.ptp(differences) <= _SAME:
        return MeanDifference(mean, *_with_unseen(mean, tasks, level), level, "constant")
    half = t_quantile((1 + level) / 2, tasks - 1) * float(differences.std(ddof=1)) / math.sqrt(tasks)
    return MeanDifference(mean, max(-1.0, mean - half), min(1.0, mean + half), level, "t")


def _with_unseen(mean: float, tasks: int, level: float) -> tuple[float, float]:
    """Between what the mean lies if a share u of tasks that was not seen differs by anything; clipped to [−1, 1].

    u is bounded by the chance of having seen none, (1 − u)^T = (1 − level)/2.
    """
    unseen = 1 - ((1 - level) / 2) ** (1 / tasks)
    centre = mean * (1 - unseen)
    return max(-1.0, centre - unseen), min(1.0, centre + unseen)


def proving_interval(differences: FloatArray, *, level: float) -> MeanDifference:
    """The interval of the mean difference that has to lie within a margin to prove that not more than that changed.

    It is that of `mean_difference` with limits that lie farther out in two cases. Where a few tasks of many lost all, t is skewed
    and its limit too near: of 100 tasks that each break with a chance of 3 %, it would lie above −0.03 in 19 % of cases instead
    of 5 %. The limit on the side of the long tail is moved by the second term of Cornish and Fisher's expansion of t. And where
    hardly a task differs, t says little of those that break and were not seen: the limits hold what these may add, as where no
    task differs, so that a first loss makes nothing proven that is not proven without it.
    Source of the first: Hall 1983, "Inverting an Edgeworth expansion", The Annals of Statistics 11.
    """
    found = mean_difference(differences, level=level)
    if found.method == "constant":
        return found
    tasks, deviation = len(differences), float(differences.std(ddof=1))
    skewness = float(((differences - found.mean) ** 3).mean()) / deviation**3
    shift = skewness * deviation * (1 + 2 * t_quantile((1 + level) / 2, tasks - 1) ** 2) / (6 * tasks)
    least, most = _with_unseen(found.mean, tasks, level)
    lower = max(-1.0, min(found.lower + min(0.0, shift), least))
    upper = min(1.0, max(found.upper + max(0.0, shift), most))
    return MeanDifference(found.mean, lower, upper, level, "t")


def tasks_to_prove(margin: float, *, level: float) -> int | None:
    """Of how many tasks at least, none of which differs, the `proving_interval` lies within the margin; None: of no number."""
    if not 0 < margin < 1:
        return 1 if margin else None
    return math.floor(math.log((1 - level) / 2) / math.log1p(-margin)) + 1


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
    """Two-sided mid-p of the sign-flip permutation test: how often random signs give a sum farther from 0, and half of how often
    one as far. 1 where no task differs.

    Exact (`is_exact`) up to 16 differing tasks, and for any number whose differences are multiples of one fraction, as shares of
    passed runs are; else 10,000 seeded draws. The order of the tasks never changes the result.
    Half of the ties, since sums of few runs tie often and the plain p then lies far above its level; the test may exceed its
    level a little in turn (see `tests/simulations/paired.py`). Sources: Fisher 1935, The Design of Experiments, section 21;
    Lancaster 1961, doi:10.1080/01621459.1961.10482105; Fagerland, Lydersen & Laake 2013, doi:10.1186/1471-2288-13-91.
    """
    farther, as_far = sign_flip_tail(differences, seed=seed)
    return farther + as_far / 2 if differences.any() else 1.0


def sign_flip_tail(differences: FloatArray, *, seed: int = DEFAULT_SEED) -> tuple[float, float]:
    """The shares of sign patterns whose sum lies farther from 0 than the observed one, and as far; their sum is the plain p."""
    sizes = np.sort(np.abs(differences[np.abs(differences) > _SAME]))
    observed = abs(math.fsum(differences))
    if parts := _parts_of_one(sizes):
        chances, sums = _chances_of_sums(np.rint(sizes * parts).astype(np.int64))
        far = np.abs(sums) - round(observed * parts)
        return float(chances[far > 0].sum()), float(chances[far == 0].sum())
    if len(sizes) <= EXACT_LIMIT:
        far = np.abs(_all_sums(sizes)) - observed
        return float((far > _SAME).mean()), float((np.abs(far) <= _SAME).mean())
    farther, as_far = _drawn(sizes, observed, seed)
    return float(farther), float(as_far)


def sign_flip_tests(rows: FloatArray) -> FloatArray:
    """The p of `sign_flip_test` for several comparisons, one per row of differences; where signs are drawn, all rows share them.

    A hundred comparisons of 200 tasks take a tenth of the time.
    """
    p_values, exact = np.ones(len(rows)), np.array([is_exact(row) for row in rows], dtype=bool)
    p_values[exact] = [sign_flip_test(row) for row in rows[exact]]
    if not exact.all():
        sizes = np.sort(np.abs(rows[~exact]), axis=1).T
        observed = np.abs(rows[~exact].sum(axis=1))
        farther, as_far = _drawn(sizes[(sizes > _SAME).any(axis=1)], observed, DEFAULT_SEED)
        p_values[~exact] = farther + as_far / 2
    return p_values


def is_exact(differences: FloatArray) -> bool:
    """Whether `sign_flip_test` tries every sign pattern of these."""
    sizes = np.abs(differences[np.abs(differences) > _SAME])
    return len(sizes) <= EXACT_LIMIT or _parts_of_one(sizes) is not None


def p_floor(differing: int) -> float:
    """The smallest p that `sign_flip_test` can give for so many differing tasks, if all agree: 2^−m.

    Below five it is above 0.05: nothing can be decided at that size.
    """
    return math.ldexp(1.0, -differing)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values adjusted for being several, in the order given: max over j ≤ i of min(1, (m − j + 1)·p_(j)).

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure".
    """
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


class Spread(Model):
    """What a sample says of the noise of a comparison: the standard deviation of the tasks' differences, the mean completion rate
    of both sides, and the mean number of runs of a task on one side."""

    deviation: float
    rate: float
    runs: float

    def deviation_at(self, effect: float) -> float:
        """With an effect that brings the rate nearer to 0.5, runs vary more: ρ(1 − ρ)/runs of the changed side grows."""
        more = max(0.0, effect * (abs(2 * self.rate - 1) - effect)) / self.runs
        return math.sqrt(self.deviation**2 + more)


def smallest_effect(spread: Spread, tasks: int, *, significance: float = 0.05) -> float | None:
    """The smallest mean difference that the sign-flip test at `significance` shows with 80 % power.

    With q and b the quantiles of 1 − significance/2 and of 0.82, it solves e = (q/√(T − q²) + b/√T)·sd(e). The first part is
    where the test begins to reject: it measures the mean against √Σd², which holds the mean itself. 0.82, since sd is an
    estimate; below 30 tasks b is that of t with T − 1 degrees. `tests/simulations/power.py` says what that delivers.
    For one of m skills `significance` is α/m, the first step of Holm's procedure. None where it is unknown: one task, or no
    spread to judge by; above 1 where no difference could be shown.
    """
    if tasks < 2 or spread.deviation <= _SAME:
        return None
    return _bisected(lambda effect: _shown_by(spread, effect, tasks, significance) <= effect, _TOO_SMALL)


def tasks_needed(spread: Spread, effect: float, *, significance: float = 0.05) -> int | None:
    """How many tasks show a mean difference of `effect` > 0 as `smallest_effect` defines it. None where there is no spread.

    The variance of a task's difference is ω² + σ²(before)/K + σ²(after)/K with K runs per side. Source: Miller 2024,
    arXiv:2411.00640, section 5.
    """
    if spread.deviation <= _SAME:
        return None
    least, most = 1, 2
    while _shown_by(spread, effect, most, significance) > effect:
        least, most = most, most * 2
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if _shown_by(spread, effect, middle, significance) <= effect else (middle, most)
    return most


def _shown_by(spread: Spread, effect: float, tasks: int, significance: float) -> float:
    """The mean difference that is shown with 80 % power, if the runs vary as they do with this effect."""
    rejects = normal_quantile(1 - significance / 2)
    if tasks <= rejects**2:
        return math.inf
    beyond = t_quantile(_AIM, tasks - 1) if tasks < _SMALL else normal_quantile(_AIM)
    return (rejects / math.sqrt(tasks - rejects**2) + beyond / math.sqrt(tasks)) * spread.deviation_at(effect)


def _bisected(holds: Callable[[float], bool], high: float) -> float:
    """The least value from 0 to `high` from which on the condition holds; `high` where it never does."""
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def correlation(before: FloatArray, after: FloatArray) -> float | None:
    """Pearson's r of the tasks' means on both sides: what pairing gains. None where one side does not vary."""
    if len(before) < 2 or np.ptp(before) <= _SAME or np.ptp(after) <= _SAME:
        return None
    return float(np.clip(np.corrcoef(before, after)[0, 1], -1, 1))


def _parts_of_one(sizes: FloatArray) -> int | None:
    """The least n ≤ 60 for which all sizes are multiples of 1/n; None where there is none."""
    return next((n for n in range(1, _MOST_PARTS + 1) if (np.abs(sizes * n - np.rint(sizes * n)) <= _ROUNDING).all()), None)


def _chances_of_sums(sizes: IntArray) -> tuple[FloatArray, IntArray]:
    """Every sum that random signs can give, with its chance: one convolution for each size."""
    total = int(sizes.sum())
    chances = np.zeros(total + 1)
    chances[0], reached = 1.0, 0
    for size in sizes.tolist():
        chances[: reached + size + 1] /= 2
        chances[size : reached + size + 1] += chances[: reached + 1].copy()
        reached += size
    return chances, 2 * np.arange(total + 1) - total


def _all_sums(sizes: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def _drawn(sizes: FloatArray, observed: FloatArray | float, seed: int) -> tuple[FloatArray, FloatArray]:
    """The shares of drawn patterns farther and as far, for one comparison (tasks) or several (tasks × comparisons).

    The pattern that was observed counts as one more, so that no share of both is 0.
    """
    random = np.random.default_rng(seed)
    farther, as_far = np.zeros(sizes.shape[1:]), np.ones(sizes.shape[1:])
    step = max(1, _CELLS_PER_CHUNK // len(sizes))
    for start in range(0, PERMUTATION_DRAWS, step):
        signs = random.integers(0, 2, size=(min(step, PERMUTATION_DRAWS - start), len(sizes)), dtype=np.int8)
        far = np.abs((2.0 * signs - 1) @ sizes) - observed
        farther, as_far = farther + (far > _SAME).sum(axis=0), as_far + (np.abs(far) <= _SAME).sum(axis=0)
    return farther / (PERMUTATION_DRAWS + 1), as_far / (PERMUTATION_DRAWS + 1)
