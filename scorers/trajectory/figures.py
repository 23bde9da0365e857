"""How far two trajectories agree, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval_skills.scorers.sequence import lcs_length


def agreement(matched: int, outputs: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """The partial scores of `matched` pairs among these names in order, whatever the mode demands.

    `matched`, `missing` and `extra` are counts. `precision` is matched / outputs, `recall` matched / references, `f1` their
    harmonic mean 2·matched / (outputs + references), and `lcs` the longest common subsequence of the names / references: how far
    the order agrees. All four lie in [0, 1]; a share of nothing is 1.
    """
    called, expected = len(outputs), len(references)
    in_order = expected if outputs == references else lcs_length(outputs, references)
    return {
        "matched": matched,
        "missing": expected - matched,
        "extra": called - matched,
        "precision": matched / called if called else 1.0,
        "recall": matched / expected if expected else 1.0,
        "f1": 2 * matched / (called + expected) if called + expected else 1.0,
        "lcs": in_order / expected if expected else 1.0,
    }
