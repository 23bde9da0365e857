from __future__ import annotations

from itertools import product
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_skills.core.statistics import runs as module
from eval_skills.core.statistics.rates import IntArray
from eval_skills.core.statistics.runs import fewer_passes_p

Side = tuple[IntArray, IntArray]


def side(passed: list[int], runs: list[int]) -> Side:
    return np.array(passed, dtype=np.int64), np.array(runs, dtype=np.int64)


@pytest.mark.parametrize(("before", "after"), [((10, 10), (1, 10)), ((3, 3), (0, 3)), ((5, 8), (2, 40)), ((0, 5), (4, 6))])
def test_one_task_is_fishers_exact_test(stats: ModuleType, before: tuple[int, int], after: tuple[int, int]) -> None:
    (b, m), (a, n) = before, after
    expected = stats.fisher_exact([[a, n - a], [b, m - b]], alternative="less").pvalue
    assert fewer_passes_p(side([b], [m]), side([a], [n])) == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=3))
def test_it_is_the_share_of_all_ways_to_deal_the_passes(tasks: list[tuple[int, int]]) -> None:
    """Three runs before and two after of each task: every way to choose which two of the five came after is as likely."""
    found = fewer_passes_p(side([b for b, _ in tasks], [3] * len(tasks)), side([a for _, a in tasks], [2] * len(tasks)))
    dealt = [[i < b + a for i in range(5)] for b, a in tasks]
    pairs = [(i, j) for i in range(5) for j in range(i)]
    sums = [
        sum(deal[i] + deal[j] for deal, (i, j) in zip(dealt, ways, strict=True)) for ways in product(pairs, repeat=len(tasks))
    ]
    assert found == pytest.approx(np.mean([each <= sum(a for _, a in tasks) for each in sums]))


def test_what_never_changes_says_nothing() -> None:
    beside_others = side([3, 0, 2], [3, 3, 3]), side([3, 0, 0], [3, 3, 3])
    assert fewer_passes_p(*beside_others) == fewer_passes_p(side([2], [3]), side([0], [3]))
    assert fewer_passes_p(side([2], [3]), side([0], [0])) == fewer_passes_p(side([3], [3]), side([4], [4])) == 1.0
    assert fewer_passes_p(side([], []), side([], [])) == 1.0


def test_a_large_sample_is_nearly_normal(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    chances, counts = random.beta(8, 2, 200), np.full(200, 3)
    sides = [(random.binomial(counts, chances * kept), counts) for kept in (1.0, 0.93)]
    exact = fewer_passes_p(*sides)
    monkeypatch.setattr(module, "EXACT_RUNS", 0)
    assert 0.0001 < exact < 0.2
    assert fewer_passes_p(*sides) == pytest.approx(exact, rel=0.05)
