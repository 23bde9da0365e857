"""Student's t distribution and the normal quantile.

By hand, because scipy would be the only other way: 35 MB more for every installation, and half a second of import for two
functions. The tests compare them with scipy.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

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
