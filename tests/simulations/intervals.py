"""The intervals of a completion rate: how often they hold it, and how wide they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from eval_skills.core.statistics.rates import DEFAULT_SEED, completion_interval
from tests.simulations.draws import Chances, Share

TASKS, RUNS = (8, 20, 50, 200), (1, 3, 10)
CHANCES: dict[str, tuple[float, Callable[[np.random.Generator, int], Chances]]] = {
    "all 0.98": (0.98, lambda random, tasks: np.full(tasks, 0.98)),
    "uniform": (0.5, lambda random, tasks: random.random(tasks)),
    "70 % at 0.95, 30 % at 0.1": (0.695, lambda random, tasks: np.where(random.random(tasks) < 0.7, 0.95, 0.1)),
}
"""The true completion rate, and the chances to pass of so many tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How often the interval held the rate by number of runs; its mean width with one run, and that of Clopper and Pearson's."""

    chances: str
    tasks: int
    held: dict[int, Share]
    width: float
    exact_width: float


def simulate(
    draws: int, *, chances: tuple[str, ...] = tuple(CHANCES), tasks: tuple[int, ...] = TASKS, seed: int = DEFAULT_SEED
) -> list[Row]:
    """By chances and number of tasks."""
    settings = [(name, size) for name in chances for size in tasks]
    return [_row(name, size, draws, np.random.default_rng([seed, index])) for index, (name, size) in enumerate(settings)]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    head = ["chances", "tasks", *(f"{runs} run{'s' if runs > 1 else ''}: held" for runs in RUNS), "1 run: width", "exact width"]
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    for row in rows:
        held = " | ".join(str(row.held[runs]) for runs in RUNS)
        lines.append(f"| {row.chances} | {row.tasks} | {held} | {row.width:.3f} | {row.exact_width:.3f} |")
    return "\n".join(lines)


def _row(name: str, tasks: int, draws: int, random: np.random.Generator) -> Row:
    truth, draw = CHANCES[name]
    hits, width, exact_width = dict.fromkeys(RUNS, 0), 0.0, 0.0
    exact_width_of = cache(lambda passed: _exact_width(passed, tasks))
    for _ in range(draws):
        for runs in RUNS:
            passed = random.binomial(runs, draw(random, tasks))
            found = completion_interval(passed, np.full(tasks, runs))
            hits[runs] += found.lower <= truth <= found.upper
            if runs == 1:
                width += found.upper - found.lower
                exact_width += exact_width_of(int(passed.sum()))
    held = {runs: Share(count, draws) for runs, count in hits.items()}
    return Row(chances=name, tasks=tasks, held=held, width=width / draws, exact_width=exact_width / draws)


def _exact_width(passed: int, tasks: int) -> float:
    from scipy import stats  # two seconds

    exact = stats.binomtest(passed, tasks).proportion_ci()
    return float(exact.high - exact.low)
