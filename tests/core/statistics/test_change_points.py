"""Change points: how often they are wrong, what they find, and what cannot have any."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eval_skills.core.statistics.change_points import (
    MIN_SEGMENT,
    MIN_VALUES,
    best_split,
    change_points,
    contrasts,
    running,
    seeded_intervals,
    untested,
)
from tests.tables import each_row

ITEMS = 60
"""20 tasks × 3 runs."""


def nights(random: np.random.Generator, *stretches: tuple[int, float]) -> list[float]:
    """Completion rates of so many nights at each true rate."""
    return [float(found) / ITEMS for count, rate in stretches for found in random.binomial(ITEMS, rate, count)]


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [False, True])
def test_the_level_holds_for_skewed_values_and_uneven_weights(ranks: bool) -> None:
    random = np.random.default_rng(20260103)
    alarms = 0
    for _ in range(100):
        weights = random.integers(5, 40, 40).tolist()
        alarms += bool(change_points(random.lognormal(3, 1, 40).tolist(), weights, ranks=ranks, level=0.05))
    assert alarms <= 11  # three standard errors above 5 %


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [False, True])
def test_a_drop_is_found_within_two_nights(ranks: bool) -> None:
    random = np.random.default_rng(20260104)
    found = [change_points(nights(random, (20, 0.9), (20, 0.7)), ranks=ranks) for _ in range(60)]
    near = [min(points, key=lambda point: abs(point.at - 20)) for points in found if points]
    assert sum(abs(point.at - 20) <= 2 for point in near) >= 54
    assert sum(point.first <= 20 <= point.last for point in near) >= 54
    assert all(point.before > point.after and point.p <= 0.005 for point in near)


@pytest.mark.slow
def test_a_level_that_was_left_and_came_back_has_both_its_ends() -> None:
    random = np.random.default_rng(20260105)
    found = [change_points(nights(random, (30, 0.95), (8, 0.6), (40, 0.95))) for _ in range(10)]
    assert all(abs(first.at - 30) <= 1 and abs(second.at - 38) <= 1 for first, second in found)


def test_a_step_without_noise_is_put_exactly() -> None:
    [point] = change_points([0.5] * 10 + [1.0] * 7)
    assert (point.at, point.first, point.last, point.before, point.after) == (10, 10, 10, 0.5, 1.0)


@each_row(
    ("values", "says"),
    [
        pytest.param([], "0 known values; from 11 on", id="empty"),
        pytest.param([1.0] * 6 + [0.0] * 4, "10 known values; from 11 on", id="too-short"),
        pytest.param([None, math.nan, math.inf, 0.5], "1 known value; from 11 on", id="unknown-values-do-not-count"),
        pytest.param([0.7] * 50, "every known value is the same", id="constant"),
        pytest.param([0.7, None] * 20, "every known value is the same", id="constant-with-gaps"),
    ],
)
def test_what_cannot_have_a_change_point_says_why(values: list[float | None], says: str) -> None:
    assert change_points(values) == []
    assert says in (untested(values) or "")


def test_unknown_values_are_passed_over_and_keep_their_places() -> None:
    values: list[float | None] = [0.5, None, 0.5, math.nan, 0.5, 0.5, 0.5, 0.5, None, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9]
    [point] = change_points(values)
    assert (point.at, point.first, point.last) == (9, 9, 9)


def test_the_shortest_series_that_is_tested_can_show_a_change() -> None:
    assert [point.at for point in change_points([0.0] * 5 + [1.0] * 6)] == [5]
    assert MIN_VALUES == 11


@pytest.mark.parametrize("outliers", [1, 2])
def test_one_or_two_odd_nights_are_no_change_of_level(outliers: int) -> None:
    random = np.random.default_rng(20260106)
    values = nights(random, (40, 0.9))
    values[20 : 20 + outliers] = [0.0] * outliers
    assert all(abs(point.at - 20) > 5 for point in change_points(values, ranks=True))


def test_ranks_are_not_led_by_one_huge_value() -> None:
    random = np.random.default_rng(20260107)
    values = [*random.normal(100, 5, 20), *random.normal(130, 5, 20)]
    values[5] = 1e6
    assert change_points(values) == []
    [point] = change_points(values, ranks=True)
    assert point.at == 20
    assert (round(point.before, -1), round(point.after, -1)) == (100, 130)


def test_the_same_series_has_the_same_points_wherever_it_lies_and_however_it_is_scaled() -> None:
    values = nights(np.random.default_rng(20260108), (20, 0.85), (20, 0.75))
    found = change_points(values)
    assert found == change_points(values)
    assert [(point.at, point.p) for point in change_points([1e9 + 1e3 * value for value in values])] == [
        (point.at, point.p) for point in found
    ]


def test_weights_decide_how_much_a_value_says() -> None:
    random = np.random.default_rng(20260109)
    values, weights = nights(random, (40, 0.9)), [50.0] * 40
    for place in range(10, 20):
        values[place], weights[place] = float(random.random()), 0.01
    assert change_points(values, weights) == []
    assert untested(values) is None


@each_row("weights", [[1.0] * 10, [0.0] + [1.0] * 10, [-1.0] + [1.0] * 10, [math.nan] + [1.0] * 10])
def test_p40_weights_that_make_no_sense_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="a weight above 0 for each value"):
        change_points([0.1 * place for place in range(11)], weights)


def test_p40_a_level_outside_of_0_to_1_is_refused() -> None:
    with pytest.raises(ValueError, match="got 0"):
        change_points([0.0] * 8, level=0)


@each_row("length", [6, 7, 8, 11, 40, 365])
def test_seeded_intervals_cover_every_split_and_are_long_enough(length: int) -> None:
    intervals = list(seeded_intervals(length))
    assert intervals[0] == (0, length)
    assert all(start >= 0 and stop <= length and stop - start >= 2 * MIN_SEGMENT for start, stop in intervals)
    assert len(intervals) < length


def test_the_contrast_is_what_a_split_takes_off_the_sum_of_squares() -> None:
    random = np.random.default_rng(20260110)
    values, weights = random.random(12), random.random(12) + 0.5

    def squares(part: slice) -> float:
        mean = np.average(values[part], weights=weights[part])
        return float(weights[part] @ (values[part] - mean) ** 2)

    found = contrasts(running(values * weights), running(weights), 0, 12)
    expected = [squares(slice(0, 12)) - squares(slice(0, at)) - squares(slice(at, 12)) for at in range(3, 10)]
    assert found == pytest.approx(expected)


def test_p_of_a_short_series_is_that_of_all_its_orders() -> None:
    """Of the 70 ways to put four ones among eight places, two have the largest contrast: p = 2/70."""
    split = best_split(np.array([0.0] * 4 + [1.0] * 4), np.ones(8), level=0.5, seed=1)
    assert split.at == 4
    assert split.p == pytest.approx(2 / 70, abs=0.012)
