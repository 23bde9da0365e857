"""``eval-skills query``."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.context import current
from eval_skills.cli.options import RESULTS, PastResults

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table


def query_command(
    statement: Annotated[
        str,
        Parameter(
            help="One SELECT over the views items, reports, runs, comparisons, samples, nights, preferences and calibrations"
        ),
    ],
    /,
    *,
    csv_: Annotated[
        bool,
        Parameter(group=RESULTS, name="--csv", help="Print CSV: whole values, a header line, empty for null", show_default=False),
    ] = False,
    store: PastResults = None,
) -> int:
    """Ask the store in SQL (DuckDB), for reading only.

    The views items, reports, runs, comparisons, samples, nights, preferences and calibrations hold everything that was ever kept
    there. No statement can change it.

    Example: eval-skills query "SELECT skill_id, avg(score) FROM items GROUP BY 1"
    """
    from eval_skills.cli.context import existing_store
    from eval_skills.core.errors import UsageError
    from eval_skills.core.store.sql import query

    if csv_ and current().json:
        raise UsageError("--csv and --json exclude each other; give one of them")
    _print(query(existing_store(store), statement), as_csv=csv_)
    return 0


def _print(table: pa.Table, *, as_csv: bool) -> None:
    from eval_skills.cli.output.query import json_value
    from eval_skills.cli.output.run import print_json

    rows = list(zip(*(column.to_pylist(maps_as_pydicts="lossy") for column in table.columns), strict=True))
    if as_csv:
        _print_csv(table.column_names, rows)
    elif current().json:
        _refuse_twins(table.column_names)
        print_json([dict(zip(table.column_names, map(json_value, row), strict=True)) for row in rows])
    else:
        _print_table(table.column_names, rows)


def _refuse_twins(names: list[str]) -> None:
    from eval_skills.core.errors import UsageError

    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two columns are named {name!r}, and an object holds a name once; rename one with AS")


def _print_csv(names: list[str], rows: list[tuple[Any, ...]]) -> None:
    from eval_skills.cli.output.query import text_value
    from eval_skills.reporting.escape import csv_cell, encodable, visible

    shown = (
        visible if sys.stdout.isatty() else encodable
    )  # a file or a pipe gets the whole value, a terminal is not steered by it
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for row in (names, *rows):
        writer.writerow([csv_cell(shown(cell)) if isinstance(cell, str) else shown(text_value(cell)) for cell in row])


def _print_table(names: list[str], rows: list[tuple[Any, ...]]) -> None:
    from rich.measure import Measurement

    from eval_skills.cli.output.run import NO_LIMIT

    out = current().out(pipe_width=NO_LIMIT)
    table = _table(names, rows)
    if Measurement.get(out, out.options.update(max_width=NO_LIMIT), table).maximum <= out.width:
        out.print(table)
    else:
        for row in rows:
            out.print(_record(names, row), "")
    current().remark(f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}", style="dim")


def _table(names: list[str], rows: list[tuple[Any, ...]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from eval_skills.cli.output.query import short, text_value

    table = Table(box=None, pad_edge=False)
    for place, name in enumerate(names):
        is_number = any(isinstance(row[place], int | float) for row in rows)
        table.add_column(Text(short(name)), no_wrap=True, justify="right" if is_number else "left")
    for row in rows:
        table.add_row(*(Text(short(text_value(cell))) for cell in row))
    return table


def _record(names: list[str], row: tuple[Any, ...]) -> Table:
    """One row as a line per column: for a row that is wider than the terminal."""
    from rich.table import Table
    from rich.text import Text

    from eval_skills.cli.output.query import short, text_value

    record = Table(box=None, pad_edge=False, show_header=False)
    for name, cell in zip(names, row, strict=True):
        record.add_row(Text(short(name), style="bold"), Text(short(text_value(cell))))
    return record
