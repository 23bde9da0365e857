"""What was generated, reviewed, or found in benchmarks, as the terminal and JSON show it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from eval_skills.cli.context import current, print_json, printable
from eval_skills.core.text import plural
from eval_skills.engine.task_linting.finding import SEVERITIES, Lint

if TYPE_CHECKING:
    from eval_skills.benchmarks.reviewing import Review, Task
    from eval_skills.engine.task_making.making import MadeBenchmark


STYLES = {"error": "red", "warning": "yellow", "note": ""}


def show_lints(lints: list[Lint]) -> None:
    """The findings of each benchmark, the worst first, and how many trivial answers passed."""
    if current().json:
        counts = {name: sum(lint.count(name) for lint in lints) for name in SEVERITIES}
        print_json({"benchmarks": [_entry(lint) for lint in lints], "counts": counts})
        return
    for lint in lints:
        _show(lint)


def _entry(lint: Lint) -> dict[str, Any]:
    return asdict(lint) | {"counts": {name: lint.count(name) for name in SEVERITIES}}


def _show(lint: Lint) -> None:
    call = current()
    call.say(f"{lint.benchmark}  {plural(lint.tasks, 'task')}", style="bold")
    if lint.findings:
        call.out().print(_table(lint))
    for share in lint.figures["trivialAnswers"].values():
        if share["cases"]:
            call.say(f"{share['what']} passes {share['passed']:,} of {plural(share['cases'], 'expectation')}")
    for reason, count in lint.unchecked.items():
        call.remark(f"not scored: {plural(count, 'expectation')}, {reason}")
    for remark in lint.remarks:
        call.remark(remark)
    counted = ", ".join(plural(lint.count(name), name) for name in SEVERITIES if lint.count(name))
    call.say(counted or "nothing found", style="red" if lint.count("error") else "" if counted else "green")


def _table(lint: Lint) -> Table:
    """A row for each finding; a long one is folded, so that it fits into 80 columns."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for width in (7, None, None):
        table.add_column(overflow="fold", width=width, no_wrap=width is not None)
    for each in lint.findings:
        about = Text(printable(f"{each.message}; {each.fix}"))
        where = Text(printable(each.task or "(all)"))
        table.add_row(Text(each.severity, style=STYLES[each.severity]), Text.assemble(where, "\n", (each.rule, "dim")), about)
    return table


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
