"""An outage is no regression, and does not hide one; `make simulate` runs the same with ten times the draws."""

from __future__ import annotations

import pytest

from tests.simulations.outages import simulate


@pytest.mark.slow
@pytest.mark.parametrize("lost", [(0.0, 0.1), (0.2, 0.0), (0.0, 0.4)], ids=["10-after", "20-before", "40-after"])
def test_an_unchanged_skill_is_called_better_or_worse_in_at_most_one_of_a_hundred(lost: tuple[float, float]) -> None:
    (row,) = simulate(100, settings=(lost,))
    assert row.false.value <= 0.01 + 3 * 0.01  # three standard errors of a share of 1 % in 100 draws


@pytest.mark.slow
@pytest.mark.parametrize("lost", [(0.0, 0.1), (0.1, 0.0)], ids=["after", "before"])
def test_a_loss_of_twenty_points_is_found_although_a_tenth_is_missing_on_one_side(lost: tuple[float, float]) -> None:
    (row,) = simulate(100, settings=(lost,))
    assert row.found.value >= 0.45
