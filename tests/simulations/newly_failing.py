"""Losses that the test over tasks does not see: how often an unchanged skill looks like that, and what a gate finds by them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from eval_skills.core.diff.diff import SIGNIFICANCE
from eval_skills.core.statistics.losses import loss_of, weighed_loss
from eval_skills.core.statistics.paired import sign_flip_test
from eval_skills.core.statistics.rates import DEFAULT_SEED, IntArray
from tests.simulations.draws import Chances, Share

PATTERNS = {"all 0.5": (0.5, 0.5), "steady, one in ten 0.5": (1.0, 0.5), "steady, one in ten 0.9": (1.0, 0.9)}
"""The chance of most tasks, and of every tenth."""

SIZES = ((3, 3), (4, 10), (8, 1), (10, 2), (10, 3), (10, 5), (20, 10), (50, 2), (50, 3), (100, 3))
SETTINGS = tuple((pattern, tasks, runs) for pattern in PATTERNS for tasks, runs in SIZES)
BROKEN, RARELY = 2, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Of an unchanged skill, how often tasks are called newly failing (`newly`), fewer runs are said to pass (`fewer`), a loss is
    said not to be judged (`open`), and the gate fails for any reason (`alarm`).

    Where two of its tasks broke, how often the test over tasks alone (`by_test`) and the gate (`found`) say so; `rarely` is the
    gate where these two pass one run in ten.
    """

    pattern: str
    tasks: int
    runs: int
    newly: Share
    fewer: Share
    open: Share
    alarm: Share
    by_test: Share
    found: Share
    rarely: Share


def simulate(draws: int, *, settings: tuple[tuple[str, int, int], ...] = SETTINGS, seed: int = DEFAULT_SEED) -> list[Row]:
    """By setting, one skill beside itself, and beside itself with two of its tasks broken."""
    return [_row(*setting, draws, np.random.default_rng([seed, index])) for index, setting in enumerate(settings)]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    lines = [
        "| chances | tasks × runs | unchanged, newly failing | fewer pass | not judged | gate fails | two broke, by the test "
        "| gate fails | two pass 1 in 10, gate fails |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    return "\n".join(
        lines
        + [
            f"| {r.pattern} | {r.tasks} × {r.runs} | {r.newly} | {r.fewer} | {r.open} | {r.alarm} | {r.by_test} | {r.found} "
            f"| {r.rarely} |"
            for r in rows
        ]
    )


def _row(pattern: str, tasks: int, runs: int, draws: int, random: np.random.Generator) -> Row:
    usual, tenth = PATTERNS[pattern]
    chances = np.where(np.arange(tasks) % 10 == 0, tenth, usual)
    broken, rarely = (np.where(np.arange(tasks) < tasks - BROKEN, chances, chance) for chance in (0.0, RARELY))
    same, worse, rare = (
        Counter(_gate(random, chances, after, runs) for _ in range(draws)) for after in (chances, broken, rarely)
    )
    return Row(
        pattern=pattern,
        tasks=tasks,
        runs=runs,
        newly=Share(same["newly failing"], draws),
        fewer=Share(same["fewer runs pass"], draws),
        open=Share(same["cannot be told"], draws),
        alarm=Share(draws - same[None], draws),
        by_test=Share(worse["worse"], draws),
        found=Share(draws - worse[None], draws),
        rarely=Share(draws - rare[None], draws),
    )


def _gate(random: np.random.Generator, before: Chances, after: Chances, runs: int) -> str | None:
    """Why a gate fails on a skill with these chances; None where it passes."""
    passed: list[IntArray] = [random.binomial(runs, chances) for chances in (before, after)]
    counts = np.full(len(before), runs)
    loss = loss_of((passed[0], counts), (passed[1], counts))
    if loss is None:
        return None
    if sign_flip_test((passed[1] - passed[0]) / runs) <= SIGNIFICANCE:
        return "worse"
    return weighed_loss(loss, compared=1, significance=SIGNIFICANCE)
