from __future__ import annotations

import math
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.statistics.rates import normal_quantile, t_quantile, two_sided_t_p
from tests.tables import each_row

DEGREES = [1, 2, 3, 5, 7, 29, 100, 1_000, 100_000]


@each_row("degrees", DEGREES)
@each_row("probability", [0.001, 0.1, 0.5, 0.8, 0.95, 0.975, 0.9999])
def test_quantile_agrees_with_scipy(stats: ModuleType, probability: float, degrees: int) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(stats.t.ppf(probability, degrees), rel=1e-9, abs=1e-9)


@each_row("degrees", DEGREES)
@each_row("value", [-50.0, -2.5, -0.1, 0.0, 0.5, 2.0, 10.0])
def test_two_sided_p_agrees_with_scipy(stats: ModuleType, value: float, degrees: int) -> None:
    assert two_sided_t_p(value, degrees) == pytest.approx(2 * stats.t.sf(abs(value), degrees), rel=1e-8, abs=1e-11)


@given(st.floats(0.0001, 0.9999), st.integers(1, 500))
def test_quantile_and_p_are_inverse(probability: float, degrees: int) -> None:
    expected = 2 * min(probability, 1 - probability)
    assert two_sided_t_p(t_quantile(probability, degrees), degrees) == pytest.approx(expected, abs=1e-10)


def test_normal_quantile() -> None:
    assert normal_quantile(0.975) == pytest.approx(1.959964, abs=1e-6)
    assert normal_quantile(0.975) + normal_quantile(0.8) == pytest.approx(2.8016, abs=1e-4)


def test_an_infinite_value_has_no_tail() -> None:
    assert two_sided_t_p(math.inf, 4) == 0.0


@pytest.mark.parametrize("probability", [0.0, 1.0, math.nan])
def test_no_quantile_of_what_is_no_probability(probability: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        t_quantile(probability, 3)
    with pytest.raises(ValueError, match="between 0 and 1"):
        normal_quantile(probability)


@pytest.mark.parametrize("degrees", [0.0, -1.0, math.nan])
def test_no_distribution_without_degrees_of_freedom(degrees: float) -> None:
    with pytest.raises(ValueError, match="degrees of freedom"):
        t_quantile(0.9, degrees)
    with pytest.raises(ValueError, match="degrees of freedom"):
        two_sided_t_p(1.0, degrees)
