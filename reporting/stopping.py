"""That a run stopped at one of its limits, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core.config.options import option_of
from eval_skills.core.text import plural
from eval_skills.reporting import numbers

if TYPE_CHECKING:
    from eval_skills.core.store import ReachedLimit

FIELDS = {"cost": "max_cost", "tokens": "max_tokens", "duration": "max_duration_s"}
"""The option of each limit, by its field's name."""


def stop_words(reached: ReachedLimit, finished: int, planned: int) -> str:
    """``stopped at --max-cost 1: 1.0234 USD spent, 12 of 40 items done``."""
    spent = {
        "cost": f"{numbers.usd(reached.spent)} spent",
        "tokens": f"{reached.spent:,.0f} tokens used",
        "duration": f"{reached.spent:.3g} s passed" if reached.spent < 1 else f"{reached.spent:,.1f} s passed",
    }
    done = f"{finished:,} of {plural(planned, 'item')} done"
    return f"stopped at {option_of(FIELDS[reached.limit])} {_shown(reached.allowed)}: {spent[reached.limit]}, {done}"


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.10g}"
