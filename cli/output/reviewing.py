"""A task under review, and what was decided, as the terminal shows them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from eval_skills.cli.context import current, print_json, printable
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from eval_skills.benchmarks.reviewing import Review, Task

MAX_LINES, MAX_CHARS = 24, 400
"""So much of each part of a task is shown; the editor has all of it."""

_OWN = ("id", "description", "tags", "metadata", "inputData", "input_data", "turns", "user")


def show_task(task: Task, place: str) -> None:
    """What the task asks and expects, and how it was made."""
    call, made = current(), task.get("metadata", {}).get("generated", {})
    call.say("")
    call.say(f"{place}  {task['id']}", style="bold")
    about = {
        "about": task.get("description", ""),
        "made": ", ".join(f"{name} {_short(fact)}" for name, fact in made.items() if name != "needs"),
        "asks": next((task[name] for name in ("turns", "user", "inputData", "input_data") if name in task), {}),
        "expects": {name: part for name, part in task.items() if name not in _OWN} or "nothing yet",
        "needs": made.get("needs", ""),
    }
    for name, part in about.items():
        if part or name == "asks":
            _show_part(name, part)


def _short(fact: Any) -> str:
    return fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False)


def _show_part(name: str, part: Any) -> None:
    lines = part.split("\n") if isinstance(part, str) else json.dumps(part, ensure_ascii=False, indent=2).split("\n")
    cut = [printable(line if len(line) <= MAX_CHARS else f"{line[:MAX_CHARS]} …") for line in lines[:MAX_LINES]]
    if len(lines) > MAX_LINES:
        cut.append(f"… {plural(len(lines) - MAX_LINES, 'more line')}: e shows all of it")
    grid = Table.grid()  # what is folded stays in its column
    grid.add_column(width=9)
    grid.add_column(overflow="fold")
    grid.add_row(Text(name), Text("\n".join(cut)))
    current().out().print(grid)


def show_decided(review: Review, *, accepted: Sequence[str], dropped: Sequence[str], left: Sequence[str] = ()) -> None:
    """How many tasks were accepted and deleted, and how many are unreviewed still; `left` have no expectation to accept."""
    call, pending = current(), review.pending()
    if call.json:
        print_json({"file": str(review.path), "accepted": list(accepted), "dropped": list(dropped), "unreviewed": pending})
        return
    call.say(f"{review.path}: {len(accepted):,} accepted, {len(dropped):,} deleted, {len(pending):,} not reviewed")
    if left:
        named = ", ".join(left[:5]) + (" …" if left[5:] else "")
        call.remark(f"{plural(len(left), 'task')} left, which expect nothing yet: {named}")
