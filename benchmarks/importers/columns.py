"""``--map TARGET=COLUMN``: which column of a table is what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eval_skills.benchmarks.importers.rows import Row
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.text import nearest

_ABSENT = object()


def parse_columns(given: Sequence[str]) -> dict[str, str]:
    """The column of each target, in order.

    Raises:
        UsageError: one is not ``TARGET=COLUMN``, or a target is given twice.
    """
    columns: dict[str, str] = {}
    for each in given:
        target, equals, column = (part.strip() for part in each.partition("="))
        if not (equals and target and column):
            raise UsageError(f"--map: give TARGET=COLUMN, such as input.q=question; got {each!r}")
        if target in columns:
            raise UsageError(f"--map: {target!r} is given twice")
        columns[target] = column
    return columns


def with_targets(rows: list[Row], columns: Mapping[str, str], *, kept: Collection[str] | None) -> list[Row]:
    """The rows with the value of each column under its target, and of the other columns those that are `kept` (None: all).

    A column is a name, or a path into the objects and lists of one: ``answers.text.0``. Where one row has nothing there, the
    target is null.

    Raises:
        InputError: no row has one of the columns.
    """
    for target, column in columns.items():
        if all(_value(row.data, column) is _ABSENT for row in rows):
            names = list(dict.fromkeys(str(key) for row in rows for key in row.data))
            known = f"; it has {', '.join(names[:20])}" if names else ""
            raise InputError(f"--map {target}={column}: no row has a column {column!r}{nearest(column, names) or known}")
    return [_mapped(row, columns, kept) for row in rows]


def _mapped(row: Row, columns: Mapping[str, str], kept: Collection[str] | None) -> Row:
    found = {target: _value(row.data, column) for target, column in columns.items()}
    given = {target: None if value is _ABSENT else value for target, value in found.items()}
    others = {name: value for name, value in row.data.items() if kept is None or name.partition(".")[0] in kept}
    return replace(row, data={**others, **given})


def _value(data: Any, column: str) -> Any:
    if isinstance(data, Mapping) and column in data:
        return data[column]
    for part in column.split("."):
        if isinstance(data, Mapping) and part in data:
            data = data[part]
        elif isinstance(data, list) and part.isdecimal() and int(part) < len(data):
            data = data[int(part)]
        else:
            return _ABSENT
    return data
