"""Made-up runs of skills whose true chances are known, for the simulations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from eval_skills.core.diff.tasks import TaskPairs
from eval_skills.core.models import TaskResult

Chances = npt.NDArray[np.float64]


def mostly_good(random: np.random.Generator, tasks: int) -> Chances:
    """Chances to pass around 0.8, some tasks flaky: Beta(8, 2)."""
    return random.beta(8, 2, tasks)


def side(random: np.random.Generator, chances: Chances, runs: int, *, lost: float = 0.0) -> list[list[TaskResult]]:
    """The runs of every task, of which the share `lost` ended without a verdict, whatever they would have been."""
    passed, gone = random.random((len(chances), runs)) < chances[:, None], random.random((len(chances), runs)) < lost
    return [
        [_item(task, run, bool(passed[task, run]), bool(gone[task, run])) for run in range(runs)] for task in range(len(chances))
    ]


def pairs(before: list[list[TaskResult]], after: list[list[TaskResult]]) -> TaskPairs:
    """Both sides of the same tasks."""
    names = [runs[0].task_id for runs in before]
    return TaskPairs(tasks=names, before=before, after=after, only_before=[], only_after=[], changed=[])


@dataclass(frozen=True, slots=True)
class Share:
    """How often something happened in `draws` simulations."""

    hits: int
    draws: int

    @property
    def value(self) -> float:
        """In [0, 1]."""
        return self.hits / self.draws

    @property
    def error(self) -> float:
        """The Monte-Carlo standard error, √(p·(1 − p)/draws)."""
        return math.sqrt(self.value * (1 - self.value) / self.draws)

    def __str__(self) -> str:
        return f"{self.value:.1%} ± {self.error:.1%}"


@cache  # a hundred simulations hold the same few hundred items
def _item(task: int, run: int, passed: bool, lost: bool) -> TaskResult:
    if lost:
        return TaskResult(task_id=f"t{task}", run_index=run, status="error", passed=False, error_kind="infra")
    return TaskResult(task_id=f"t{task}", run_index=run, status="pass" if passed else "fail", passed=passed)
