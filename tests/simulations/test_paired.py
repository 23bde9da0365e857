"""Mid-p keeps its level closely enough, and finds more; `make simulate` runs the same with more draws and settings."""

from __future__ import annotations

import pytest

from tests.simulations.paired import simulate


@pytest.mark.slow
@pytest.mark.parametrize("setting", [(True, 8, 3), (True, 20, 1), (False, 20, 3)], ids=["flaky-8x3", "flaky-20x1", "good-20x3"])
def test_an_unchanged_skill_is_found_changed_in_at_most_one_of_twenty(setting: tuple[bool, int, int]) -> None:
    (row,) = simulate(400, settings=(setting,))
    assert row.false.value <= 0.05 + 3 * 0.011  # three standard errors of a share of 5 % in 400 draws


@pytest.mark.slow
def test_few_tasks_show_more_than_by_the_plain_p() -> None:
    (row,) = simulate(400, settings=((False, 10, 3),))
    assert row.found.value >= 1.2 * row.plain_found.value
