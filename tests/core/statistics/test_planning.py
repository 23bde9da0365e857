"""Power before the run: what the simulated comparisons are made of, and what they find."""

from __future__ import annotations

import numpy as np
import pytest

from eval_skills.core.statistics.paired import smallest_effect
from eval_skills.core.statistics.planning import Counts, TaskChances, gate_rate, power

TYPICAL = TaskChances(rate=0.8, flakiness=0.1)


def counts(chances: TaskChances, tasks: int, runs: int, seed: int = 1) -> Counts:
    random = np.random.default_rng(seed)
    return Counts(random.binomial(runs, random.beta(*chances.shape, tasks)), np.full(tasks, runs))


def test_rate_and_flakiness_are_found_again_in_runs_drawn_from_them() -> None:
    found = counts(TYPICAL, 4000, 3).chances()
    assert (found.rate, found.flakiness) == pytest.approx((0.8, 0.1), abs=0.02)


def test_a_run_without_a_failure_is_not_certainty() -> None:
    found = Counts(np.full(20, 3), np.full(20, 3)).chances()
    assert 0.98 < found.rate < 1
    assert found.flakiness > 0


def test_one_run_of_each_task_tells_no_flakiness() -> None:
    assert Counts(np.array([1, 1, 0, 1]), np.ones(4, dtype=np.int64)).chances(flakiness=0.2).flakiness == 0.2


def test_the_smallest_effect_has_the_power_that_it_promises() -> None:
    effect = smallest_effect(TYPICAL.spread(3), 50)
    assert effect is not None
    assert power(TYPICAL, 50, 3, effect) == pytest.approx(0.81, abs=0.06)  # three standard errors of 400 draws


@pytest.mark.slow
def test_more_tasks_more_runs_and_fewer_skills_find_more() -> None:
    base = power(TYPICAL, 20, 3, 0.1)
    assert power(TYPICAL, 50, 3, 0.1) > base + 0.1
    assert power(TYPICAL, 20, 10, 0.1) > base + 0.1
    assert power(TYPICAL, 20, 3, 0.1, skills=5) < base - 0.1


@pytest.mark.slow
def test_a_gate_is_rarely_wrong_and_finds_large_losses() -> None:
    skills = [counts(TYPICAL, 50, 3, seed) for seed in (1, 2, 3)]
    rates = [gate_rate(skills, effect, flakiness=0.1, draws=200) for effect in (0.0, 0.05, 0.20)]
    assert rates[0] <= 0.05 + 3 * 0.016
    assert rates[0] < rates[1] < rates[2]
    assert rates[2] > 0.9
