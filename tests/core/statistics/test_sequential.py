"""Boundaries of repeated looks, beside published ones and by drawing."""

from __future__ import annotations

import numpy as np
import pytest

from eval_skills.core.statistics.rates import normal_quantile
from eval_skills.core.statistics.sequential import information, look_levels
from tests.tables import each_row


@pytest.mark.parametrize(
    ("looks", "published"),
    [
        # equally spaced looks, spending like O'Brien & Fleming, two-sided 0.05: in many tables, among them those of
        # Reboussin, DeMets, Kim & Lan 2000, doi:10.1016/S0197-2456(00)00057-X
        (2, [2.9626, 1.9686]),
        (5, [4.8769, 3.3569, 2.6803, 2.2898, 2.0310]),
    ],
)
def test_the_boundaries_are_the_published_ones(looks: int, published: list[float]) -> None:
    levels = look_levels([(look + 1) / looks for look in range(looks)])
    assert [normal_quantile(1 - level / 2) for level in levels] == pytest.approx(published, abs=2e-4)


def test_one_look_has_the_whole_level() -> None:
    assert look_levels([1.0]) == [pytest.approx(0.05)]


@pytest.mark.slow
def test_all_looks_together_are_wrong_as_often_as_one() -> None:
    fractions = [information(runs, 10, 3) for runs in range(1, 11)]
    bounds = [normal_quantile(1 - level / 2) for level in look_levels(fractions)]
    steps = np.diff([0.0, *fractions])
    sums = np.random.default_rng(1).normal(size=(40_000, 10)) * np.sqrt(steps)
    crossed = (np.abs(sums.cumsum(axis=1)) / np.sqrt(fractions) >= bounds).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 40_000))


@each_row("fractions", [[], [0.5], [0.5, 0.5, 1.0], [0.0, 1.0], [1.0, 0.5], [0.5, 1.0, 1.2]])
def test_fractions_that_do_not_rise_to_one_are_refused(fractions: list[float]) -> None:
    with pytest.raises(ValueError, match="must rise"):
        look_levels(fractions)


def test_more_runs_hold_more_information() -> None:
    shares = [information(runs, 10, 3) for runs in range(1, 11)]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert shares[0] == pytest.approx((1 / 3 + 1 / 10) / (1 / 3 + 1))
