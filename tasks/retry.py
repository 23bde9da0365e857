"""When an item is tried again, and after how long."""

from __future__ import annotations

import random

JITTER = 0.25
"""The share by which a delay is stretched or shortened at random, so that items do not return in step."""


def delay_s(attempt: int) -> float:
    """Seconds before the attempt after `attempt` (from 1): 1, 2, 3 …, each with jitter."""
    return attempt * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - spreads load, guards nothing
