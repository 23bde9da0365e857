"""Trends of skills that did not change: how often a change of level, or a single run, is marked all the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eval_skills.core.statistics.rates import DEFAULT_SEED, FloatArray
from eval_skills.core.trend.changes import marks_of
from tests.simulations.draws import Share

RUNS, TASKS, ITEMS = 60, 20, 60
Series = Callable[[np.random.Generator], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How often a series of 60 runs is marked when it is looked at once, at its end, or every night as it grows."""

    name: str
    once: Share
    nightly: Share | None


def rates(rate: float) -> Series:
    """Completion rates of 20 tasks × 3 runs."""
    return lambda random: random.binomial(ITEMS, rate, RUNS) / ITEMS


def resembling(share: float) -> Series:
    """An AR(1) series: each value keeps this share of how far the one before lay off the mean."""

    def series(random: np.random.Generator) -> FloatArray:
        noise = random.normal(0, 0.02, RUNS + 50)
        values = np.zeros(RUNS + 50)
        for place in range(1, RUNS + 50):
            values[place] = share * values[place - 1] + noise[place]
        return 0.8 + values[50:]

    return series


SETTINGS: dict[str, Series] = {
    "rate 0.85": rates(0.85),
    "rate 0.95": rates(0.95),
    "autocorrelated, 0.3": resembling(0.3),
    "autocorrelated, 0.6": resembling(0.6),
}


def simulate(draws: int, *, settings: dict[str, Series] = SETTINGS, looks: bool = True, seed: int = DEFAULT_SEED) -> list[Row]:
    """By setting, through the rules that `trend` applies; nightly looks, which take long, in a tenth of the draws."""
    rows = []
    for index, (name, series) in enumerate(settings.items()):
        random = np.random.default_rng([seed, index])
        once = sum(_marked(series(random)) for _ in range(draws))
        nightly = sum(_ever_marked(series(random)) for _ in range(draws // 10)) if looks else 0
        rows.append(Row(name=name, once=Share(once, draws), nightly=Share(nightly, draws // 10) if looks else None))
    return rows


def table(rows: list[Row]) -> str:
    """As Markdown."""
    lines = ["| 60 runs without a change | looked at once: marked | looked at every night: ever marked |", "|---|--:|--:|"]
    return "\n".join(lines + [f"| {row.name} | {row.once} | {row.nightly} |" for row in rows])


def _marked(values: FloatArray) -> bool:
    found = marks_of(values.tolist(), [TASKS] * len(values), "completionRate")
    return bool(found.changes or found.outliers)


def _ever_marked(values: FloatArray) -> bool:
    return any(_marked(values[:count]) for count in range(8, len(values) + 1))
