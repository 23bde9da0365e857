"""Tasks that a program made: how they are marked, and what is said of those that nobody has read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval_skills.core.models import EvalTask
from eval_skills.core.text import plural


def mark(by: str, **facts: Any) -> dict[str, Any]:
    """The metadata of a new task: how it was made (`by`), from what, and that nobody has reviewed it."""
    return {"generated": {"by": by, **{name: fact for name, fact in facts.items() if fact is not None}}, "reviewed": False}


def unreviewed_note(tasks: Sequence[EvalTask]) -> list[str]:
    """The line on tasks that were generated and that nobody has accepted; empty where there is none."""
    unread = sum(task.is_unreviewed for task in tasks)
    if not unread:
        return []
    are = "is" if unread == 1 else "are"
    share = f"{unread:,} of {plural(len(tasks), 'task')} ({100 * unread / len(tasks):.0f} %) {are}"
    return [f"{share} generated and not reviewed: what they expect is not yet known to be right"]
