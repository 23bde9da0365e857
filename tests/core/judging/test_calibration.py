"""A judge held against labels."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from eval_skills.core.judging.calibration import Calibration, LabelledItem, calibrate


def of(*groups: tuple[int, float, float], **more: Any) -> Calibration:
    """`groups` are (how many, label, judge's score); from 0.7 on both pass."""
    pairs = [(human, judge) for count, human, judge in groups for _ in range(count)]
    items = [LabelledItem(f"t{n}", human, human >= 0.7, judge, judge >= 0.7) for n, (human, judge) in enumerate(pairs)]
    given: dict[str, Any] = {"benchmark_id": "b", "benchmark_version": "1.0.0", "model": "m", "prompt": "p 1"}
    return calibrate(items, at=datetime(2026, 11, 22, tzinfo=UTC), **given, **more)


@pytest.mark.slow
def test_the_worked_example() -> None:
    found = of((45, 1, 1), (5, 1, 0), (10, 0, 1), (40, 0, 0))
    assert found.table == [[40, 10], [5, 45]]
    assert (found.accuracy.value, found.kappa.value) == pytest.approx((0.85, 0.7))
    assert (found.sensitivity.value, found.specificity.value) == (0.9, 0.8)
    assert (found.positive_size, found.negative_size, found.labels, found.tasks) == (50, 50, 100, 100)
    assert found.kappa.lower is not None
    assert 0.5 < found.kappa.lower < 0.7 < (found.kappa.upper or 0) < 0.9
    assert (found.sensitivity.lower, found.sensitivity.upper) == pytest.approx((0.7864, 0.9651), abs=1e-4)
    assert found.uncorrectable is None
    assert (found.human_pass_rate, found.judge_pass_rate) == (0.5, 0.55)


@pytest.mark.slow
def test_levels_take_part_in_the_weighted_kappa_and_the_correlation() -> None:
    found = of((10, 0, 0), (2, 0, 0.5), (3, 0.5, 0), (10, 0.5, 0.6), (2, 0.5, 1), (1, 1, 0.5), (12, 1, 0.9))
    assert found.weighted_kappa.value == pytest.approx(0.846, abs=5e-4)
    assert (found.spearman.value or 0) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "why"),
    [
        pytest.param([(5, 1, 1)], "no label says fail", id="only-passes"),
        pytest.param([(5, 0, 1)], "no label says pass", id="only-fails"),
        pytest.param([(5, 1, 1), (5, 1, 0), (5, 0, 1), (5, 0, 0)], "no better than chance", id="a-coin"),
        pytest.param([(7, 1, 1), (3, 1, 0), (4, 0, 1), (6, 0, 0)], "may be as low as 0.8", id="maybe-a-coin"),
    ],
)
def test_what_cannot_correct_says_why(groups: list[tuple[int, float, float]], why: str) -> None:
    assert why in (of(*groups).uncorrectable or "")


def test_what_is_not_defined_is_none_and_no_zero() -> None:
    found = of((4, 1, 1))
    assert (found.specificity.value, found.kappa.value, found.weighted_kappa.value, found.spearman.value) == (None,) * 4
    assert (found.accuracy.value, found.negative_size) == (1.0, 0.0)


@pytest.mark.slow
def test_the_order_of_the_labels_changes_nothing() -> None:
    groups = [(9, 1.0, 1.0), (3, 1.0, 0.2), (4, 0.0, 0.8), (9, 0.0, 0.1)]
    pairs = [(human, judge) for count, human, judge in groups for _ in range(count)]
    items = [LabelledItem(f"t{n % 7}", human, human >= 0.7, judge, judge >= 0.7) for n, (human, judge) in enumerate(pairs)]
    given: dict[str, Any] = {"benchmark_id": "b", "benchmark_version": "1.0.0", "model": "m", "prompt": "p"}
    at = datetime(2026, 11, 22, tzinfo=UTC)
    assert calibrate(items, at=at, **given) == calibrate(items[::-1], at=at, **given)
