"""``eval-skills benchmarks review``: generated tasks, one by one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from eval_skills.cli.configuration import Mark
from eval_skills.core.errors import UsageError

DECIDED = Group("Without a terminal", sort_key=1)


def review_command(
    file: Annotated[Path, Mark.PATH, Parameter(help="JSON file of a benchmark or of tasks")],
    /,
    *,
    accept: Annotated[
        list[str] | None, Parameter(group=DECIDED, consume_multiple=1, help="Accept the tasks with these ids, as they are")
    ] = None,
    accept_all: Annotated[
        bool, Parameter(group=DECIDED, help="Accept every task that expects something", show_default=False)
    ] = False,
    drop: Annotated[
        list[str] | None, Parameter(group=DECIDED, consume_multiple=1, help="Delete the tasks with these ids")
    ] = None,
) -> int:
    """Walk through generated tasks that nobody has reviewed: accept, change, skip or delete each.

    The file is saved after every decision, so that it can be left at any moment and gone on with later. A task may be changed in
    the terminal (what answer is expected) or as a whole in the editor that $VISUAL or $EDITOR names. Without a terminal, say what
    to do with --accept, --accept-all and --drop.

    Example: eval-skills benchmarks review drafts.json

    Example: eval-skills benchmarks review drafts.json --accept schema-001
    """
    from eval_skills.benchmarks.reviewing import Review
    from eval_skills.cli.commands.benchmark_tasks.dialogue import walk_through
    from eval_skills.cli.output.benchmark_tasks import show_decided

    review = Review(file)
    if accept is None and drop is None and not accept_all:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError("there is no terminal to ask in; decide with --accept ID, --accept-all or --drop ID")
        walk_through(review)
        return 0
    kept, gone = list(accept or ()), list(drop or ())
    if both := next((task_id for task_id in kept if task_id in gone), None):
        raise UsageError(f"--accept and --drop both name {both!r}; keep one")
    left: list[str] = []
    if accept_all:
        left = review.without_expectation(gone)
        kept += [task_id for task_id in review.pending() if task_id not in {*kept, *gone, *left}]
    review.decide(kept, gone)
    show_decided(review, accepted=kept, dropped=gone, left=left)
    return 0
