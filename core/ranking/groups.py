"""Which skills the tasks cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval_skills.core.ranking.outcomes import Outcomes
from eval_skills.core.statistics.paired import holm, p_floor, sign_flip_tests
from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray

SIGNIFICANCE = 0.05
_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Groups:
    """`members`: the skills of each group, best first, as rows of the outcomes. `p_values`: each skill's against the best one,
    adjusted; 1 for the best itself.
    """

    members: list[list[int]]
    p_values: list[float]


def tied_groups(outcomes: Outcomes, *, significance: float = SIGNIFICANCE, seed: int = DEFAULT_SEED) -> Groups:
    """The groups of skills that share their ranks, of skills that are given best first.

    Every skill is compared with the best one by the paired sign-flip test, Holm over the comparisons; those that are not
    separated from it form the first group. The best of the others leads the next group in the same way, and so on. With missing
    items a skill is separated only if the difference also holds with its own as passed and those of the best as failed.
    A comparison in which too few tasks differ to separate anything is none: it does not make the others harder.
    Sources: Holm 1979; Tarone 1990, "A modified Bonferroni method for discrete data", doi:10.2307/2531456.

    A skill may be in an earlier group than one that completed more: if it has missing items, or differs from the best from task
    to task so much that the same gap proves less.
    """
    ahead = list(range(len(outcomes.skills)))
    first = _adjusted(outcomes, ahead, significance, seed)
    members, p_values = [], [1.0, *first]
    adjusted = first
    while ahead:
        separated = [skill for skill, p_value in zip(ahead[1:], adjusted, strict=True) if p_value <= significance]
        members.append([skill for skill in ahead if skill not in set(separated)])
        ahead = separated
        adjusted = _adjusted(outcomes, ahead, significance, seed) if ahead else []
    return Groups(members, p_values)


def _adjusted(outcomes: Outcomes, skills: Sequence[int], significance: float, seed: int) -> list[float]:
    """The adjusted p of every skill but the first against the first."""
    best, others = outcomes[skills[:1]], outcomes[skills[1:]]
    differences = np.nan_to_num(others.rates() - best.rates())
    p_values = _p_below(differences, seed)
    open_ = (others.missing.sum(axis=1) + best.missing.sum()) > 0
    if open_.any():
        bound = np.nan_to_num(others.rates(missing=1.0) - best.rates(missing=0.0))[open_]
        p_values[open_] = np.maximum(p_values[open_], _p_below(bound, seed))
    differing = (np.abs(differences) > _SAME).sum(axis=1).tolist()
    can_separate = np.array([p_floor(count) <= significance for count in differing], dtype=bool)
    p_values[can_separate] = holm(p_values[can_separate].tolist())
    return [float(p_value) for p_value in p_values]


def _p_below(differences: FloatArray, seed: int) -> FloatArray:
    """The two-sided p of every row of differences, 0 where a task was not asked; 1 where the mean is not below 0."""
    return np.where(differences.sum(axis=1) < -_SAME, sign_flip_tests(differences, seed=seed), 1.0)
