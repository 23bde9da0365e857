"""Two reports compared: what changed, and whether it is more than chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.core.diff.diff import diff_reports

__all__ = ["diff_reports"]


def __getattr__(name: str) -> Any:
    """Loaded on first use: who only reads what is stored of a comparison needs no statistics."""
    if name != "diff_reports":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from eval_skills.core.diff.diff import diff_reports

    return diff_reports
