"""Looking after every run makes no more false verdicts than one look; `make simulate` runs the same with more draws."""

from __future__ import annotations

import pytest

from tests.simulations.sequential import simulate


@pytest.mark.slow
def test_ten_looks_are_wrong_no_more_often_than_one() -> None:
    unchanged, worse = simulate(300, settings=((False, 50, 3),), losses=(0.0, 0.2))
    assert unchanged.decided.value <= 0.055 + 3 * 0.0132  # three standard errors of a share of 5.5 % in 300 draws
    assert worse.decided.value >= 0.98
    assert worse.runs <= 4
