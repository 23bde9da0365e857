"""``eval-skills query``."""

from __future__ import annotations

import csv
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from threading import Timer
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from eval_skills.cli.context import briefly, current, existing_store
from eval_skills.cli.options import RESULTS, PastResults
from eval_skills.cli.streams import holds_unicode
from eval_skills.core.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table


def query_command(
    statement: Annotated[
        str,
        Parameter(
            help="One SELECT over the views items, items_all, reports, runs, comparisons, samples, nights, preferences, "
            "calibrations, labels and turns"
        ),
    ],
    /,
    *,
    csv_: Annotated[
        bool,
        Parameter(
            group=RESULTS,
            name="--csv",
            help="Print CSV: whole values, a header line, empty for null, an apostrophe before a text that a spreadsheet would "
            "compute",
            show_default=False,
        ),
    ] = False,
    store: PastResults = None,
) -> int:
    """Query the store in SQL (DuckDB), read-only.

    The views items, items_all, reports, runs, comparisons, samples, nights, preferences, calibrations, labels and turns hold
    everything in the store. Of items that were scored again, items has the last scoring and items_all every one. No statement
    can change anything.

    Example: eval-skills query "SELECT skill_id, avg(score) FROM items GROUP BY 1"
    """
    if csv_ and current().json:
        raise UsageError("--csv and --json exclude each other; give one of them")
    with ended_at_once(), briefly():
        from eval_skills.core.store.sql import query

        _print(query(existing_store(store), statement), as_csv=csv_)
    return 0


FAREWELL_S, _INTERRUPTED = 0.8, 130
_ROWS_AT_A_TIME = 1_000


@contextmanager
def ended_at_once() -> Iterator[None]:
    """Inside, Ctrl-C ends the process within `FAREWELL_S` with exit code 130, whatever it is doing: it may be importing a library
    that swallows the exception, or writing to a pipe that nobody reads. Only for what changes nothing."""

    def interrupted(*_: Any) -> None:
        last_resort = Timer(FAREWELL_S, _leave)
        last_resort.daemon = True
        last_resort.start()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        yield
        return
    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if type(interrupt) is KeyboardInterrupt:  # SIGTERM has an exit code of its own
            _leave()
        raise
    finally:
        signal.signal(signal.SIGINT, before)


def _leave() -> None:
    """End the process now: nothing is flushed, as that may wait for a reader, and nothing else waits to be done."""
    os.write(2, b"eval-skills: interrupted\n")
    os._exit(_INTERRUPTED)


def _print(table: pa.Table, *, as_csv: bool) -> None:
    rows = [  # in small batches: the conversion of one is not interrupted
        row
        for batch in table.to_batches(max_chunksize=_ROWS_AT_A_TIME)
        for row in zip(*(column.to_pylist(maps_as_pydicts="lossy") for column in batch.columns), strict=True)
    ]
    if as_csv:
        _print_csv(table.column_names, rows)
    elif current().json:
        _refuse_twins(table.column_names)
        document = [dict(zip(table.column_names, map(json_value, row), strict=True)) for row in rows]
        json.dump(document, sys.stdout, ensure_ascii=not holds_unicode(sys.stdout), indent=2, allow_nan=False)
        print()
    else:
        _print_table(table.column_names, rows)


def _refuse_twins(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two columns are named {name!r}, and an object holds a name once; rename one with AS")


def _print_csv(names: list[str], rows: list[tuple[Any, ...]]) -> None:
    from eval_skills.core.text import encodable
    from eval_skills.reporting.escape import csv_cell, visible

    shown = (
        visible if sys.stdout.isatty() else encodable
    )  # a file or a pipe gets the whole value, a terminal is not steered by it
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for row in (names, *rows):
        writer.writerow([csv_cell(shown(cell)) if isinstance(cell, str) else shown(text_value(cell)) for cell in row])


def _print_table(names: list[str], rows: list[tuple[Any, ...]]) -> None:
    from rich.measure import Measurement

    from eval_skills.cli.output.tables import NO_LIMIT

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

    record = Table(box=None, pad_edge=False, show_header=False)
    for name, cell in zip(names, row, strict=True):
        record.add_row(Text(short(name), style="bold"), Text(short(text_value(cell))))
    return record


CELL_WIDTH = 60


def json_value(value: Any) -> Any:
    """The value as JSON has it. Moments are ISO 8601, bytes hexadecimal; NaN and infinities are null; the rest is its text."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, dict):
        return {str(key): json_value(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(part) for part in value]
    return _scalar(value)


def text_value(value: Any) -> str:
    """The value as one text: "" for null, JSON for lists and structures."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    plain = json_value(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def short(text: str) -> str:
    """The text in one line of at most `CELL_WIDTH` characters, without what could steer a terminal."""
    from eval_skills.reporting.escape import visible

    line = visible(" ".join(text.split()))
    return line if len(line) <= CELL_WIDTH else f"{line[: CELL_WIDTH - 1]}…"


def _scalar(value: Any) -> Any:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)
