"""What the figures of a trend are: how a value is written for people, and where an axis of them ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from eval_skills.reporting import figures

Unit = Literal["rate", "score", "ms", "usd", "count"]

SHARES = frozenset({"completionRate", "errorRate", "flakeRate", "partialScore", "compositeScore"})
"""What lies in [0, 1], so that a line of it begins at 0 and ends at 1."""

_UNITS: dict[str, Unit] = {
    "completionRate": "rate",
    "errorRate": "rate",
    "flakeRate": "rate",
    "p95Ms": "ms",
    "estimatedUSD": "usd",
    "judgeTokens": "count",
    "judgeUSD": "usd",
    "unjudgedItems": "count",
}
_SHOWN: dict[Unit, Callable[[float | None], str]] = {
    "rate": figures.rate,
    "score": figures.score,
    "ms": figures.milliseconds,
    "usd": figures.usd,
    "count": figures.count,
}


def unit(metric: str) -> Unit:
    """What the values of the metric are; a metric that is not known here has scores."""
    return _UNITS.get(metric, "score")


def shown(metric: str) -> Callable[[float | None], str]:
    """How a value of the metric is written for people."""
    return _SHOWN[unit(metric)]
