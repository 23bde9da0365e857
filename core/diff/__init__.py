"""Two reports compared: what changed, and whether it is more than chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eval_skills.core import lazily

if TYPE_CHECKING:
    from eval_skills.core.diff.diff import diff_reports

__all__ = ["diff_reports"]

# on first use: who only reads what is stored of a comparison needs no statistics
__getattr__ = lazily(__name__, {"diff": "diff_reports"})
