"""The completion rate corrected for the known mistakes of a judge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval_skills.core.statistics.agreement import LEVEL, Estimate
from eval_skills.core.statistics.rates import IntArray, effective_size, normal_quantile, t_quantile

METHOD = "rogan_gladen"


@dataclass(frozen=True, slots=True)
class Share:
    """A share in [0, 1] and how many independent trials it is worth."""

    value: float
    size: float

    @property
    def variance(self) -> float:
        """p(1 − p)/n; of a share of 0 or 1 that of (k + 1)/(n + 2), since no judge is never wrong."""
        seen = self.value if 0 < self.value < 1 else (self.value * self.size + 1) / (self.size + 2)
        return seen * (1 - seen) / self.size


@dataclass(frozen=True, slots=True)
class JudgedItems:
    """What one judge passed: per task of the skill its judged items and how many of them it passed (0 of 0: none of it)."""

    passed: IntArray
    items: IntArray
    sensitivity: Share
    specificity: Share

    @property
    def truth(self) -> float:
        """The share of its items that truly pass, in [0, 1], as far as its mistakes are known."""
        seen = float(self.passed.sum()) / float(self.items.sum())
        return min(1.0, max(0.0, (seen + self.specificity.value - 1) / self.informedness))

    @property
    def informedness(self) -> float:
        """Sensitivity + specificity − 1: 0 for a judge that guesses."""
        return self.sensitivity.value + self.specificity.value - 1


def trials(passed: IntArray, items: IntArray) -> float:
    """How many independent trials such items are worth: all of them where each task has one, else `effective_size`."""
    return float(len(items)) if items.sum() == len(items) else effective_size(passed, items)


def corrected_completion(judged: Sequence[JudgedItems], passed: IntArray, items: IntArray) -> Estimate | None:
    """The completion rate with every judged item at its expected truth, (x + sp − 1)/(se + sp − 1); the others stay as they are.

    `passed` and `items` count, per task, all items. With one judge that judged everything this is (p̂ + sp − 1)/(se + sp − 1).
    The interval is that of the delta method: the tasks' own spread (clustered, with t), and that of both measured shares.
    Judge sensitivity 45/50, specificity 40/50, p̂ = 0.70 of 400 → 0.714 [0.599, 0.830]. The rate is clipped to what is possible:
    none or all of a judge's items pass; its bounds are to [0, 1].
    None where nothing was judged, there is only one task, or a judge is no better than chance (se + sp ≤ 1).
    Source: Rogan & Gladen 1978, doi:10.1093/oxfordjournals.aje.a112510.
    """
    found = [each for each in judged if each.items.sum()]
    tasks, total = len(items), float(items.sum())
    if not found or tasks < 2 or any(each.informedness <= 0 for each in found):
        return None
    truth = (passed - sum(each.passed for each in found)).astype(np.float64)
    for each in found:
        truth += (each.passed + each.items * (each.specificity.value - 1)) / each.informedness
    others = float(passed.sum() - sum(each.passed.sum() for each in found)) / total
    rate = float(truth.sum()) / total
    variance = _spread(truth, items, rate, found, passed) + sum(_of_the_judge(each, total) for each in found)
    half = normal_quantile((1 + LEVEL) / 2) * math.sqrt(variance)
    best = others + sum(float(each.items.sum()) * each.truth for each in found) / total
    lower, upper = min(best, max(0.0, rate - half)), max(best, min(1.0, rate + half))
    return Estimate(value=best, lower=lower, upper=upper, method=METHOD)


def _spread(truth: np.ndarray, items: IntArray, rate: float, judged: Sequence[JudgedItems], passed: IntArray) -> float:
    """The variance that the choice of tasks gives the rate; in normal terms, so that it adds up with the judge's."""
    tasks, total = len(items), float(items.sum())
    residuals = truth - items * rate
    seen = float(residuals @ residuals) * tasks / (tasks - 1) / total**2
    if passed.sum() in (0, items.sum()):  # all tasks alike: their spread says nothing
        weakest = min(each.informedness for each in judged)
        seen = Share(float(passed.sum() / total), float(tasks)).variance / weakest**2
    return float(seen * (t_quantile((1 + LEVEL) / 2, tasks - 1) / normal_quantile((1 + LEVEL) / 2)) ** 2)


def _of_the_judge(judged: JudgedItems, total: float) -> float:
    """The variance that not knowing the judge's shares exactly adds: of the part of the items that it judged."""
    count, gap = float(judged.items.sum()), judged.informedness
    truth = judged.truth
    of_both = truth**2 * judged.sensitivity.variance + (1 - truth) ** 2 * judged.specificity.variance
    return (count / total) ** 2 * of_both / gap**2
