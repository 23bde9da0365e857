"""Whether a series came down and stayed down, looked at again after every value: for drops too slow to show in a single one.

It is the change-point formulation of a control chart: the later values are compared with the earlier ones at every place at which
the series may have come down, and the largest contrast is tested. The level before is not known in advance, and no value that has
already come down can lower what it is compared with, as it would lower a moving average. Source: Hawkins, Qiu & Kang 2003,
"The changepoint model for statistical process control", Journal of Quality Technology 35(4). The p value is found by permuting
the values, so that it holds whatever their distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray

MIN_VALUES = 8
MIN_BEFORE = 4
"""The shortest stretch that counts as a level from which a series may come down."""

DROP_LEVEL = 0.005
"""The p at which a drop is lasting: at most the chance of each look at an unchanged series to find one.

The average run length, from look to look until the first false one, is about 400 nights (simulated: 383 ± 31 over the last 60 of
a growing series, with the longest of them cut off at 700). Nights confirm it by fresh runs before they call it a regression.
"""

_DRAWS = 1_999
_BLOCK = 400
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Drop:
    """The series came down before the value at index `at`, most likely; `before` and `after` are the levels on both sides.

    `p` is the chance of so large a contrast where nothing changed, for the search over all places.
    """

    at: int
    before: float
    after: float
    p: float


def lasting_drop(values: FloatArray, weights: FloatArray) -> Drop | None:
    """The drop that lasts to the end of the series; None where there is none at `DROP_LEVEL`, or fewer than 8 values.

    `weights` (above 0) say how much a value rests on. p = (b + 1)/(B + 1), b of B = 1,999 permuted series with a contrast at
    least as large; drawing ends once p is above that level for sure. One-sided: a series that goes up has none.
    """
    if len(values) < MIN_VALUES or np.ptp(values) == 0:
        return None
    centred = values - np.average(values, weights=weights)
    contrasts = _contrasts(centred, weights)
    split = int(contrasts.argmax())
    observed, at = float(contrasts[split]) * (1 - _TIE), MIN_BEFORE + split
    random, exceeding, drawn = np.random.default_rng(DEFAULT_SEED), 0, 0
    while drawn < _DRAWS and exceeding + 1 <= DROP_LEVEL * (_DRAWS + 1):
        block = min(_BLOCK, _DRAWS - drawn)
        order = random.permuted(np.tile(np.arange(len(values)), (block, 1)), axis=1)
        exceeding += int((_contrasts(centred[order], weights[order]).max(axis=1) >= observed).sum())
        drawn += block
    p = (exceeding + 1) / (drawn + 1)
    if observed <= 0 or p > DROP_LEVEL:
        return None
    before, after = (float(np.average(values[part], weights=weights[part])) for part in (slice(at), slice(at, None)))
    return Drop(at, before, after, p)


def _contrasts(centred: FloatArray, weights: FloatArray) -> FloatArray:
    """By split, from `MIN_BEFORE` values before to one after: how far the earlier lie above the later ones, over its spread.

    The values are centred on their mean, so that the sum before the split says it all. Any axes in front are kept.
    """
    sums, shares = np.cumsum(centred * weights, axis=-1), np.cumsum(weights, axis=-1)
    inner, total = slice(MIN_BEFORE - 1, -1), shares[..., -1:]
    found: FloatArray = sums[..., inner] / np.sqrt(shares[..., inner] * (total - shares[..., inner]) / total)
    return found
