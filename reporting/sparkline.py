"""A row of numbers in one line of text."""

from __future__ import annotations

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
GAP = "·"


def sparkline(values: Sequence[float | None], *, top: float | None = None) -> str:
    """One bar per value, from 0 to `top` (None: the highest value). What lies outside is drawn at the edge; None is ``·``."""
    highest = max((value for value in values if value is not None), default=0.0) if top is None else top
    return "".join(GAP if value is None else _bar(value / highest if highest > 0 else 0.0) for value in values)


def _bar(share: float) -> str:
    return BARS[round(min(max(share, 0.0), 1.0) * (len(BARS) - 1))]
