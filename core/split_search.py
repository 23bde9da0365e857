"""Where a series most likely changed its level: the largest contrast of two neighbouring stretches, and its p-value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from eval_skills.core.statistics import FloatArray

MIN_SEGMENT = 3
"""The shortest stretch that counts as a level; one or two odd values are no change."""

PERMUTATIONS = 1_999
_BLOCK = 250
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Split:
    """The series falls apart before index `at`; `p` is the chance of a contrast as large as this one where nothing changed."""

    at: int
    p: float


def best_split(values: FloatArray, weights: FloatArray, *, level: float, seed: int | list[int]) -> Split:
    """The most contrasting split of a series, and the p-value of that contrast.

    The contrast of a split is what it takes off the weighted sum of squares; the largest over all splits of all
    `seeded_intervals` is the statistic, so that a level that was left and came back is seen as well as one that was left for
    good. Its p-value comes from permutations of the series, each searched in the same way: it counts for the whole search, not
    for one split, and is exact, up to the draws, whatever the values' distribution. p = (b + 1)/(B + 1), b of B = 1,999 permuted
    series with a contrast at least as large; drawing ends early once p is above `level` for sure, and p is then what it was.
    Needs at least 2 × `MIN_SEGMENT` values that are not all the same.
    """
    centred = values - np.average(values, weights=weights)
    contrast, at = _largest(centred, weights)
    random, exceeding, drawn = np.random.default_rng(seed), 0, 0
    while drawn < PERMUTATIONS and exceeding + 1 <= level * (PERMUTATIONS + 1):
        block = min(_BLOCK, PERMUTATIONS - drawn)
        exceeding += int((_permuted(centred, weights, block, random) >= contrast * (1 - _TIE)).sum())
        drawn += block
    return Split(at, (exceeding + 1) / (drawn + 1))


def seeded_intervals(length: int) -> Iterator[tuple[int, int]]:
    """Intervals of a series in which one change at a time is looked for: each layer half as long as the one above, half
    overlapping, down to two stretches of `MIN_SEGMENT`.

    Source: Kovács, Bühlmann, Li & Munk 2023, doi:10.1093/biomet/asac052, with the decay ½.
    """
    size, count = float(length), 1
    while size >= 2 * MIN_SEGMENT:
        step = (length - size) / (count - 1) if count > 1 else 0.0
        for number in range(count):
            yield floor(number * step), ceil(number * step + size)
        size, count = size / 2, 2 * ceil(length / (size / 2)) - 1


def contrasts(sums: FloatArray, weights: FloatArray, start: int, stop: int) -> FloatArray:
    """What each split of [start, stop) takes off the sum of squares, from running sums that begin with 0.

    The first is that of the split before start + `MIN_SEGMENT`. Any axes in front are kept.
    """
    inner = slice(start + MIN_SEGMENT, stop - MIN_SEGMENT + 1)
    left, total = sums[..., inner] - sums[..., start, None], sums[..., stop, None] - sums[..., start, None]
    weight, whole = weights[..., inner] - weights[..., start, None], weights[..., stop, None] - weights[..., start, None]
    found: FloatArray = (left * whole - total * weight) ** 2 / (weight * (whole - weight) * whole)
    return found


def running(values: FloatArray) -> FloatArray:
    """Running sums along the last axis, with a 0 in front."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


def _largest(centred: FloatArray, weights: FloatArray) -> tuple[float, int]:
    sums, shares = running(centred * weights), running(weights)
    found = [(contrasts(sums, shares, start, stop), start) for start, stop in seeded_intervals(len(centred))]
    best, start = max(found, key=lambda each: float(each[0].max()))
    return float(best.max()), start + MIN_SEGMENT + int(best.argmax())


def _permuted(centred: FloatArray, weights: FloatArray, count: int, random: np.random.Generator) -> FloatArray:
    """The largest contrast of each of so many permuted series; a value keeps its weight."""
    order = random.permuted(np.tile(np.arange(len(centred)), (count, 1)), axis=1)
    shares = running(weights if np.ptp(weights) == 0 else weights[order])
    sums, largest = running((centred * weights)[order]), np.zeros(count)
    for start, stop in seeded_intervals(len(centred)):
        np.maximum(largest, contrasts(sums, shares, start, stop).max(axis=1), out=largest)
    return largest
