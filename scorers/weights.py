"""How much each dimension of an item counts."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from eval_skills.core.errors import InputError

if TYPE_CHECKING:
    from eval_skills.core.models import Weights

DEFAULT_WEIGHTS: Mapping[str, float] = {"tool_accuracy": 0.3, "output_quality": 0.5, "sequence_correctness": 0.2}


def effective_weights(configured: Collection[str], of_run: Weights, of_task: Weights | None) -> dict[str, float]:
    """The weights of the configured dimensions: defaults, then the run's, then the task's, key by key. They need not sum to 1.

    Raises:
        InputError: every configured dimension weighs 0, so there is no mean.
    """
    layers = {**DEFAULT_WEIGHTS, **of_run.named(), **(of_task.named() if of_task is not None else {})}
    weights = {name: layers[name] for name in DEFAULT_WEIGHTS if name in configured}
    if weights and not any(weights.values()):
        raise InputError(
            f"every configured dimension weighs 0 ({', '.join(weights)}); give at least one a weight above 0", path="weights"
        )
    return weights


def weighted_mean(scores: Mapping[str, float], weights: Mapping[str, float]) -> float | None:
    """Σ weight · score / Σ weight over the dimensions that have a score, in [0, 1]; None when those weigh nothing."""
    largest = max((weights[name] for name in scores), default=0.0)
    if not largest:
        return None
    exponent = -math.frexp(largest)[1]  # a power of two: no digit is lost, and neither sum leaves the range of floats
    share = {name: math.ldexp(weights[name], exponent) for name in scores}
    mean = sum(share[name] * score for name, score in scores.items()) / sum(share.values())
    return min(1.0, max(0.0, mean))  # renormalising may leave the range by the last binary digit
