"""Agreement of two raters: worked examples, an oracle, and what is said where nothing is known."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.statistics.agreement import (
    Estimate,
    clustered,
    cohens_kappa,
    counts_of,
    nearest_levels,
    share,
    spearman,
    weighted_kappa,
)
from eval_skills.core.statistics.rates import IntArray
from tests.tables import each_row


@each_row(
    ("table", "kappa"),
    [
        pytest.param([[40, 5], [10, 45]], 0.7, id="good"),
        pytest.param([[90, 5], [5, 0]], -0.05263, id="skewed-data-break-it"),
        pytest.param([[10, 2, 0], [3, 10, 2], [0, 1, 12]], 0.70009, id="three-levels"),
        pytest.param([[0, 5], [5, 0]], -1.0, id="never-agree"),
        pytest.param([[7, 0], [0, 0]], None, id="one-answer-only"),
        pytest.param([[0, 0], [0, 0]], None, id="nothing"),
    ],
)
def test_cohens_kappa(table: list[list[int]], kappa: float | None) -> None:
    assert cohens_kappa(table) == (None if kappa is None else pytest.approx(kappa, abs=1e-5))


def test_weighted_kappa_counts_near_misses_less() -> None:
    assert weighted_kappa(*levels_in([[10, 2, 0], [3, 10, 2], [0, 1, 12]])) == pytest.approx(0.846, abs=5e-4)
    assert weighted_kappa(*levels_in([[40, 5], [10, 45]])) == pytest.approx(0.7), "with two levels it is plain kappa"
    assert weighted_kappa(*levels_in([[3]])) is None
    assert weighted_kappa(*levels_in([[0]])) is None


def levels_in(table: list[list[int]]) -> tuple[IntArray, IntArray]:
    """Two raters' levels, item by item, of which this is the table."""
    counts = np.array(table)
    first, second = np.repeat(np.argwhere(counts >= 0), counts.ravel(), axis=0).T
    return first, second


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8, unique=True), st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_a_value_goes_to_the_level_that_lies_next_to_it(levels: list[float], values: list[float]) -> None:
    ordered = np.array(sorted(levels))
    found = nearest_levels(np.array(values), ordered)
    assert (np.abs(ordered[found] - values) <= np.abs(np.subtract.outer(values, ordered)).min(axis=1)).all()


def test_as_many_levels_as_items_need_no_table_of_them() -> None:
    scores = np.random.default_rng(1).random(50_000)
    levels = np.unique(scores)
    assert weighted_kappa(nearest_levels(scores, levels), nearest_levels(scores, levels)) == 1.0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_spearman_is_scipys(stats: ModuleType, pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    found = spearman(first, second)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert found is None
    else:
        assert found == pytest.approx(float(stats.spearmanr(first, second).statistic), abs=1e-9)


def test_spearman_of_two_points_is_nothing() -> None:
    assert spearman(np.array([0.0, 1.0]), np.array([0.0, 1.0])) is None


def test_a_share_has_the_interval_of_a_completion_rate() -> None:
    of_items = share(np.array([True] * 17 + [False] * 3), np.arange(20))
    assert (of_items.value, of_items.method) == (0.85, "wilson_widened")
    assert (of_items.lower, of_items.upper) == pytest.approx((0.6300, 0.9656), abs=1e-4)
    of_runs = share(np.array([True] * 17 + [False] * 3), np.repeat(np.arange(5), 4))
    assert of_runs.method == "wilson_effective"
    assert of_runs.lower is not None
    assert of_runs.lower < 0.63, "runs of one task are a cluster"
    assert share(np.array([], dtype=bool), np.array([], dtype=np.int64)) == Estimate()


def test_the_bootstrap_draws_tasks_and_gives_the_same_bytes_again() -> None:
    random = np.random.default_rng(7)
    task = np.repeat(np.arange(12), 5)
    hit = np.repeat(random.random(12) < 0.5, 5)  # the runs of a task are all alike
    by_task = clustered(lambda rows: float(hit[rows].mean()), task)
    by_item = clustered(lambda rows: float(hit[rows].mean()), np.arange(60))
    assert by_task == clustered(lambda rows: float(hit[rows].mean()), task)
    assert None not in (by_task.lower, by_task.upper, by_item.lower, by_item.upper)
    width = [(each.upper or 0) - (each.lower or 0) for each in (by_task, by_item)]
    assert width[0] > 1.7 * width[1], "five copies of a task are not five tasks"


@pytest.mark.parametrize(
    ("values", "task"),
    [
        pytest.param([0.0, 1.0], [0, 1], id="two-tasks"),
        pytest.param([1.0, 1.0, 1.0], [0, 1, 2], id="all-alike"),
    ],
)
def test_bounds_that_would_be_false_certainty_are_not_given(values: list[float], task: list[int]) -> None:
    hits = np.array(values)
    found = clustered(lambda rows: float(hits[rows].mean()), np.array(task))
    assert (found.value, found.lower, found.upper) == (hits.mean(), None, None)


@pytest.mark.slow
def test_a_perfect_correlation_in_every_draw_claims_no_certainty() -> None:
    scores = np.arange(12) / 11
    found = clustered(lambda rows: spearman(scores[rows], scores[rows] ** 3), np.arange(12))
    assert found.value == pytest.approx(1)
    assert (found.lower, found.upper, found.method) == (None, None, "")


def test_levels_take_the_nearest_and_between_two_the_lower() -> None:
    levels = np.array([0.0, 0.5, 1.0])
    assert nearest_levels(np.array([0.1, 0.25, 0.7, 1.0]), levels).tolist() == [0, 0, 1, 2]
    assert counts_of(np.array([0, 1, 1]), np.array([1, 1, 1]), 2).tolist() == [[0, 1], [0, 2]]
