from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.statistics.paired import (
    Spread,
    correlation,
    holm,
    is_exact,
    mean_difference,
    p_floor,
    paired_t_p,
    proving_interval,
    sign_flip_tail,
    sign_flip_test,
    sign_flip_tests,
    sign_test,
    smallest_effect,
    tasks_needed,
)
from eval_skills.core.statistics.rates import FloatArray
from tests.tables import each_row

AFTER = np.array([3, 3, 2, 3, 1, 3, 0, 3]) / 3
BEFORE = np.array([3, 2, 1, 3, 0, 2, 0, 2]) / 3
D = AFTER - BEFORE

thirds = st.lists(st.integers(-3, 3), min_size=2, max_size=12).map(lambda values: np.array(values) / 3)


def test_mean_difference_of_the_example() -> None:
    difference = mean_difference(D)
    assert (difference.mean, difference.lower, difference.upper) == pytest.approx((0.2083, 0.0641, 0.3526), abs=5e-5)
    assert difference.method == "t"
    assert paired_t_p(D) == pytest.approx(0.0112, abs=5e-5)


def test_equivalence_interval_of_the_example() -> None:
    difference = mean_difference(D, level=0.9)
    assert (difference.lower, difference.upper) == pytest.approx((0.093, 0.324), abs=5e-4)


@given(thirds)
def test_paired_t_agrees_with_scipy(stats: ModuleType, differences: FloatArray) -> None:
    if np.ptp(differences) < 1e-9:
        assert paired_t_p(differences) is None
        return
    oracle = stats.ttest_rel(differences, np.zeros_like(differences))
    bounds = oracle.confidence_interval(0.95)
    ours = mean_difference(differences)
    assert paired_t_p(differences) == pytest.approx(oracle.pvalue, abs=1e-9)
    assert (ours.lower, ours.upper) == pytest.approx((max(-1, bounds.low), min(1, bounds.high)), abs=1e-9)


@each_row(
    ("differences", "level", "lower", "upper"),
    [
        pytest.param(np.zeros(60), 0.9, -0.0487, 0.0487, id="sixty-unchanged"),
        pytest.param(np.zeros(3), 0.9, -0.6316, 0.6316, id="three-unchanged-say-little"),
        pytest.param(-np.ones(30), 0.95, -1.0, -0.7686, id="all-lost"),
        pytest.param(np.array([1.0]), 0.95, -0.95, 1.0, id="one-task"),
    ],
)
def test_equal_differences_keep_a_width(differences: FloatArray, level: float, lower: float, upper: float) -> None:
    difference = mean_difference(differences, level=level)
    assert (difference.lower, difference.upper) == pytest.approx((lower, upper), abs=5e-5)
    assert difference.method == "constant"


@each_row(
    ("tasks", "margin", "by_t_alone"),
    [(60, 0.05, 0.192), (100, 0.03, 0.195), (200, 0.03, 0.147), (200, 0.05, 0.124)],
)
def test_a_loss_of_few_tasks_passes_for_less_than_the_margin_as_seldom_as_said(
    stats: ModuleType, tasks: int, margin: float, by_t_alone: float
) -> None:
    shares = []
    for interval in (mean_difference, proving_interval):
        lost = [-np.r_[np.ones(count), np.zeros(tasks - count)] for count in range(30)]
        below = [interval(differences, level=0.9).lower > -margin for differences in lost]
        shares.append(float(stats.binom.pmf(np.flatnonzero(below), tasks, margin).sum()))
    assert shares == [pytest.approx(by_t_alone, abs=5e-4), pytest.approx(0.05, abs=0.015)]


@each_row("tasks", [2, 20, 60, 100, 1000])
def test_a_first_loss_proves_nothing_that_no_loss_leaves_open(tasks: int) -> None:
    unchanged = proving_interval(np.zeros(tasks), level=0.9).lower
    for lost in (0.01, 1 / 3, 1.0):
        assert proving_interval(-lost * np.eye(tasks)[0], level=0.9).lower <= unchanged
        by_t = mean_difference(-lost * np.eye(tasks)[0], level=0.9).lower
        assert by_t > unchanged or tasks < 60 or lost == 1


