from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.statistics.rates import (
    IntArray,
    IntervalMethod,
    cluster_bootstrap,
    clustered_standard_error,
    completion_interval,
    composite_score,
    effective_size,
    mean_over_tasks,
    nearest_rank,
    pass_at_k,
    pass_hat_k,
    widened_wilson,
    wilson,
)
from tests.tables import each_row

EXAMPLE_PASSED = np.array([4, 3, 2, 0, 4, 3])
EXAMPLE_ITEMS = np.full(6, 4)

tasks = st.lists(st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=25)


def arrays(pairs: list[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    return np.array([c for c, _ in pairs], dtype=np.int64), np.array([n for _, n in pairs], dtype=np.int64)


@each_row(
    ("passed", "size", "lower", "upper"),
    [
        (0, 0, 0.0, 1.0),
        (0, 1, 0.0, 0.7935),
        (1, 1, 0.2065, 1.0),
        (0, 5, 0.0, 0.4345),
        (5, 5, 0.5655, 1.0),
        (7, 10, 0.3968, 0.8922),
        (17, 20, 0.6396, 0.9476),
        (20, 20, 0.8389, 1.0),
        (85, 100, 0.7672, 0.9069),
    ],
)
def test_wilson_by_its_table(passed: int, size: int, lower: float, upper: float) -> None:
    assert wilson(passed / max(size, 1), size) == pytest.approx((lower, upper), abs=5e-5)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_p36_wilson_agrees_with_scipy_at_any_level(stats: ModuleType, trials: tuple[int, int], level: float) -> None:
    passed, size = trials
    oracle = stats.binomtest(passed, size).proportion_ci(confidence_level=level, method="wilson")
    assert wilson(passed / size, size, level=level) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


def test_gate_arithmetic_of_all_passing_runs() -> None:
    assert wilson(1.0, 8)[0] < 0.70 <= wilson(1.0, 9)[0]
    assert wilson(1.0, 34)[0] < 0.90 <= wilson(1.0, 35)[0]


@pytest.mark.slow
@pytest.mark.parametrize("size", [8, 20, 50, 200])
def test_widened_limits_lie_between_wilsons_and_the_exact_ones_and_hold_nearly_every_rate(stats: ModuleType, size: int) -> None:
    ours = np.array([widened_wilson(passed, size) for passed in range(size + 1)])
    plain = np.array([wilson(passed / size, size) for passed in range(size + 1)])
    passed, failed = np.arange(size + 1), np.arange(size + 1)[::-1]
    exact = np.column_stack([stats.beta.ppf(0.025, passed, failed + 1), stats.beta.ppf(0.975, passed + 1, failed)])
    exact[0, 0], exact[-1, 1] = 0.0, 1.0  # Clopper and Pearson's
    assert (ours[:, 0] <= plain[:, 0] + 1e-12).all()
    assert (ours[:, 1] >= plain[:, 1] - 1e-12).all()
    rates = np.linspace(0.01, 0.99, 99)
    chances = stats.binom.pmf(np.arange(size + 1)[:, None], size, rates)
    held = (chances * ((ours[:, :1] <= rates) & (rates <= ours[:, 1:]))).sum(axis=0)
    assert held.min() >= 0.9390
    assert (np.ptp(ours, axis=1) @ chances <= np.ptp(exact, axis=1) @ chances).all()


def test_clustered_error_of_the_example() -> None:
    error = clustered_standard_error(EXAMPLE_PASSED, EXAMPLE_ITEMS)
    assert error == pytest.approx(0.1537, abs=5e-5)
    assert error == pytest.approx(np.std(EXAMPLE_PASSED / EXAMPLE_ITEMS, ddof=1) / np.sqrt(6))


def test_clustered_error_of_unequal_runs() -> None:
    assert clustered_standard_error(np.array([4, 1, 0]), np.array([4, 2, 3])) == pytest.approx(0.3320, abs=5e-5)


def test_one_task_has_no_clustered_error() -> None:
    assert clustered_standard_error(np.array([2]), np.array([3])) is None


@each_row(
    ("passed", "items", "size"),
    [
        pytest.param(EXAMPLE_PASSED, EXAMPLE_ITEMS, 5.47, id="the-example"),
        pytest.param(np.full(5, 3), np.full(5, 3), 5.0, id="all-pass"),
        pytest.param(np.zeros(5, dtype=np.int64), np.full(5, 3), 5.0, id="all-fail"),
        pytest.param(np.array([2]), np.array([3]), 1.0, id="one-task"),
    ],
)
def test_effective_size(passed: IntArray, items: IntArray, size: float) -> None:
    assert effective_size(passed, items) == pytest.approx(size, abs=5e-3)


@each_row(
    ("passed", "items", "method", "expected"),
    [
        pytest.param(EXAMPLE_PASSED, EXAMPLE_ITEMS, "wilson_effective", (0.2875, 0.9084, "wilson_effective"), id="effective"),
        pytest.param(EXAMPLE_PASSED, EXAMPLE_ITEMS, "cluster_bootstrap", (0.375, 0.917, "cluster_bootstrap"), id="bootstrap"),
        pytest.param(np.full(5, 4), np.full(5, 4), "cluster_bootstrap", (0.5655, 1.0, "wilson_tasks"), id="all-pass-has-width"),
        pytest.param(np.full(5, 4), np.full(5, 4), "wilson_effective", (0.5655, 1.0, "wilson_effective"), id="all-pass"),
        pytest.param(np.array([2]), np.array([3]), "cluster_bootstrap", (0.094, 0.975, "wilson_tasks"), id="one-task"),
        pytest.param(np.array([3]), np.array([3]), "wilson_effective", (0.2065, 1.0, "wilson_effective"), id="one-task-passes"),
        pytest.param(
            np.array([1, 0, 1]), np.ones(3, dtype=np.int64), "wilson_effective", (0.1036, 0.9899, "wilson_widened"), id="one-run"
        ),
        pytest.param(np.array([], dtype=int), np.array([], dtype=int), "wilson_effective", (0.0, 1.0, "wilson"), id="nothing"),
    ],
)
def test_p34_interval_by_method(
    passed: IntArray, items: IntArray, method: IntervalMethod, expected: tuple[float, float, str]
) -> None:
    interval = completion_interval(passed, items, method=method)
    assert (interval.lower, interval.upper) == pytest.approx(expected[:2], abs=6e-4)
    assert interval.method == expected[2]


@pytest.mark.slow
@given(tasks, st.sampled_from([0.8, 0.95, 0.99]))
def test_interval_holds_its_rate_within_0_and_1(pairs: list[tuple[int, int]], level: float) -> None:
    passed, items = arrays(pairs)
    interval = completion_interval(passed, items, level=level)
    assert 0 <= interval.lower <= passed.sum() / items.sum() <= interval.upper <= 1
    assert interval.lower < interval.upper


@given(tasks)
def test_bootstrap_lies_within_0_and_1_and_same_seed_gives_same_bytes(pairs: list[tuple[int, int]]) -> None:
    passed, items = arrays(pairs)
    first, second = (cluster_bootstrap(passed, items, seed=7, draws=400) for _ in range(2))
    assert first == second
    assert 0 <= first[0] <= first[1] <= 1


def test_interval_shrinks_as_tasks_are_added() -> None:
    widths = []
    for copies in (1, 2, 4, 8):
        interval = completion_interval(np.tile(EXAMPLE_PASSED, copies), np.tile(EXAMPLE_ITEMS, copies))
        widths.append(interval.upper - interval.lower)
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == len(widths)


def test_p35_runs_of_a_task_are_no_independent_trials() -> None:
    lower, upper = wilson(EXAMPLE_PASSED.sum() / EXAMPLE_ITEMS.sum(), float(EXAMPLE_ITEMS.sum()))
    for method in ("wilson_effective", "cluster_bootstrap"):
        interval = completion_interval(EXAMPLE_PASSED, EXAMPLE_ITEMS, method=method)
        assert interval.upper - interval.lower > upper - lower


@each_row(
    ("items", "passed", "k", "at", "hat"),
    [
        (5, 2, 1, 0.4, 0.4),
        (5, 2, 2, 0.7, 0.1),
        (5, 2, 3, 0.9, 0.0),
        (3, 2, 3, 1.0, 0.0),
        (10, 3, 5, 0.9167, 0.0),
        (3, 0, 2, 0.0, 0.0),
        (3, 3, 2, 1.0, 1.0),
        (2, 2, 3, None, None),
    ],
)
def test_p33_pass_at_k_and_pass_hat_k_are_unbiased(items: int, passed: int, k: int, at: float | None, hat: float | None) -> None:
    assert pass_at_k(items, passed, k) == (None if at is None else pytest.approx(at, abs=5e-5))
    assert pass_hat_k(items, passed, k) == (None if hat is None else pytest.approx(hat, abs=5e-5))


@each_row(
    ("k", "at", "hat"),
    [(1, 0.6667, 0.6667), (2, 0.8056, 0.5278), (3, 0.8333, 0.4167), (4, 0.8333, 0.3333), (5, None, None)],
)
def test_mean_over_the_tasks_of_the_example(k: int, at: float | None, hat: float | None) -> None:
    assert mean_over_tasks(pass_at_k, EXAMPLE_PASSED, EXAMPLE_ITEMS, k) == (None if at is None else pytest.approx(at, abs=5e-5))
    assert mean_over_tasks(pass_hat_k, EXAMPLE_PASSED, EXAMPLE_ITEMS, k) == (
        None if hat is None else pytest.approx(hat, abs=5e-5)
    )


def test_one_task_with_fewer_runs_than_k_leaves_the_mean_unknown() -> None:
    assert mean_over_tasks(pass_at_k, np.array([3, 1]), np.array([3, 1]), 2) is None
    assert mean_over_tasks(pass_at_k, np.array([], dtype=int), np.array([], dtype=int), 1) is None


@given(tasks, st.integers(1, 3))
def test_mean_over_tasks_is_the_plain_mean(pairs: list[tuple[int, int]], k: int) -> None:
    passed, items = arrays(pairs)
    each = [pass_at_k(int(n), int(c), k) for c, n in pairs]
    expected = None if None in each else pytest.approx(np.mean([value for value in each if value is not None]), abs=1e-12)
    assert mean_over_tasks(pass_at_k, passed, items, k) == expected


@each_row(("percent", "value"), [(50, 99.0), (95, 3000.0), (99, 3000.0), (7, 80.0)])
def test_nearest_rank_of_the_example(percent: int, value: float) -> None:
    assert nearest_rank([80, 88, 92, 95, 99, 101, 120, 150, 400, 3000], percent) == value


def test_nearest_rank_counts_in_whole_numbers() -> None:
    assert nearest_rank(range(1, 101), 7) == 7
    assert nearest_rank([], 95) is None
    assert nearest_rank([3.0], 50) == 3.0


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=150), st.sampled_from([50, 90, 95, 99]))
def test_nearest_rank_agrees_with_numpy(values: list[float], percent: int) -> None:
    assert nearest_rank(sorted(values), percent) == np.percentile(values, percent, method="inverted_cdf")


def test_nearest_rank_agrees_with_duckdb() -> None:
    import duckdb

    for count in (1, 2, 19, 20, 21, 99, 100, 101, 1000):
        rows = duckdb.execute(f"select quantile_disc(i, [0.5, 0.95, 0.99]) from range(1, {count + 1}) t(i)").fetchall()
        assert rows == [([nearest_rank(range(1, count + 1), percent) for percent in (50, 95, 99)],)]


@each_row(
    ("completion", "errors", "p95", "expected"),
    [
        pytest.param(0.8, 0.05, 1200.0, 0.837, id="as-published"),
        pytest.param(0.0, 0.0, 0.0, 0.5, id="always-wrong-and-fast"),
        pytest.param(1.0, 0.0, 9000.0, 0.8, id="slower-than-the-limit"),
        pytest.param(1.0, 0.0, None, 0.8, id="unknown-latency-earns-nothing"),
    ],
)
def test_p31_p39_composite_as_published(completion: float, errors: float, p95: float | None, expected: float) -> None:
    assert composite_score(completion, errors, p95, 5_000) == pytest.approx(expected)
