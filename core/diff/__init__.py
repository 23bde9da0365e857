"""Two reports compared: what changed, and whether it is more than chance."""

from eval_skills.core.diff.diff import diff_reports

__all__ = ["diff_reports"]
