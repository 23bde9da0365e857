"""The completion rate without the judge's known mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from eval_skills.core.judging.correction import JudgedItems, Share, corrected_completion, trials
from eval_skills.core.statistics.rates import IntArray

GOOD = (Share(45 / 50, 50), Share(40 / 50, 50))


def ones(count: int) -> IntArray:
    return np.ones(count, dtype=np.int64)


def verdicts(passed: int, count: int) -> IntArray:
    return np.array([1] * passed + [0] * (count - passed), dtype=np.int64)


def test_the_worked_example() -> None:
    passed, items = verdicts(280, 400), ones(400)
    found = corrected_completion([JudgedItems(passed, items, *GOOD)], passed, items)
    assert found is not None
    assert (found.value, found.lower, found.upper) == pytest.approx((0.714, 0.599, 0.830), abs=1.5e-3)
    assert found.method == "rogan_gladen"


@pytest.mark.parametrize(
    ("sensitivity", "specificity"), [pytest.param(0.5, 0.5, id="a-coin"), pytest.param(0.3, 0.6, id="worse-than-a-coin")]
)
def test_a_judge_no_better_than_chance_corrects_nothing(sensitivity: float, specificity: float) -> None:
    judged = JudgedItems(verdicts(5, 10), ones(10), Share(sensitivity, 50), Share(specificity, 50))
    assert corrected_completion([judged], verdicts(5, 10), ones(10)) is None


def test_items_that_no_model_judged_stay_as_they_are() -> None:
    """Half of the tasks is judged by a model, the other half by exact comparison: only the first half moves."""
    passed, items = np.concatenate([verdicts(70, 100), verdicts(40, 100)]), ones(200)
    own = np.repeat([1, 0], 100)
    found = corrected_completion([JudgedItems(passed * own, items * own, *GOOD)], passed, items)
    whole = corrected_completion([JudgedItems(passed[:100], items[:100], *GOOD)], passed[:100], items[:100])
    assert found is not None
    assert whole is not None
    assert found.value == pytest.approx(((whole.value or 0) * 100 + 40) / 200)


def test_two_judges_are_corrected_each_by_its_own_mistakes() -> None:
    passed, items = np.concatenate([verdicts(60, 100), verdicts(60, 100)]), ones(200)
    first, second = np.repeat([1, 0], 100), np.repeat([0, 1], 100)
    perfect = (Share(1.0, 500), Share(1.0, 500))
    judged = [JudgedItems(passed * first, items * first, *GOOD), JudgedItems(passed * second, items * second, *perfect)]
    found = corrected_completion(judged, passed, items)
    assert found is not None
    assert found.value == pytest.approx((100 * (0.6 - 0.2) / 0.7 + 60) / 200)


def test_a_perfect_judge_changes_nothing_and_is_never_certain() -> None:
    passed, items = verdicts(20, 20), ones(20)
    found = corrected_completion([JudgedItems(passed, items, Share(1.0, 30), Share(1.0, 30))], passed, items)
    assert found is not None
    assert found.value == found.upper == 1.0
    assert found.lower is not None
    assert 0.7 < found.lower < 0.97, "20 passes of 20 and labels without a mistake are no proof"


@pytest.mark.parametrize(
    ("passed", "items"), [pytest.param([1], [1], id="one-task"), pytest.param([0, 1], [0, 0], id="nothing-judged")]
)
def test_what_cannot_be_said_is_none(passed: list[int], items: list[int]) -> None:
    judged = JudgedItems(np.array(passed) * np.array(items), np.array(items), *GOOD)
    assert corrected_completion([judged], np.array(passed), np.maximum(1, np.array(items))) is None


def test_it_is_clipped_to_rates() -> None:
    passed, items = verdicts(5, 100), ones(100)
    found = corrected_completion([JudgedItems(passed, items, *GOOD)], passed, items)
    assert found is not None
    assert (found.value, found.lower) == (0.0, 0.0), "5 % passed where 20 % would pass by mistake alone"


def test_runs_of_a_task_are_a_cluster() -> None:
    by_run = corrected_completion([JudgedItems(verdicts(28, 40), ones(40), *GOOD)], verdicts(28, 40), ones(40))
    four = 4 * ones(10)
    passed = np.array([4] * 7 + [0] * 3)
    by_task = corrected_completion([JudgedItems(passed, four, *GOOD)], passed, four)
    assert by_run is not None
    assert by_task is not None
    assert by_run.value == pytest.approx(by_task.value)
    assert (by_task.lower or 0) < (by_run.lower or 0), "four equal runs of ten tasks are not forty tasks"
    assert (trials(verdicts(28, 40), ones(40)), trials(passed, four) < 10) == (40.0, True)


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [20, 100, 400])
def test_the_interval_holds_its_level(tasks: int) -> None:
    random, sensitivity, specificity, rate = np.random.default_rng(3), 0.9, 0.8, 0.7
    held = 0
    for _ in range(1_000):
        shares = Share(random.binomial(50, sensitivity) / 50, 50), Share(random.binomial(50, specificity) / 50, 50)
        truth = random.random(tasks) < rate
        seen = np.where(truth, random.random(tasks) < sensitivity, random.random(tasks) >= specificity).astype(np.int64)
        found = corrected_completion([JudgedItems(seen, ones(tasks), *shares)], seen, ones(tasks))
        held += found is not None and (found.lower or 0) <= rate <= (found.upper or 0)
    assert held >= 930
