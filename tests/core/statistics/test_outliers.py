"""Single values outside the band of the others."""

from __future__ import annotations

import math

import numpy as np

from eval_skills.core.statistics.outliers import outliers
from tests.tables import each_row


def test_one_low_night_is_named_with_the_band_of_the_others() -> None:
    values: list[float | None] = list(np.random.default_rng(1).normal(0.9, 0.02, 20))
    values[7] = 0.6
    [found] = outliers(values)
    assert found.at == 7
    assert 0.75 < found.lower < 0.85 < 0.95 < found.upper


def test_shares_of_few_tasks_vary_by_themselves() -> None:
    values = [1.0] * 10 + [0.9]
    assert [found.at for found in outliers(values, [1000] * 11)] == [10]
    assert outliers(values, [10] * 11) == []


def test_figures_without_an_upper_end_are_compared_by_their_logarithms() -> None:
    values = [*np.random.default_rng(2).lognormal(3, 0.5, 30), 4000.0]
    assert [found.at for found in outliers(values, positive=True)] == [30]
    assert outliers([100.0, *[0.0] * 20], positive=True) == []


@each_row("values", [[], [1.0] * 6 + [0.0], [None] * 20, [math.nan] * 20, [0.5] * 20])
def test_where_there_is_no_band_nothing_stands_out(values: list[float | None]) -> None:
    assert outliers(values) == []
