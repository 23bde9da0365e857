"""A trend that did not change is rarely marked; `make simulate` runs the same with more draws, and looks every night."""

from __future__ import annotations

import pytest

from tests.simulations.trends import SETTINGS, simulate


@pytest.mark.slow
def test_lines_without_a_change_are_rarely_marked_also_where_each_run_resembles_the_one_before() -> None:
    settings = {name: SETTINGS[name] for name in ("rate 0.95", "autocorrelated, 0.6")}
    for row in simulate(60, settings=settings, looks=False):
        assert row.once.value <= 0.1 + 3 * 0.039, row.name  # three standard errors of a share of 10 % in 60 draws
