"""Tasks that always passed and now always fail: how often flaky tasks look like that, and what a gate finds by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eval_skills.core.diff.diff import SIGNIFICANCE
from eval_skills.core.statistics.newly_failing import newly_failing_tasks, weighed_loss
from eval_skills.core.statistics.paired import sign_flip_test
from eval_skills.core.statistics.rates import DEFAULT_SEED, IntArray
from tests.simulations.draws import Chances, Share

PATTERNS = {"all 0.5": (0.5, 0.5), "steady, one in ten 0.5": (1.0, 0.5), "steady, one in ten 0.9": (1.0, 0.9)}
"""The chance of most tasks, and of every tenth."""

SIZES = ((3, 3), (10, 2), (10, 3), (10, 5), (50, 2), (50, 3), (100, 3))
SETTINGS = tuple((pattern, tasks, runs) for pattern in PATTERNS for tasks, runs in SIZES)
BROKEN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Of an unchanged skill, how often tasks are called newly failing (`false`) and the gate fails (`alarm`); where two of its
    tasks broke, how often the test over tasks alone (`by_test`) and the gate (`found`) say so."""

    pattern: str
    tasks: int
    runs: int
    false: Share
    alarm: Share
    by_test: Share
    found: Share


def simulate(draws: int, *, settings: tuple[tuple[str, int, int], ...] = SETTINGS, seed: int = DEFAULT_SEED) -> list[Row]:
    """By setting, one skill beside itself, and beside itself with two of its tasks broken."""
    return [_row(*setting, draws, np.random.default_rng([seed, index])) for index, setting in enumerate(settings)]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    lines = [
        "| chances | tasks × runs | unchanged, newly failing | unchanged, gate fails | two broke, by the test | gate fails |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    return "\n".join(
        lines + [f"| {r.pattern} | {r.tasks} × {r.runs} | {r.false} | {r.alarm} | {r.by_test} | {r.found} |" for r in rows]
    )


def _row(pattern: str, tasks: int, runs: int, draws: int, random: np.random.Generator) -> Row:
    usual, tenth = PATTERNS[pattern]
    chances = np.where(np.arange(tasks) % 10 == 0, tenth, usual)
    broken = np.where(np.arange(tasks) < tasks - BROKEN, chances, 0.0)
    same, worse = ([_gate(random, chances, after, runs) for _ in range(draws)] for after in (chances, broken))
    return Row(
        pattern=pattern,
        tasks=tasks,
        runs=runs,
        false=Share(sum(failing for _, failing in same), draws),
        alarm=Share(sum(test or failing for test, failing in same), draws),
        by_test=Share(sum(test for test, _ in worse), draws),
        found=Share(sum(test or failing for test, failing in worse), draws),
    )


def _gate(random: np.random.Generator, before: Chances, after: Chances, runs: int) -> tuple[bool, bool]:
    """Whether the test over tasks, and whether newly failing tasks, say that a skill with these chances got worse."""
    passed: list[IntArray] = [random.binomial(runs, chances) for chances in (before, after)]
    differences = (passed[1] - passed[0]) / runs
    if not differences.sum() < 0:
        return False, False
    counts = np.full(len(before), runs)
    found = newly_failing_tasks((passed[0], counts), (passed[1], counts))
    weighed = weighed_loss(found.chance, found.floor, len(before), compared=1, significance=SIGNIFICANCE)
    return sign_flip_test(differences) <= SIGNIFICANCE, weighed == "newly failing"
