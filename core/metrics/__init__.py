"""From items to one report per skill: completion, consistency, latency percentiles, composite score.

`skill_reports` is loaded on first use, since it needs pandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core import lazily

if TYPE_CHECKING:
    from eval_skills.core.metrics.reports import skill_reports

__all__ = ["skill_reports"]

__getattr__ = lazily(__name__, {"reports": "skill_reports"})
