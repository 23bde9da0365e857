"""The limits of a task: score, cost, latency. Each is a gate that is passed at equality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core.models import Reason

if TYPE_CHECKING:
    from eval_skills.core.models import SkillResponse, Thresholds

TOLERANCE = 1e-9
"""Points of score, and share of a cost, that float arithmetic may lose: 0.1 + 0.2 is within 0.3."""


def reaches(score: float, min_score: float) -> bool:
    """Whether a score in [0, 1] reaches a limit in points of 100."""
    return score * 100 >= min_score - TOLERANCE


def below_min(score: float, min_score: float) -> Reason:
    """The reason of a score that does not reach its limit."""
    message = f"expected a score of at least {min_score:g} of 100, got {told(score * 100, min_score)}"
    return Reason(code="SCORE_BELOW_MIN", message=message, where="thresholds.minScore")


def limit_reasons(thresholds: Thresholds, response: SkillResponse) -> list[Reason]:
    """The reasons of a cost or latency beyond its limit. What is unknown is not known to be within it, and fails."""
    return [*_cost(thresholds.max_cost, response.cost_usd), *_latency(thresholds.max_latency, response.latency_ms)]


def _cost(limit: float | None, cost: float | None) -> list[Reason]:
    where = "thresholds.maxCost"
    if limit is None or (cost is not None and cost <= limit * (1 + TOLERANCE)):
        return []
    if cost is None:
        message = f"expected a cost of at most {limit:g} USD, got none: the skill did not report costUsd"
        return [Reason(code="COST_UNKNOWN", message=message, where=where)]
    return [
        Reason(
            code="COST_ABOVE_MAX", message=f"expected a cost of at most {limit:g} USD, got {told(cost, limit)} USD", where=where
        )
    ]


def _latency(limit: float | None, latency: float | None) -> list[Reason]:
    where = "thresholds.maxLatency"
    if limit is None or (latency is not None and latency <= limit):
        return []
    if latency is None:
        message = f"expected a latency of at most {limit:g} ms, got none: it was not measured"
        return [Reason(code="LATENCY_UNKNOWN", message=message, where=where)]
    return [
        Reason(
            code="LATENCY_ABOVE_MAX",
            message=f"expected a latency of at most {limit:g} ms, got {told(latency, limit)} ms",
            where=where,
        )
    ]


def told(value: float, limit: float) -> str:
    """A number beside its limit, with as many digits as it takes to tell them apart."""
    short = f"{value:.6g}"
    return repr(value) if short == f"{limit:.6g}" else short
