"""Tables of the viewer: each is one SELECT over the store's views, which its page shows, and columns that say how to read it."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from inspect import cleandoc
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from eval_skills.reporting.escape import visible

if TYPE_CHECKING:
    from eval_skills.core.store import Store

Kind = Literal[
    "text",
    "names",
    "count",
    "part",
    "rate",
    "points",
    "score",
    "p",
    "ms",
    "usd",
    "sum",
    "moment",
    "interval",
    "state",
    "verdict",
    "sign",
]
"""How a column's values are shown and sorted: ``points`` are differences of rates, ``p`` a p value, ``interval`` is
``[value, lower, upper]``, of a completion also how many items have no verdict, ``sum`` is USD, and of how many of how many items
they are unknown: ``[value, unknown, items]``, ``part`` is ``[count, of]``, ``names`` is a list of texts,
``sign`` is a truth value shown as ✔ or ✘."""

Row = Mapping[str, Any]

_KNOWN = ", ".join(
    f"CASE WHEN coalesce(missing_items, 0) = 0 OR judged_completion_rate IS NOT NULL THEN {name} END AS {name}"
    for name in ("completion_rate", "ci_lower", "ci_upper", "flake_rate")
)
BEGAN = "strptime(left(run_id, 16), '%Y%m%dT%H%M%SZ') AT TIME ZONE 'UTC'"
"""In a SELECT: when the run began, by its id."""

KNOWN_REPORTS = f"(SELECT * REPLACE ({_KNOWN}) FROM reports)"  # noqa: S608 - names of columns
"""In place of ``reports`` in a SELECT: without the figures that are not known where no item has a verdict on the skill."""


FORBIDDEN = "CASE WHEN sum(forbidden_items) > 0 THEN 'called' WHEN sum(forbidden_unknown_items) > 0 THEN 'unknown' END"
"""In a SELECT over reports: ``called`` where a forbidden tool was, ``unknown`` where it may have been, else null."""

NOTHING_IS_USUAL = object()
"""No value of a column goes without saying."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column. `of` are the columns of the SELECT that it shows: one, for ``part`` two, for ``sum`` three, for ``interval``
    three or four.

    `link` makes the page that a row's cell leads to; for ``names`` a list, one for each. None leads nowhere. Where `is_facet`, a
    list above the table narrows it to one of its values. `is_wide` columns are left out on narrow screens,
    and on all where every row has the `usual` value, which goes without saying; the CSV has them.
    """

    title: str
    of: tuple[str, ...]
    kind: Kind = "text"
    link: Callable[[Row], str | list[str | None] | None] | None = None
    is_facet: bool = False
    is_wide: bool = False
    usual: Any = NOTHING_IS_USUAL

    def described(self, rows: Sequence[Row]) -> dict[str, Any]:
        """The column as the page's script reads it."""
        is_hidden = bool(rows) and all(row[self.of[0]] == self.usual for row in rows)
        return {"title": self.title, "kind": self.kind, "facet": self.is_facet, "wide": self.is_wide, "hidden": is_hidden}


FORBIDDEN_TOOLS = Column(title="Forbidden tools", of=("forbidden",), kind="verdict", is_facet=True, usual=None)
"""Of a SELECT that has `FORBIDDEN` as ``forbidden``: shown where there is anything to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a page; `name` begins what the address says of its filters. `sort` is a column's title, with a minus for the
    largest first."""

    name: str
    title: str
    sql: str
    columns: Sequence[Column]
    sort: str | None = None
    selects: Literal["comparison"] | None = None
    note: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def payload(
        self, store: Store, *, of_runs: frozenset[str] | None = None, rows: Sequence[Row] | None = None
    ) -> dict[str, Any]:
        """The table with its rows, as the page's script reads it; unknown values are None, texts are harmless to show.

        `of_runs` are the runs whose items can matter, None for all: the files of others are not opened. `rows` are those of the
        statement, where they are known.

        Raises:
            UsageError: the store cannot be read, or the statement is wrong.
        """
        statement = cleandoc(self.sql)
        rows = _rows(store, statement, of_runs) if rows is None else rows
        return {
            "name": self.name,
            "title": self.title,
            "sql": statement,
            "sort": self.sort,
            "selects": self.selects,
            "note": self.note,
            "columns": [column.described(rows) for column in self.columns],
            "rows": [[_cell(column, row) for column in self.columns] for row in rows],
            "links": [[column.link(row) if column.link else None for column in self.columns] for row in rows],
            **self.more,
        }


def has_rows(store: Store, statement: str) -> bool:
    """Whether the statement has any row.

    Raises:
        UsageError: the store cannot be read, or the statement is wrong.
    """
    return bool(_rows(store, f"SELECT 1 FROM ({cleandoc(statement)}) LIMIT 1", None))  # noqa: S608 - a table's statement


_ANSWERS = 64
_answering: dict[tuple[str, str], Lock] = {}
_answers: OrderedDict[tuple[str, str], tuple[Hashable, list[dict[str, Any]]]] = OrderedDict()
"""The last rows, by store and statement, each with the state of the files that it was read from."""


def _rows(store: Store, statement: str, of_runs: frozenset[str] | None) -> list[dict[str, Any]]:
    """The rows of a statement; they are read again only where a file that they are made of is another one."""
    from eval_skills.core.store.sql import state_of

    key = (store.path, statement)
    with _answering.setdefault(key, Lock()):  # who asks the same meanwhile waits for the answer, and does not work for it, too
        state = state_of(store, statement)
        if state is not None and (known := _answers.get(key)) is not None and known[0] == state:
            return known[1]
        rows = _asked(store, statement, of_runs)
        if state is not None and len(rows) <= _MOST_ROWS:
            _answers[key] = (state, rows)
            while len(_answers) > _ANSWERS:
                _answering.pop(_answers.popitem(last=False)[0], None)
    return rows


def _asked(store: Store, statement: str, of_runs: frozenset[str] | None) -> list[dict[str, Any]]:
    from eval_skills.core.store.sql import query

    table = query(store, statement, of_runs=of_runs)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


_MOST_ROWS = 5_000
"""Longer tables are not kept: memory is worth more than the time."""


def _cell(column: Column, row: Row) -> Any:
    values = [_json(row[name]) for name in column.of]
    return values if column.kind in ("interval", "part", "sum") else values[0]


def _json(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return [_json(each) for each in value]
    return value
