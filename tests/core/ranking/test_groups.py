"""Which skills the tasks cannot tell apart."""

from __future__ import annotations

import numpy as np

from eval_skills.core.ranking.outcomes import Outcomes
from eval_skills.core.ranking.ranking import tied_groups


def outcomes(*passed: list[int], runs: int = 1, missing: dict[int, int] | None = None) -> Outcomes:
    """A row of passed runs per skill; `missing`: of a skill, how many of its last tasks have no verdict."""
    counts = np.array(passed, dtype=np.float64)
    gone = np.zeros_like(counts)
    for skill, tasks in (missing or {}).items():
        gone[skill, -tasks:] = runs
    return Outcomes([f"s{row}" for row in range(len(counts))], np.full_like(counts, runs), counts, gone)


ALL, HALF, FEW = [1] * 20, [1, 0] * 10, [1, 0] * 6 + [0] * 8


def test_skills_that_pass_the_same_tasks_are_one_group() -> None:
    groups = tied_groups(outcomes(HALF, HALF, HALF))
    assert groups.members == [[0, 1, 2]]
    assert groups.p_values == [1.0, 1.0, 1.0]


def test_those_that_are_behind_form_the_next_group_among_themselves() -> None:
    one_off = [0, *ALL[1:]]
    groups = tied_groups(outcomes(ALL, one_off, HALF, FEW))
    assert groups.members == [[0, 1], [2, 3]]
    assert groups.p_values[2] == 2.0**-10  # 10 of 10 tasks, two-sided mid-p, the larger of two


def test_every_comparison_counts() -> None:
    five_off = [0] * 5 + [1] * 15
    assert tied_groups(outcomes(ALL, five_off)).members == [[0], [1]]  # p = 0.03125
    assert tied_groups(outcomes(ALL, five_off, five_off)).members == [[0, 1, 2]]


def test_a_comparison_that_could_separate_nothing_does_not_count() -> None:
    six_off = [0] * 6 + [1] * 14
    assert tied_groups(outcomes(ALL, ALL, [0, *ALL[1:]], six_off)).members == [[0, 1, 2], [3]]


def test_what_is_missing_separates_nobody() -> None:
    down = [1] * 10 + [0] * 10
    assert tied_groups(outcomes(ALL, down)).members == [[0], [1]]
    assert tied_groups(outcomes(ALL, down, missing={1: 10})).members == [[0, 1]]


def test_a_skill_is_separated_in_spite_of_missing_items_that_cannot_close_the_gap() -> None:
    assert tied_groups(outcomes(ALL, FEW, missing={1: 3})).members == [[0], [1]]


def test_skills_without_a_common_task_are_not_separated() -> None:
    apart = Outcomes.of(["a"] * 9 + ["b"] * 9, list("123456789abcdefghi"), [True] * 9 + [False] * 9, [False] * 18)
    assert tied_groups(apart).members == [[0, 1]]
