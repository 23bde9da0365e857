"""Estimates corrected for having been picked."""

from __future__ import annotations

import numpy as np
import pytest

from eval_skills.core.ranking.shrinkage import shrinkage
from tests.core.ranking.test_groups import outcomes
from tests.tables import each_row


def estimates(*passed: list[int], groups: list[list[int]] | None = None) -> list[float]:
    made = outcomes(*passed)
    rates = made.passed.mean(axis=1)
    return list(shrinkage(made, groups or [list(range(len(passed)))], rates).estimates(rates))


def test_the_share_kept_is_one_minus_one_over_f() -> None:
    """Means .75, .5, .25: 4·(2·.0625)/2 = 1/4 between; residuals of 5/6 over 6 degrees: 5/36 within, F = 9/5."""
    kept = 1 - 5 / 9
    found = estimates([1, 1, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1])
    assert found == pytest.approx([0.5 + kept * 0.25, 0.5, 0.5 - kept * 0.25])


def test_a_skill_that_stands_alone_keeps_its_rate_and_differences_that_are_noise_vanish() -> None:
    noise = [[1, 0, 1, 0], [0, 1, 0, 0]]
    assert estimates([1, 1, 1, 1], *noise, groups=[[0], [1, 2]]) == [1.0, 0.375, 0.375]


def test_equal_skills_stay_as_they_are() -> None:
    assert estimates([1, 0, 1], [1, 0, 1]) == pytest.approx([2 / 3, 2 / 3])


@each_row("tasks", range(2, 60))
def test_of_a_difference_that_is_all_noise_nothing_is_left(tasks: int) -> None:
    """F is 1 where one task of any number tells two skills apart; what rounding leaves of it would be blown up by its root."""
    made = outcomes([1] * tasks, [1] * (tasks - 1) + [0])
    assert list(shrinkage(made, [[0, 1]], made.passed.mean(axis=1)).kept) == [0.0, 0.0]


def test_one_task_says_nothing_about_a_difference() -> None:
    assert np.ptp(estimates([1], [0])) == 0
