"""The limits of a task (score, cost, latency; each a gate that is passed at equality), and how much each dimension counts."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from eval_skills.core.errors import InputError
from eval_skills.core.models import Reason, SkillResponse, Thresholds, Weights
from eval_skills.core.text import plural

TOLERANCE = 1e-9
"""Points of score, and share of a cost, that float arithmetic may lose: 0.1 + 0.2 is at most 0.3."""


def reaches(score: float, min_score: float) -> bool:
    """Whether a score in [0, 1] reaches a limit in points of 100."""
    return score * 100 >= min_score - TOLERANCE


def below_min(score: float, min_score: float) -> Reason:
    """The reason of a score that does not reach its limit."""
    message = f"expected a score of at least {min_score:g} of 100, got {distinct(score * 100, min_score)}"
    return Reason(code="SCORE_BELOW_MIN", message=message, where="thresholds.minScore")


def limit_reasons(thresholds: Thresholds, response: SkillResponse) -> list[Reason]:
    """The reasons of a cost, latency or number of turns beyond its limit. An unknown one fails: it may be beyond."""
    cost, latency = response.cost_usd, response.latency_ms
    reasons = [
        _limit("COST", "USD", thresholds.max_cost, cost, "the skill did not report costUsd", tolerance=TOLERANCE),
        _limit("LATENCY", "ms", thresholds.max_latency, latency, "it was not measured"),
        _too_many_turns(thresholds.max_turns_used, len(response.turns) if response.turns is not None else 1),
    ]
    return [reason for reason in reasons if reason is not None]


def _limit(what: str, unit: str, limit: float | None, value: float | None, unknown: str, tolerance: float = 0) -> Reason | None:
    if limit is None or (value is not None and value <= limit * (1 + tolerance)):
        return None
    name = what.lower()
    code, got = (
        (f"{what}_UNKNOWN", f"none: {unknown}") if value is None else (f"{what}_ABOVE_MAX", f"{distinct(value, limit)} {unit}")
    )
    message = f"expected a {name} of at most {limit:g} {unit}, got {got}"
    return Reason(code=code, message=message, where=f"thresholds.max{name.title()}")


def _too_many_turns(limit: int | None, used: int) -> Reason | None:
    if limit is None or used <= limit:
        return None
    message = f"expected a conversation of at most {plural(limit, 'turn')}, got {used:,}"
    return Reason(code="TURNS_ABOVE_MAX", message=message, where="thresholds.maxTurnsUsed")


def distinct(value: float, limit: float) -> str:
    """A number beside its limit, with as many digits as it takes to tell them apart."""
    short = f"{value:.6g}"
    return repr(value) if short == f"{limit:.6g}" else short


DEFAULT_WEIGHTS: Mapping[str, float] = {"tool_accuracy": 0.3, "output_quality": 0.5, "sequence_correctness": 0.2}


def effective_weights(configured: Collection[str], of_run: Weights, of_task: Weights | None) -> dict[str, float]:
    """The weights of the configured dimensions: defaults, then the run's, then the task's, key by key. They need not sum to 1.

    Raises:
        InputError: every configured dimension weighs 0, so there is no mean.
    """
    weights = {name: _weight(name, of_task, of_run) for name in DEFAULT_WEIGHTS if name in configured}
    if weights and not any(weights.values()):
        raise InputError(
            f"every configured dimension weighs 0 ({', '.join(weights)}); give at least one a weight above 0", path="weights"
        )
    return weights


def _weight(name: str, *layers: Weights | None) -> float:
    given = (getattr(layer, name) for layer in layers if layer is not None)
    return next((weight for weight in given if weight is not None), DEFAULT_WEIGHTS[name])


def weighted_mean(scores: Mapping[str, float], weights: Mapping[str, float]) -> float | None:
    """Σ weight · score / Σ weight over the dimensions that have a score, in [0, 1]; None when those weigh nothing."""
    largest = max((weights[name] for name in scores), default=0.0)
    if not largest:
        return None
    exponent = -math.frexp(largest)[1]  # a power of two: no digit is lost, and neither sum leaves the range of floats
    share = {name: math.ldexp(weights[name], exponent) for name in scores}
    mean = sum(share[name] * score for name, score in scores.items()) / sum(share.values())
    return min(1.0, max(0.0, mean))  # renormalising may leave the range by the last binary digit
