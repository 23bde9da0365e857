"""What a flaky task could do by chance, and when it is too much."""

from __future__ import annotations

import pytest

from eval_skills.core.metrics.tasks import Tally
from eval_skills.core.nightly.evidence import FALSE_ALARM_CHANCE, newly_failing
from eval_skills.core.statistics.newly_failing import chance_of_a_flaky_task, chance_of_flaky_tasks
from tests.tables import each_row


@each_row(
    ("passed", "failed", "chance"),
    [
        pytest.param(1, 1, 0.25, id="a-coin"),
        pytest.param(1, 6, 6**6 / 7**7, id="one-pass-six-misses"),
        pytest.param(3, 8, 27 * 8**8 / 11**11, id="three-runs-a-night"),
        pytest.param(10, 6, 10**10 * 6**6 / 16**16, id="ten-nights"),
        pytest.param(0, 5, 1.0, id="never-passed"),
        pytest.param(5, 0, 1.0, id="never-failed"),
        pytest.param(100_000, 100_000, 0.0, id="no-overflow"),
    ],
)
def test_the_chance_of_a_flaky_task(passed: int, failed: int, chance: float) -> None:
    assert chance_of_a_flaky_task(passed, failed) == pytest.approx(chance, abs=1e-15)


@pytest.mark.parametrize(("passed", "failed"), [(1, 7), (3, 9), (7, 2)])
def test_no_flakiness_gives_more(passed: int, failed: int) -> None:
    highest = max((step / 1000) ** passed * (1 - step / 1000) ** failed for step in range(1001))
    assert highest - 1e-12 <= chance_of_a_flaky_task(passed, failed) <= highest * 1.001


def test_six_fresh_runs_decide_about_one_task_the_second_night() -> None:
    assert chance_of_flaky_tasks([(1, 1 + 5)], 0) > FALSE_ALARM_CHANCE >= chance_of_flaky_tasks([(1, 1 + 6)], 0)


@each_row(
    ("counts", "flaky", "chance"),
    [
        pytest.param([(1, 1)], 0, 0.25, id="one"),
        pytest.param([(1, 1)], 3, 1.0, id="any-of-four-could-be-it"),
        pytest.param([(1, 7)], 3, 4 * 7**7 / 8**8, id="four-choices"),
        pytest.param([(1, 7), (1, 7)], 3, 10 * (7**7 / 8**8) ** 2, id="ten-pairs"),
        pytest.param([], 3, 1.0, id="none"),
    ],
)
def test_several_tasks_must_all_be_flaky(counts: list[tuple[int, int]], flaky: int, chance: float) -> None:
    assert chance_of_flaky_tasks(counts, flaky) == pytest.approx(chance)


def test_newly_failing_is_what_always_passed_and_never_does_now() -> None:
    before = {"broken": Tally(passed=3), "shaky": Tally(passed=2, failed=1), "fine": Tally(passed=3), "hard": Tally(failed=3)}
    after = {
        "broken": Tally(failed=3), "shaky": Tally(failed=3), "fine": Tally(passed=1, failed=2), "hard": Tally(failed=3),
        "new": Tally(failed=3), "unjudged": Tally(),
    }  # fmt: skip
    assert newly_failing(before | {"unjudged": Tally(passed=1)}, after) == ["broken"]
