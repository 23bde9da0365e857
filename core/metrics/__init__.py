"""From items to one report per skill: completion, consistency, latency percentiles, composite score.

`skill_reports` is loaded on first use, since it needs pandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.core.metrics.reports import skill_reports

__all__ = ["skill_reports"]


def __getattr__(name: str) -> Any:
    if name == "skill_reports":
        from eval_skills.core.metrics.reports import skill_reports

        return skill_reports
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