@given(thirds)
def test_the_proving_interval_is_never_inside_that_of_t_and_turns_with_the_differences(differences: FloatArray) -> None:
    by_t, proving = mean_difference(differences, level=0.9), proving_interval(differences, level=0.9)
    assert proving.lower <= by_t.lower <= by_t.upper <= proving.upper
    turned = proving_interval(-differences, level=0.9)
    assert (-turned.upper, -turned.lower) == pytest.approx((proving.lower, proving.upper), abs=1e-9)


@given(thirds)
def test_interval_holds_its_mean(differences: FloatArray) -> None:
    difference = mean_difference(differences)
    assert -1 <= difference.lower <= difference.mean + 1e-12
    assert difference.mean - 1e-12 <= difference.upper <= 1


@each_row(("better", "worse", "p"), [(5, 0, 0.0625), (6, 1, 0.125), (9, 2, 0.0654), (0, 0, 1.0), (4, 4, 1.0)])
def test_sign_test_by_its_examples(better: int, worse: int, p: float) -> None:
    assert sign_test(better, worse) == pytest.approx(p, abs=5e-5)


@given(st.integers(0, 60), st.integers(0, 60))
def test_sign_test_agrees_with_scipy(stats: ModuleType, better: int, worse: int) -> None:
    oracle = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert sign_test(better, worse) == pytest.approx(oracle, abs=1e-12)


def test_sign_test_of_thousands_of_tasks() -> None:
    assert sign_test(3000, 0) == 0.0
    assert 0.3 < sign_test(2520, 2480) < 0.6


def test_p35_four_tasks_won_in_three_runs_each_are_four_wins() -> None:
    assert sign_test(4, 0) / 2 == 1 / 16


@each_row(
    ("differences", "p"),
    [
        pytest.param(D, 1 / 32, id="the-example"),
        pytest.param(np.array([1, 2, 1, 1, 1, 1, -1, 0]) / 3, 8 / 128, id="magnitudes-count"),
        pytest.param(np.zeros(4), 1.0, id="nothing-differs"),
        pytest.param(np.array([1.0] * 9 + [-1.0] * 2), (sign_test(9, 2) + sign_test(10, 1)) / 2, id="mid-p-mcnemar"),
    ],
)
def test_sign_flip_test_by_its_examples(differences: FloatArray, p: float) -> None:
    assert sign_flip_test(differences) == pytest.approx(p, abs=1e-12)


@given(thirds)
def test_sign_flip_test_agrees_with_scipy(stats: ModuleType, differences: FloatArray) -> None:
    oracle = stats.permutation_test(
        (differences, np.zeros_like(differences)),
        lambda x, y, axis: np.round(np.abs(np.sum(x - y, axis=axis)), 9),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
        vectorized=True,
    )
    assert sum(sign_flip_tail(differences)) == pytest.approx(oracle.pvalue, abs=1e-9)


