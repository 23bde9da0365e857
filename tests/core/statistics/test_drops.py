"""A series that came down and stayed down, among series that did not."""

from __future__ import annotations

import numpy as np
import pytest

from eval_skills.core.statistics.drops import DROP_LEVEL, lasting_drop
from eval_skills.core.statistics.rates import FloatArray
from tests.tables import each_row


def noise(length: int, seed: int = 1) -> FloatArray:
    return np.random.default_rng(seed).normal(0.9, 0.03, length)


def test_a_drop_is_found_where_it_began_with_both_levels() -> None:
    drop = lasting_drop(noise(40) - np.where(np.arange(40) >= 30, 0.1, 0.0), np.ones(40))
    assert drop is not None
    assert abs(drop.at - 30) <= 1
    assert drop.p <= DROP_LEVEL
    assert drop.before == pytest.approx(0.9, abs=0.02)
    assert drop.after == pytest.approx(0.8, abs=0.02)


@each_row(
    "values",
    [
        pytest.param(noise(40), id="unchanged"),
        pytest.param(noise(40) + np.linspace(0, 0.2, 40), id="rising"),
        pytest.param(noise(40) - np.where(np.abs(np.arange(40) - 20) < 4, 0.1, 0.0), id="down-and-back"),
        pytest.param(np.full(40, 0.9), id="constant"),
        pytest.param(np.array([0.9] * 5 + [0.1] * 2), id="too-short"),
    ],
)
def test_no_other_series_has_one(values: FloatArray) -> None:
    assert lasting_drop(values, np.ones(len(values))) is None


def test_a_slow_loss_cannot_lower_what_it_is_compared_with() -> None:
    assert lasting_drop(noise(60) - np.linspace(0, 0.06, 60), np.ones(60)) is not None


def test_a_value_that_rests_on_little_counts_little() -> None:
    values = noise(40) - np.where(np.arange(40) >= 37, 0.1, 0.0)
    assert lasting_drop(values, np.ones(40)) is not None
    assert lasting_drop(values, np.where(np.arange(40) >= 37, 0.01, 1.0)) is None
