"""SQL over the landed tables, through DuckDB, for reading only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

from eval_skills.core.errors import UsageError
from eval_skills.core.store.schema import RUN_SCHEMA, SCHEMAS
from eval_skills.core.store.scorings import current_items
from eval_skills.core.store.tables import empty_table

if TYPE_CHECKING:
    import pyarrow as pa

    from eval_skills.core.store.store import Store

VIEWS = ("items", "items_all", "reports", "runs", "comparisons", "samples", "nights", "preferences", "calibrations")

# DuckDB opens no file at all: it reads the views through Arrow, so they are all that a statement can reach
_SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


def query(store: Store, statement: str) -> pa.Table:
    """The answer to one SELECT over the views named in `VIEWS` (all but `runs` also have `date`).

    `items` has each item once, with its current scoring (see `current_items`); `items_all` has every scoring.

    The statement cannot read or write files, load extensions or change settings. Moments are in UTC.

    Raises:
        UsageError: it is not exactly one SELECT (or WITH, VALUES, DESCRIBE, SUMMARIZE), or DuckDB refuses it.
    """
    with duckdb.connect(":memory:") as connection:
        try:
            _check(connection, statement)
            for name, view in _views(store, statement).items():
                connection.register(name, view)
            for setting in _SETTINGS:
                connection.execute(setting)
            return connection.sql(statement).to_arrow_table()
        except duckdb.Error as error:
            raise UsageError(f"the query failed: {' '.join(str(error).split())}") from None


def _check(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    kinds = [part.type for part in connection.extract_statements(statement)]
    if kinds != [duckdb.StatementType.SELECT]:
        found = ", ".join(kind.name for kind in kinds) or "nothing"
        raise UsageError(f"a query is one SELECT over {', '.join(VIEWS)}; this is {found}")


def _views(store: Store, statement: str) -> dict[str, Any]:
    """What a statement is not about stays empty: listing a year of files takes time, and `runs` opens every manifest."""
    said = statement.lower()
    tables: dict[str, Any] = {name: store.tables.dataset(name) if name in said else empty_table(name) for name in SCHEMAS}
    scorings = tables["items"]
    if said.count("items") > said.count("items_all"):
        tables["items"] = current_items(store, scorings)
    return {**tables, "items_all": scorings, "runs": store.run_table() if "runs" in said else RUN_SCHEMA.empty_table()}
