"""Adding runs until a comparison is decided: how often that is wrong, what it finds, and how many runs it saves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eval_skills.core.diff.diff import EQUIVALENCE_MARGIN, SIGNIFICANCE
from eval_skills.core.diff.until import levels_of_looks
from eval_skills.core.statistics.paired import proving_interval, sign_flip_test
from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray
from tests.simulations.draws import Chances, Share, mostly_good

MOST_RUNS = 10
LOSSES = (0.0, 0.05, 0.10, 0.20)
SETTINGS = tuple((flaky, tasks, before) for flaky in (False, True) for tasks in (20, 50, 200) for before in (3, 10))
"""Whether every task is a coin flip, the number of tasks, and the runs of each before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Of comparisons of a skill that lost `loss`: how many were called worse or better, and equivalent; the mean number of runs
    they took; and how many one look after all runs calls worse or better."""

    flaky: bool
    tasks: int
    before: int
    loss: float
    decided: Share
    equivalent: Share
    runs: float
    at_once: Share


def simulate(
    draws: int,
    *,
    settings: tuple[tuple[bool, int, int], ...] = SETTINGS,
    losses: tuple[float, ...] = LOSSES,
    seed: int = DEFAULT_SEED,
) -> list[Row]:
    """By setting and loss, with chances to pass from Beta(8, 2), or 0.5 for every task; a look after each of 10 runs."""
    return [
        _row(*setting, loss, draws, np.random.default_rng([seed, index, place]))
        for index, setting in enumerate(settings)
        for place, loss in enumerate(losses)
    ]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    lines = [
        "| chances | tasks | runs before | lost | better or worse | equivalent | runs of 10 | one look after 10: moved |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        chances = "all 0.5" if row.flaky else "Beta(8, 2)"
        shares = f"{row.decided} | {row.equivalent} | {row.runs:.1f} | {row.at_once}"
        lines.append(f"| {chances} | {row.tasks} | {row.before} | {100 * row.loss:.0f} points | {shares} |")
    return "\n".join(lines)


def _row(flaky: bool, tasks: int, before: int, loss: float, draws: int, random: np.random.Generator) -> Row:
    levels = list(levels_of_looks(1, MOST_RUNS, before, 1).values())
    ends, used, at_once = {"moved": 0, "equivalent": 0, "": 0}, 0, 0
    for _ in range(draws):
        chances = np.full(tasks, 0.5) if flaky else mostly_good(random, tasks)
        passed = (random.random((MOST_RUNS, tasks)) < _less(chances, loss)).cumsum(axis=0)
        earlier = random.binomial(before, chances) / before
        looks = [passed[look] / (look + 1) - earlier for look in range(MOST_RUNS)]
        runs, end = _stopped(looks, levels)
        ends[end] += 1
        used += runs
        at_once += sign_flip_test(looks[-1]) <= SIGNIFICANCE
    return Row(
        flaky=flaky,
        tasks=tasks,
        before=before,
        loss=loss,
        decided=Share(ends["moved"], draws),
        equivalent=Share(ends["equivalent"], draws),
        runs=used / draws,
        at_once=Share(at_once, draws),
    )


def _less(chances: Chances, loss: float) -> Chances:
    """Chances whose mean is less by `loss`, each in proportion."""
    return chances * (1 - loss / float(chances.mean()))


def _stopped(looks: list[FloatArray], levels: list[float]) -> tuple[int, str]:
    for runs, (differences, level) in enumerate(zip(looks, levels, strict=True), start=1):
        if sign_flip_test(differences) <= level:
            return runs, "moved"
        interval = proving_interval(differences, level=1 - 2 * level)
        if interval.lower > -EQUIVALENCE_MARGIN and interval.upper < EQUIVALENCE_MARGIN:
            return runs, "equivalent"
    return len(looks), ""
