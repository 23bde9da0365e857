"""What was found in benchmarks, as the terminal and JSON show it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from eval_skills.cli.context import current, print_json, printable
from eval_skills.core.text import plural
from eval_skills.engine.task_linting.finding import SEVERITIES, Lint

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
