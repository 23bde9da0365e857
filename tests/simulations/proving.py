"""Proving that not more than a margin was lost: how often that is wrong, and how often true and found; by t alone and as done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eval_skills.core.diff.diff import SIGNIFICANCE
from eval_skills.core.diff.gate import NON_INFERIORITY_MARGIN
from eval_skills.core.statistics.paired import MeanDifference, mean_difference, proving_interval
from eval_skills.core.statistics.rates import DEFAULT_SEED
from tests.simulations.draws import Chances, Share, mostly_good

Kind = Literal["tasks break", "tasks break, a tenth is flaky", "all a little worse"]
MARGIN, LESS, RUNS = NON_INFERIORITY_MARGIN, 0.01, 3
"""What may be lost, what is lost where the proof is right, and the runs of each task."""

SETTINGS: tuple[tuple[Kind, int], ...] = tuple(
    (kind, tasks)
    for kind in ("tasks break", "tasks break, a tenth is flaky", "all a little worse")
    for tasks in (60, 100, 300, 1000)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How often no more than the margin is proven to be lost: where just the margin is (`false`), and where less is (`found`)."""

    kind: Kind
    tasks: int
    t_false: Share
    false: Share
    t_found: Share
    found: Share


def simulate(draws: int, *, settings: tuple[tuple[Kind, int], ...] = SETTINGS, seed: int = DEFAULT_SEED) -> list[Row]:
    """By setting: what happens to the tasks, and how many there are."""
    return [_row(*setting, draws, np.random.default_rng([seed, index])) for index, setting in enumerate(settings)]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    lines = [
        "| what happens | tasks × runs | lost 3 points, by t alone | as it is done | lost 1 point, by t alone | as it is done |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        shares = f"{row.t_false} | {row.false} | {row.t_found} | {row.found}"
        lines.append(f"| {row.kind} | {row.tasks} × {RUNS} | {shares} |")
    return "\n".join(lines)


def _row(kind: Kind, tasks: int, draws: int, random: np.random.Generator) -> Row:
    by_t, proven = np.zeros(2, dtype=int), np.zeros(2, dtype=int)
    for _ in range(draws):
        for place, loss in enumerate((MARGIN, LESS)):
            before, after = _chances(kind, tasks, loss, random)
            differences = (random.binomial(RUNS, after) - random.binomial(RUNS, before)) / RUNS
            by_t[place] += _is_proven(mean_difference(differences, level=1 - 2 * SIGNIFICANCE))
            proven[place] += _is_proven(proving_interval(differences, level=1 - 2 * SIGNIFICANCE))
    shares = [Share(int(hits), draws) for hits in (*by_t, *proven)]
    return Row(kind=kind, tasks=tasks, t_false=shares[0], t_found=shares[1], false=shares[2], found=shares[3])


def _is_proven(interval: MeanDifference) -> bool:
    return interval.lower > -MARGIN


def _chances(kind: Kind, tasks: int, loss: float, random: np.random.Generator) -> tuple[Chances, Chances]:
    """The chances to pass before and after; the mean of what is lost is `loss`."""
    if kind == "all a little worse":
        before = mostly_good(random, tasks)
        return before, before * (1 - loss / 0.8)  # 0.8 is the mean of Beta(8, 2)
    flaky = 0.1 if kind == "tasks break, a tenth is flaky" else 0.0
    before = np.where(random.random(tasks) < flaky, 0.7, 1.0)
    stays = random.random(tasks) >= loss / (1 - 0.3 * flaky)
    return before, before * stays
