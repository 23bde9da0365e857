"""How sure the order is, by drawing the tasks again."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest

from eval_skills.core.ranking.bootstrap import draw_tasks, probability_best, rank_intervals
from eval_skills.core.ranking.outcomes import Outcomes
from eval_skills.core.ranking.ranking import tied_groups
from eval_skills.core.ranking.shrinkage import shrinkage
from tests.core.ranking.test_groups import ALL, FEW, HALF, outcomes


def chances(made: Outcomes) -> list[float]:
    groups, draws = tied_groups(made).members, draw_tasks(made)
    return list(probability_best(draws, groups, shrinkage(made, groups, draws.rates)))


def test_equal_skills_share_the_chance_and_every_rank_is_open() -> None:
    made = outcomes(HALF, HALF, HALF, HALF)
    assert chances(made) == pytest.approx([0.25] * 4)
    lower, upper = rank_intervals(draw_tasks(made))
    assert (lower.tolist(), upper.tolist()) == ([1] * 4, [4] * 4)


def test_a_clear_order_is_certain() -> None:
    made = outcomes(ALL * 3, HALF * 3, FEW * 3)
    assert chances(made) == [1.0, 0.0, 0.0]
    lower, upper = rank_intervals(draw_tasks(made))
    assert (lower.tolist(), upper.tolist()) == ([1, 2, 3], [1, 2, 3])


def test_the_draws_are_those_of_tasks_not_of_items() -> None:
    random = np.random.default_rng(1)
    rates = random.random(40)
    made = outcomes((10 * rates).round().astype(int).tolist(), runs=10)
    expected = (made.passed / 10).std() / np.sqrt(40)
    assert draw_tasks(made, draws=4000).errors.std() == pytest.approx(expected, rel=0.05)


def test_missing_items_are_left_out_of_the_rate() -> None:
    made = outcomes([1] * 10, [1] * 5 + [0] * 5, missing={1: 5})
    assert draw_tasks(made).rates.tolist() == [1.0, 1.0]
    assert not draw_tasks(made).errors.any()


def test_the_same_seed_gives_the_same_figures() -> None:
    made = outcomes(ALL, HALF, FEW)
    assert np.array_equal(draw_tasks(made).errors, draw_tasks(made).errors)
    assert not np.array_equal(draw_tasks(made).errors, draw_tasks(made, seed=1).errors)


def test_ten_skills_on_two_hundred_tasks_take_no_time() -> None:
    made = outcomes(*np.random.default_rng(1).integers(0, 4, (10, 200)).tolist(), runs=3)
    begun = process_time()
    rank_intervals(draw_tasks(made))
    chances(made)
    assert process_time() - begun < 1  # 0.03 s, and 0.1 s for the test of the groups
