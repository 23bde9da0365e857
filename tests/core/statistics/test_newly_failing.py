from __future__ import annotations

import numpy as np
import pytest

from eval_skills.core.statistics.newly_failing import newly_failing_tasks
from eval_skills.core.statistics.rates import IntArray


def side(passed: str, runs: str) -> tuple[IntArray, IntArray]:
    return np.array([*map(int, passed)]), np.array([*map(int, runs)])


def test_which_tasks_are_newly_failing() -> None:
    found = newly_failing_tasks(side("33123", "33333"), side("03101", "33312"))
    assert found.tasks == [0]  # the fourth was lost in one run only
    assert found.chance == pytest.approx(4 * 0.5**6)  # it, or one of the three others that flip
    assert found.floor < 1e-6


def test_without_two_runs_nothing_is_newly_failing() -> None:
    assert newly_failing_tasks(side("11", "11"), side("00", "11")) == newly_failing_tasks(side("11", "11"), side("11", "11"))
