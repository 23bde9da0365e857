"""An outage is no regression, and does not hide one; `make simulate` runs the same with ten times the draws."""

from __future__ import annotations

import pytest

from tests.simulations.outages import simulate


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lost", "finds"),
    [
        pytest.param((0.0, 0.1), True, id="10-after"),
        pytest.param((0.1, 0.0), True, id="10-before"),
        pytest.param((0.0, 0.4), False, id="40-after"),
    ],
)
def test_an_unchanged_skill_seldom_gets_a_verdict_and_a_loss_of_twenty_points_is_found_although_a_tenth_is_missing(
    lost: tuple[float, float], finds: bool
) -> None:
    (row,) = simulate(100, settings=(lost,))
    assert row.false.value <= 0.01 + 3 * 0.01  # three standard errors of a share of 1 % in 100 draws
    assert row.found.value >= 0.45 * finds
