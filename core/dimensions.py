"""The names of the dimensions, and their order."""

from __future__ import annotations

from collections.abc import Iterable

DIMENSIONS = ("tool_accuracy", "sequence_correctness", "output_quality", "hallucination")
"""Those of an agent's run, each with a column of its own in the store. An evaluator may add others (a rubric's, a plug-in's)."""


def in_order(names: Iterable[str]) -> list[str]:
    """Each name once: those of an agent's run first, as `DIMENSIONS` has them, then the others as they come."""
    given = dict.fromkeys(names)
    return [*(name for name in DIMENSIONS if name in given), *(name for name in given if name not in DIMENSIONS)]
