"""What was generated, as the terminal and JSON show it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_skills.cli.context import current, print_json
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from eval_skills.engine.task_making.making import MadeBenchmark


def show_made(made: MadeBenchmark, output: Path) -> None:
    """How many tasks there are, how many of them nothing is expected of, what was left out, and what to do next."""
    call, tasks = current(), made.benchmark.tasks
    drafts = sum(task.lacks_expectation for task in tasks)
    if call.json:
        print_json(
            {
                "file": str(output),
                "id": made.benchmark.id,
                "tasks": len(tasks),
                "withoutExpectation": drafts,
                "remarks": made.remarks,
                "model": _spent(made),
            }
        )
        return
    call.say(f"wrote     {output}: {plural(len(tasks), 'task')}, none of them reviewed", style="bold")
    if drafts:
        call.say(f"          {drafts:,} of them expect nothing yet: eval refuses the file until they are reviewed")
    for remark in made.remarks:
        call.remark(remark)
    if (spent := _spent(made)) is not None:
        cost = "cost unknown" if spent["costUsd"] is None else f"${spent['costUsd']:.4f}"
        call.say(f"model     {plural(spent['requests'], 'request')}, {spent['cached']:,} from the cache, {cost}")
    call.say(f"check it  {shlex.join(['eval-skills', 'benchmarks', 'lint', str(output)])}")
    call.say(f"review it {shlex.join(['eval-skills', 'benchmarks', 'review', str(output)])}")


def _spent(made: MadeBenchmark) -> dict[str, Any] | None:
    if made.spent is None:
        return None
    return {
        "requests": made.spent.asked,
        "cached": made.spent.cached,
        "tokens": made.spent.tokens,
        "costUsd": made.spent.cost_usd,
    }
