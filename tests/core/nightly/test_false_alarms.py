"""Nights without a change raise hardly any alarm, and real changes are found in time; `make simulate` runs the same in full."""

from __future__ import annotations

import pytest

from tests.simulations.nights import CHANGES, UNCHANGED, Change, simulate

FALSE = {"20 × 3, 30 % flaky": 0.01, "20 × 3, all flaky": 0.015}
FOUND = {"20 × 3, −20 points": 0.95, "20 × 3, −10 points": 0.60, "20 × 3, 3 tasks broken": 0.99}


@pytest.mark.slow
@pytest.mark.parametrize("change", [each for each in UNCHANGED if each.name in FALSE], ids=lambda each: each.name)
def test_p42_nights_without_a_change_raise_hardly_any_alarm(change: Change) -> None:
    (row,) = simulate(16, changes=[change])
    assert row.share <= FALSE[change.name] + 3 * row.error


@pytest.mark.slow
@pytest.mark.parametrize("change", [each for each in CHANGES if each.name in FOUND], ids=lambda each: each.name)
def test_changes_are_found_in_time(change: Change) -> None:
    (row,) = simulate(6, changes=[change])
    assert row.share >= FOUND[change.name] - 3 * row.error
