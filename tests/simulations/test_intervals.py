"""Intervals hold the rate as often as they say; `make simulate` runs the same with more draws and settings."""

from __future__ import annotations

import pytest

from tests.simulations.intervals import CHANCES, RUNS, simulate


@pytest.mark.slow
@pytest.mark.parametrize("chances", CHANCES)
def test_intervals_of_twenty_tasks_hold_the_rate(chances: str) -> None:
    (row,) = simulate(200, chances=(chances,), tasks=(20,))
    assert min(row.held[runs].value for runs in RUNS) >= 0.94 - 3 * 0.017  # three standard errors of 94 % in 200 draws
    assert row.width < row.exact_width
