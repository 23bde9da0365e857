"""Flaky tasks are seldom called newly failing; `make simulate` runs the same with more draws and settings."""

from __future__ import annotations

import pytest

from tests.simulations.newly_failing import simulate


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", [("all 0.5", 3, 3), ("all 0.5", 10, 2), ("steady, one in ten 0.5", 50, 3)], ids=["3x3", "10x2", "50x3"]
)
def test_an_unchanged_skill_seldom_fails_and_a_broken_one_does(setting: tuple[str, int, int]) -> None:
    (row,) = simulate(400, settings=(setting,))
    assert row.newly.value + row.fewer.value <= 0.025 + 3 * 0.008  # three standard errors of a share of 2.5 % in 400 draws
    assert row.alarm.value <= 0.05 + 3 * 0.011
    assert row.found.value >= row.by_test.value
