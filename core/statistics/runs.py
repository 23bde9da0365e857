"""Whether fewer runs pass after than before, task by task: the evidence of many runs of few tasks.

Where fewer than five tasks differ, the test over tasks decides nothing, however often each was run: four tasks that passed ten of
ten runs and now pass one of ten are p = 0.0625. Task by task their runs leave no doubt.
"""

from __future__ import annotations

import math

import numpy as np

from eval_skills.core.statistics.rates import FloatArray, IntArray

EXACT_RUNS = 10_000
"""Up to so many runs that could be passes of the later side the distribution is computed, above it is taken for normal."""


def fewer_passes_p(before: tuple[IntArray, IntArray], after: tuple[IntArray, IntArray]) -> float:
    """The chance that so few runs pass after, or fewer, if no task's chance to pass changed (one-sided); 1 without tasks.

    Each side is how many runs of each task passed, and how many there are (perhaps none). Given how many runs of a task pass on
    both sides together, those after are hypergeometric; their sum over the tasks is compared with what was seen. A task that
    always passed, or never, on both sides says nothing. Tasks may have any number of runs, and any chance of their own.
    The test is exact and keeps its level where the runs of a task are independent, as draws of one model are; it says nothing of
    other tasks. Up to 10,000 runs the distribution is computed, above it is normal, with a correction for continuity.
    Source: the exact conditional test of 2 × 2 × T tables, Birch 1964, doi:10.1111/j.2517-6161.1964.tb00563.x; with one task it
    is Fisher's.
    """
    (passed_before, runs_before), (passed_after, runs_after) = before, after
    total = passed_before + passed_after
    tells = (total > 0) & (total < runs_before + runs_after)
    drawn, others, total = runs_after[tells], runs_before[tells], total[tells]
    seen = int(passed_after[tells].sum())
    if not len(total):
        return 1.0
    if np.minimum(drawn, total).sum() > EXACT_RUNS:
        return _normal_tail(seen, drawn, others, total)
    chances, least = np.ones(1), int(np.maximum(0, total - others).sum())
    for task in np.lexsort((total, others, drawn)):
        chances = np.convolve(chances, _hypergeometric(int(drawn[task]), int(others[task]), int(total[task])))
    return min(1.0, float(chances[: seen - least + 1].sum()))


def _hypergeometric(drawn: int, others: int, total: int) -> FloatArray:
    """The chance of each number of passes among `drawn` runs, from the least on, if `total` of these and the `others` pass."""
    counts = range(max(0, total - others), min(drawn, total) + 1)
    ways = _log_comb(drawn + others, total)
    return np.exp([_log_comb(drawn, count) + _log_comb(others, total - count) - ways for count in counts])


def _log_comb(items: int, chosen: int) -> float:
    return math.lgamma(items + 1) - math.lgamma(chosen + 1) - math.lgamma(items - chosen + 1)


def _normal_tail(seen: int, drawn: IntArray, others: IntArray, total: IntArray) -> float:
    runs = drawn + others
    expected = (drawn * total / runs).sum()
    variance = (drawn * others * total * (runs - total) / (runs**2 * (runs - 1.0))).sum()
    return math.erfc((expected - seen - 0.5) / math.sqrt(2 * variance)) / 2
