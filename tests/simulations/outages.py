"""Verdicts where items are lost to outages: how often an unchanged skill is called better or worse, and a real loss is found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from eval_skills.core.diff.diff import EQUIVALENCE_MARGIN, SIGNIFICANCE, judge
from eval_skills.core.statistics.rates import DEFAULT_SEED
from tests.simulations.draws import Share, mostly_good, pairs, side

TASKS, RUNS = 50, 3
LOSS = 0.20
"""How much a skill that got worse lost, of the chance to pass each task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The shares of items lost `before` and `after`; how often an unchanged skill gets a verdict, and a real loss is found."""

    before: float
    after: float
    false: Share
    found: Share


SETTINGS = ((0.0, 0.0), (0.0, 0.1), (0.1, 0.0), (0.0, 0.2), (0.0, 0.4), (0.4, 0.0), (0.2, 0.2))


def simulate(draws: int, *, settings: tuple[tuple[float, float], ...] = SETTINGS, seed: int = DEFAULT_SEED) -> list[Row]:
    """By setting, through the rules that `report diff` applies."""
    return [_row(before, after, draws, np.random.default_rng([seed, index])) for index, (before, after) in enumerate(settings)]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    lines = [
        "| items lost before | items lost after | unchanged, called better or worse | lost 20 points, called worse |",
        "|--:|--:|--:|--:|",
    ]
    return "\n".join(lines + [f"| {row.before:.0%} | {row.after:.0%} | {row.false} | {row.found} |" for row in rows])


def _row(before: float, after: float, draws: int, random: np.random.Generator) -> Row:
    same, worse = (Counter(_verdict(random, before, after, loss) for _ in range(draws)) for loss in (0.0, LOSS))
    false = Share(same["better"] + same["worse"], draws)
    return Row(before=before, after=after, false=false, found=Share(worse["worse"], draws))


def _verdict(random: np.random.Generator, before: float, after: float, loss: float) -> str:
    chances = mostly_good(random, TASKS)
    then = side(random, chances, RUNS, lost=before)
    now = side(random, np.clip(chances - loss, 0, 1), RUNS, lost=after)
    found = pairs(then, now).statistics(margin=EQUIVALENCE_MARGIN, significance=SIGNIFICANCE, seed=DEFAULT_SEED)
    return "inconclusive" if found is None else judge(found, SIGNIFICANCE)[0]