@given(thirds, st.integers(0, 99))
def test_order_and_side_never_change_p(differences: FloatArray, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(differences)
    assert sign_flip_test(shuffled) == sign_flip_test(differences) == sign_flip_test(-differences)


@given(thirds)
def test_sums_are_counted_as_if_every_pattern_were_tried(differences: FloatArray) -> None:
    tiny = 1e-7 * np.sign(differences)  # no longer multiples of one fraction: every pattern is tried
    ways = sign_flip_tail(differences), sign_flip_tail(np.where(differences, differences + tiny, 0.0))
    if len({*np.abs(differences[differences != 0])}) == 1:
        assert ways[0] == pytest.approx(ways[1], abs=1e-12)
    assert sum(ways[0]) <= 1 + 1e-12


def test_many_tasks_with_few_runs_are_tested_exactly() -> None:
    differences = np.array([1.0] * 160 + [-1.0] * 140)
    assert is_exact(differences)
    assert sign_flip_test(differences) == pytest.approx((sign_test(160, 140) + sign_test(161, 139)) / 2, abs=1e-12)


def test_drawn_signs_are_seeded_and_agree_with_the_exact_answer() -> None:
    differences = np.array([1.0] * 13 + [-1.0] * 4) * np.pi / 4
    assert not is_exact(differences)
    drawn = sign_flip_test(differences, seed=1)
    assert drawn == sign_flip_test(differences[::-1], seed=1)
    assert drawn == pytest.approx(sign_flip_test(differences * 4 / np.pi), abs=0.01)


def test_several_comparisons_have_the_p_of_each() -> None:
    random = np.random.default_rng(2)
    rows = random.integers(-3, 4, (6, 40)) / 3
    rows[0], rows[1, 12:], rows[4:] = 0, 0, random.normal(0.2, 1, (2, 40))
    alone = [sign_flip_test(row) for row in rows]
    together = sign_flip_tests(rows)
    assert together[:4].tolist() == alone[:4]  # exact
    assert together == pytest.approx(alone, abs=0.02)  # 10,000 other draws: four standard errors
    assert sign_flip_tests(rows[5:]) == pytest.approx(alone[5:], abs=1e-12)


@each_row(("differing", "floor"), [(0, 1.0), (4, 0.0625), (5, 0.03125), (16, 2.0**-16), (400, 2.0**-400)])
def test_p42_floor_of_p(differing: int, floor: float) -> None:
    assert p_floor(differing) == floor
    assert sign_flip_test(np.full(max(differing, 1), 1.0 if differing else 0.0)) == floor


@each_row(
    ("given_p", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.012, 0.2, 0.03], [0.036, 0.2, 0.06]),
        ([0.04], [0.04]),
        ([], []),
        ([0.9, 0.8], [1.0, 1.0]),
    ],
)
def test_holm_by_its_examples(given_p: list[float], adjusted: list[float]) -> None:
    assert holm(given_p) == pytest.approx(adjusted)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_only_raises_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(before <= after <= 1 for before, after in zip(p_values, adjusted, strict=True))
    by_p = [after for _, after in sorted(zip(p_values, adjusted, strict=True))]
    assert by_p == sorted(by_p)


def spread(runs: int) -> Spread:
    """Tasks whose chances are uniform and differ by themselves, with so many runs."""
    return Spread(deviation=(1 / 9 + 2 / 6 / runs) ** 0.5, rate=0.5, runs=runs)


@each_row(("runs", "tasks", "effect"), [(1, 50, 0.28), (1, 100, 0.19), (3, 50, 0.195), (3, 100, 0.137), (10, 100, 0.11)])
def test_smallest_effect_by_its_table(runs: int, tasks: int, effect: float) -> None:
    assert smallest_effect(spread(runs), tasks) == pytest.approx(effect, abs=5e-3)


def test_one_of_several_skills_needs_a_larger_effect() -> None:
    alone, one_of_five = (smallest_effect(spread(3), 50, significance=0.05 / skills) for skills in (1, 5))
    assert alone is not None
    assert one_of_five is not None
    assert one_of_five > 1.2 * alone


def test_an_effect_towards_a_half_makes_runs_vary_more() -> None:
    near, even = (smallest_effect(Spread(deviation=0.3, rate=rate, runs=1), 20) for rate in (0.95, 0.5))
    assert near is not None
    assert even is not None
    assert near > even


def test_smallest_effect_is_unknown_without_spread_and_above_1_where_nothing_could_be_shown() -> None:
    assert smallest_effect(Spread(deviation=0.0, rate=1.0, runs=3), 20) is None
    assert smallest_effect(Spread(deviation=0.3, rate=0.5, runs=3), 1) is None
    assert (smallest_effect(Spread(deviation=0.3, rate=0.5, runs=3), 3) or 0) > 1


@pytest.mark.parametrize("effect", [0.05, 0.10, 0.20])
def test_so_many_tasks_are_needed_and_one_less_does_not_do(effect: float) -> None:
    needed = tasks_needed(spread(3), effect)
    assert needed is not None
    enough, short = (smallest_effect(spread(3), tasks) or 0 for tasks in (needed, needed - 1))
    assert enough <= effect + 1e-9 < short
    assert tasks_needed(Spread(deviation=0.0, rate=1.0, runs=1), effect) is None


def test_correlation_of_the_example() -> None:
    assert correlation(BEFORE, AFTER) == pytest.approx(0.90, abs=5e-3)
    assert correlation(np.ones(8), AFTER) is None
