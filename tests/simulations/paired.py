"""The sign-flip test: how often it finds a change that is none, and a real loss, by mid-p and by the plain p."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eval_skills.core.diff.diff import SIGNIFICANCE
from eval_skills.core.statistics.paired import sign_flip_tail, sign_flip_test
from eval_skills.core.statistics.rates import DEFAULT_SEED
from tests.simulations.draws import Chances, Share, mostly_good

LOSS = 0.20
"""How much a skill that got worse lost, of the chance to pass each task."""

SETTINGS = tuple((flaky, tasks, runs) for flaky in (False, True) for tasks in (5, 8, 10, 20, 50) for runs in (1, 3))
"""Whether every task is a coin flip, the number of tasks, and the runs of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How often p ≤ 0.05 where nothing changed (`false`), and where the skill lost 20 points (`found`); plain p and mid-p."""

    flaky: bool
    tasks: int
    runs: int
    plain_false: Share
    false: Share
    plain_found: Share
    found: Share


def simulate(draws: int, *, settings: tuple[tuple[bool, int, int], ...] = SETTINGS, seed: int = DEFAULT_SEED) -> list[Row]:
    """By setting, with chances to pass from Beta(8, 2), or 0.5 for every task."""
    return [_row(*setting, draws, np.random.default_rng([seed, index])) for index, setting in enumerate(settings)]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    lines = [
        "| chances | tasks × runs | unchanged, plain p ≤ 0.05 | mid-p ≤ 0.05 | lost 20 points, plain p ≤ 0.05 | mid-p ≤ 0.05 |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        chances = "all 0.5" if row.flaky else "Beta(8, 2)"
        shares = f"{row.plain_false} | {row.false} | {row.plain_found} | {row.found}"
        lines.append(f"| {chances} | {row.tasks} × {row.runs} | {shares} |")
    return "\n".join(lines)


def _row(flaky: bool, tasks: int, runs: int, draws: int, random: np.random.Generator) -> Row:
    plain, mid = np.zeros(2, dtype=int), np.zeros(2, dtype=int)
    for _ in range(draws):
        chances = np.full(tasks, 0.5) if flaky else mostly_good(random, tasks)
        for place, loss in enumerate((0.0, LOSS)):
            differences = _side(random, chances - loss, runs) - _side(random, chances, runs)
            plain[place] += sum(sign_flip_tail(differences)) <= SIGNIFICANCE
            mid[place] += sign_flip_test(differences) <= SIGNIFICANCE
    shares = [Share(int(hits), draws) for hits in (*plain, *mid)]
    return Row(
        flaky=flaky, tasks=tasks, runs=runs, plain_false=shares[0], plain_found=shares[1], false=shares[2], found=shares[3]
    )


def _side(random: np.random.Generator, chances: Chances, runs: int) -> Chances:
    return random.binomial(runs, np.clip(chances, 0, 1)) / runs
