"""The smallest effect that a comparison says it could show: how often an effect of that size is then found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eval_skills.core.diff.diff import SIGNIFICANCE
from eval_skills.core.statistics.paired import Spread, sign_flip_test, smallest_effect
from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray
from tests.simulations.draws import Share, mostly_good

SETTINGS = tuple((tasks, runs, skills) for tasks in (20, 50, 100) for runs in (1, 3, 10) for skills in (1, 3))
"""Tasks, runs, and how many skills are compared at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The mean of the effects that samples said they could show, and how often such an effect was found in new ones."""

    tasks: int
    runs: int
    skills: int
    effect: float
    found: Share


def simulate(draws: int, *, settings: tuple[tuple[int, int, int], ...] = SETTINGS, seed: int = DEFAULT_SEED) -> list[Row]:
    """By setting: an unchanged skill is compared with itself; then one that lost as much as that comparison could show.

    Every task loses the same; where there are several skills, the one that changed must reach the first step of Holm's procedure.
    """
    return [_row(*setting, draws, np.random.default_rng([seed, index])) for index, setting in enumerate(settings)]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    lines = ["| tasks × runs | skills | smallest effect, mean | found |", "|--:|--:|--:|--:|"]
    return "\n".join(lines + [f"| {r.tasks} × {r.runs} | {r.skills} | {100 * r.effect:.1f} points | {r.found} |" for r in rows])


def _row(tasks: int, runs: int, skills: int, draws: int, random: np.random.Generator) -> Row:
    effects: list[float] = []
    hits, level = 0, SIGNIFICANCE / skills
    while len(effects) < draws:
        before, after = _sample(random, tasks, runs, 0.0)
        spread = Spread(deviation=float((after - before).std(ddof=1)), rate=float((before + after).mean() / 2), runs=runs)
        effect = smallest_effect(spread, tasks, significance=level)
        if effect is None or effect > 1:
            continue
        before, after = _sample(random, tasks, runs, effect)
        effects.append(effect)
        hits += sign_flip_test(after - before) <= level and after.mean() < before.mean()
    return Row(tasks=tasks, runs=runs, skills=skills, effect=float(np.mean(effects)), found=Share(hits, draws))


def _sample(random: np.random.Generator, tasks: int, runs: int, loss: float) -> tuple[FloatArray, FloatArray]:
    chances = mostly_good(random, tasks)
    return random.binomial(runs, chances) / runs, random.binomial(runs, np.clip(chances - loss, 0, 1)) / runs
