"""Measuring several things in turn, so that a busy moment of the machine hits all of them alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Rounds:
    """Figures of several rounds by name, each list in the order of the rounds."""

    figures: dict[str, list[float]]

    def median(self, name: str) -> float:
        """The median of one name's figures."""
        return median(self.figures[name])

    def ratio(self, above: str, *below: str) -> float:
        """The median over the rounds of one figure divided by the sum of others of its own round: drift cancels out."""
        sums = map(sum, zip(*(self.figures[name] for name in below), strict=True))
        return median(one / other for one, other in zip(self.figures[above], sums, strict=True))

    def spread(self, name: str) -> str:
        """The median with the lowest and highest figure."""
        figures = self.figures[name]
        return f"{name} {median(figures):.4g} ({min(figures):.4g}..{max(figures):.4g})"


def alternate(measures: dict[str, Callable[[], float]], rounds: int) -> Rounds:
    """Take every figure once a round; every other round goes through them backwards."""
    figures: dict[str, list[float]] = {name: [] for name in measures}
    for number in range(rounds):
        for name, measure in list(measures.items())[:: 1 if number % 2 == 0 else -1]:
            figures[name].append(measure())
    return Rounds(figures)


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes, by the clock on the wall."""
    began = perf_counter()
    work()
    return perf_counter() - began
