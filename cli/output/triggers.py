"""What `triggers` prints: the rates, the queries that did not do as they should, and who took them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from eval_skills.cli.context import current, print_json
from eval_skills.cli.output.run import NO_LIMIT
from eval_skills.reporting.escape import visible_line
from eval_skills.reporting.triggers.figures import (
    QUERY_COLUMNS,
    RATE_COLUMNS,
    confusion_lines,
    query_cells,
    rate_rows,
    title,
)

if TYPE_CHECKING:
    from eval_skills.core.triggers import Triggers

QUERIES_SHOWN = 20


def show_triggers(found: Triggers, files: Sequence[Path], failures: Sequence[str] | None, *, store: str) -> None:
    """The figures on stdout, as one document in a ``--json`` call; `failures` of the gate, None where there was none."""
    if current().json:
        gate = None if failures is None else {"passed": not failures, "failures": list(failures)}
        print_json({**found.to_json(), "gate": gate, "files": [str(path) for path in files], "store": store})
        return
    session = current()
    session.say(title(found))
    _print_table(RATE_COLUMNS, rate_rows(found))
    for line in confusion_lines(found):
        session.say(line)
    if failed := found.failed:
        session.say("")
        session.say(f"did not do as they should: {len(failed)} of {len(found.queries)}", style="red")
        _print_table(QUERY_COLUMNS, map(query_cells, failed[:QUERIES_SHOWN]))
        if len(failed) > QUERIES_SHOWN:
            session.say(f"… and {len(failed) - QUERIES_SHOWN:,} more; the reports have them all")
    for remark in found.remarks:
        session.remark(remark)
    for path in files:
        session.say(f"report  {path}")
    session.say(f"store   {store}   run {found.run_id}")
    for failure in failures or ():
        session.say(f"gate failed: {failure}", style="red")
    if failures == []:
        session.say("gate passed: every query did as it should", style="green")


def _print_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, name in enumerate(names):
        table.add_column(name, overflow="fold", no_wrap=index > 0, justify="left" if index < 2 else "right")
    for row in rows:
        table.add_row(*(Text(visible_line(cell)) for cell in row))
    current().out(pipe_width=NO_LIMIT).print(table)
