"""Where the level of a series changed, by a test whose false alarms are controlled, and not by `last against previous`.

The method is seeded binary segmentation: look for the most contrasting split (`best_split`), test it by permutation,
and go on in both parts. The root is tested at `level`, a part at its share of it by length (Meinshausen 2008,
doi:10.1093/biomet/asn007, hierarchical testing): so the chance that a series in which nothing changed gets any change point is at
most `level`, and so is, up to the freedom of placing the splits, the chance of any further one in a series that did change.

What the control means and what not: `level` is per series and look, and small because people look often: a flat series that is
looked at every night until it has 60 values is ever marked in less than 10 % of cases (`tests/simulations/trends.py`). The values
are taken as independent from run to run; where what is left beside the steps is not (`autocorrelation`), a drift cannot be told
from a step. An outlier of one or two runs is not a step (see `outliers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, isfinite

import numpy as np

from eval_skills.core.statistics.agreement import ranks as mean_ranks
from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray
from eval_skills.core.text import plural

LEVEL = 0.005
MIN_VALUES = 11
"""With fewer values no order of them is rare enough: of 10, one in 126 at best has the same split on each side."""

_SERIAL = 1.645

_LOCATION_LIMIT = 7.35
"""95 % of the likelihood-ratio statistic of a change's place: Hansen 2000, doi:10.1111/1468-0262.00124, table I."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """The level changed before the value at index `at`, the first of the new level.

    It may as well have been at any index from `first` to `last` (an interval of about 95 %). `before` and `after` are the levels
    of the stretches on both sides, up to the next change points: weighted means, or medians if the search went by ranks. `p` is
    adjusted for the search over all places and all stretches of the series.
    """

    at: int
    first: int
    last: int
    before: float
    after: float
    p: float


def change_points(
    values: Sequence[float | None],
    weights: Sequence[float] | None = None,
    *,
    ranks: bool = False,
    level: float = LEVEL,
) -> list[ChangePoint]:
    """The change points of a series, oldest first; the same series always gives the same ones.

    None and values that are not finite are unknown and passed over; indices are those of `values`. `weights` (above 0) say how
    much a value rests on, as a rate on its number of tasks. `ranks` looks at the order of the values alone: for latency and cost,
    where one value may be a hundred times the others. A series that is `untested` has none.

    Raises:
        ValueError: there are not as many weights as values, a weight is not above 0, or `level` is not between 0 and 1.
    """
    given = [1.0] * len(values) if weights is None else weights
    if len(given) != len(values) or not all(isfinite(weight) and weight > 0 for weight in given):
        raise ValueError("there must be a weight above 0 for each value")
    if not 0 < level < 1:
        raise ValueError(f"the level must lie between 0 and 1; got {level}")
    if untested(values) is not None:
        return []
    places = _known(values)
    series = np.array([values[place] for place in places], dtype=float)
    shown, share = series, np.array([given[place] for place in places], dtype=float)
    if ranks:
        series, share = mean_ranks(series), np.ones(len(series))
    found = dict(_splits(series, share, level))
    return [_placed(point, places) for point in _described(series, shown, share, found, ranks=ranks)]


def autocorrelation(values: Sequence[float | None], found: Sequence[ChangePoint]) -> float | None:
    """How much each value resembles the one before, around the levels that were found; None where that is within chance.

    The lag-1 autocorrelation of what is left around the levels, in [−1, 1], plus what levels that were fitted take off it,
    (levels)/n; chance: below 1.645/√n, the one-sided 5 % of independent values (Box & Jenkins 1970, section 2.1.6).
    """
    places = _known(values)
    series = np.array([values[place] for place in places], dtype=float)
    edges = [0, *(places.index(point.at) for point in found), len(series)]
    left = np.concatenate([series[start:stop] - series[start:stop].mean() for start, stop in pairwise(edges)])
    if not (squares := float(left @ left)):
        return None
    value = float(left[1:] @ left[:-1]) / squares + (len(edges) - 1) / len(left)
    return min(value, 1.0) if value >= _SERIAL / len(left) ** 0.5 else None


def untested(values: Sequence[float | None]) -> str | None:
    """Why a series cannot have a change point, whatever it shows; None where it is tested."""
    known = [values[place] for place in _known(values)]
    if len(known) < MIN_VALUES:
        return f"{plural(len(known), 'known value')}; from {MIN_VALUES} on they are tested for a change"
    return "every known value is the same" if len(set(known)) == 1 else None


def _known(values: Sequence[float | None]) -> list[int]:
    return [place for place, value in enumerate(values) if value is not None and isfinite(value)]


def _splits(series: FloatArray, weights: FloatArray, level: float) -> Iterator[tuple[int, float]]:
    """The places of the changes with their adjusted p, part by part."""
    parts = [(0, len(series), 0.0)]
    while parts:
        start, stop, above = parts.pop()
        part, share = series[start:stop], (stop - start) / len(series)
        if len(part) < 2 * MIN_SEGMENT or np.ptp(part) == 0:
            continue
        split = best_split(part, weights[start:stop], level=level * share, seed=[DEFAULT_SEED, start, stop])
        # a part is only as certain as the change that made it one
        p = max(above, min(1.0, split.p / share))
        if p <= level:
            at = start + split.at
            yield at, p
            parts += [(start, at, p), (at, stop, p)]


def _described(
    series: FloatArray, shown: FloatArray, weights: FloatArray, found: dict[int, float], *, ranks: bool
) -> Iterator[ChangePoint]:
    """Each change between its neighbours, put where the contrast of the two stretches is largest."""
    edges = [0, *sorted(found), len(series)]
    noise = _noise(series, weights, edges)
    sums, shares = running((series - series.mean()) * weights), running(weights)
    for number, old in enumerate(edges[1:-1], start=1):
        start, stop = edges[number - 1], edges[number + 1]
        gains = contrasts(sums, shares, start, stop)
        at = start + MIN_SEGMENT + int(gains.argmax())
        near = np.flatnonzero(gains.max() - gains <= _LOCATION_LIMIT * noise) + start + MIN_SEGMENT
        edges[number] = at
        before, after = (_level(shown, weights, part, ranks=ranks) for part in ((start, at), (at, stop)))
        yield ChangePoint(at=at, first=int(near[0]), last=int(near[-1]), before=before, after=after, p=found[old])


def _noise(series: FloatArray, weights: FloatArray, edges: list[int]) -> float:
    """The variance of a value of weight 1 around the level of its stretch."""
    parts = [(series[start:stop], weights[start:stop]) for start, stop in pairwise(edges)]
    squares = sum(float(weight @ (part - np.average(part, weights=weight)) ** 2) for part, weight in parts)
    return squares / max(1, len(series) - len(parts))


def _level(shown: FloatArray, weights: FloatArray, part: tuple[int, int], *, ranks: bool) -> float:
    inside = slice(*part)
    return float(np.median(shown[inside])) if ranks else float(np.average(shown[inside], weights=weights[inside]))


def _placed(point: ChangePoint, places: Sequence[int]) -> ChangePoint:
    at, first, last = (places[index] for index in (point.at, point.first, point.last))
    return ChangePoint(at=at, first=first, last=last, before=point.before, after=point.after, p=point.p)


MIN_SEGMENT = 3
"""The shortest stretch that counts as a level; one or two outliers are not a change."""

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
