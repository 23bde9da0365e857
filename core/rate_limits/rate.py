"""Rates as people write them: ``60/min``, ``10/s``, ``1000/h``."""

from __future__ import annotations

import re

UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
"""Seconds in each unit, by its name in a rate."""

_RATE = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*/\s*(s|min|h)\s*")
_MOST_PER_S = 100_000.0


def per_second(rate: str) -> float:
    """Requests per second: ``60/min`` → 1.0.

    Raises:
        ValueError: it is not a rate, or not above 0 and at most 100,000 per second; the message is a phrase with what is valid.
    """
    found = _RATE.fullmatch(rate)
    value = float(found[1]) / UNITS[found[2]] if found else 0.0
    if value > _MOST_PER_S:
        raise ValueError(f"{rate} is more than {_MOST_PER_S:,.0f} requests per second; leave the limit out")
    if not value:
        raise ValueError(f"give a number above 0 per s, min or h, such as 60/min, 10/s or 1000/h; got {rate!r}")
    return value


def checked_rate(rate: str) -> str:
    """The rate in its usual spelling, without spaces. Raises ValueError as `per_second`."""
    per_second(rate)
    return re.sub(r"\s+", "", rate)


def rate_words(per_s: float) -> str:
    """``20/s``, ``48/min`` or ``3/h``: two digits, in the largest unit that makes at least one of it."""
    name, seconds = next((each for each in UNITS.items() if per_s * each[1] >= 1), ("h", UNITS["h"]))
    number = per_s * seconds
    return f"{number:,.0f}/{name}" if number >= 10 else f"{number:.2g}/{name}"
