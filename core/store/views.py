"""The tables of a store as views of DuckDB, which reads the landed files itself: of each what a statement asks for, and no more.

What DuckDB cannot open, such as a file behind a URL, or cannot check is read through Arrow instead (`Source.arrow`).
"""

# ruff: noqa: S608 - names and types are those of our schemas, and paths are quoted

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from pydantic_core import to_json

from eval_skills.core.store.schema import DATE_FIELD, SCHEMAS

if TYPE_CHECKING:
    from eval_skills.core.store.layout import TableName
    from eval_skills.core.store.tables import Tables

_GLOB = frozenset("*?[\\")

_TYPES = (
    (pa.types.is_string, "VARCHAR"),
    (pa.types.is_float64, "DOUBLE"),
    (pa.types.is_int64, "BIGINT"),
    (pa.types.is_int32, "INTEGER"),
    (pa.types.is_boolean, "BOOLEAN"),
    (pa.types.is_timestamp, "TIMESTAMP WITH TIME ZONE"),
    (pa.types.is_date32, "DATE"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """The landed rows of one table: its `files` by run id, and `arrow` where DuckDB does not read these itself."""

    name: TableName
    files: dict[str, str] = field(default_factory=dict)
    arrow: Any = None

    @classmethod
    def of(cls, tables: Tables, name: TableName, run_ids: Collection[str] | None = None) -> Source:
        """What has landed of a table, of all runs or of those named, but for damaged files (`Tables.sound_files`).

        Raises:
            InputError: all of the files are damaged.
        """
        files = tables.sound_files(name, run_ids)
        if is_readable(tables, files.values()):
            return cls(name, {run_id: absolute(path) for run_id, path in files.items()})
        return cls(name, files, tables.dataset(name, files))

    @property
    def paths(self) -> list[str]:
        """The files that DuckDB opens."""
        return list(self.files.values()) if self.arrow is None else []

    def select(self, run_ids: Collection[str]) -> str:
        """A SELECT over the rows of these runs; Arrow data is taken for the view ``<name>_all``."""
        if self.arrow is None:
            return select_of(self.name, [path for run_id, path in self.files.items() if run_id in run_ids])
        return f"SELECT * FROM {self.name}_all WHERE run_id IN ({', '.join(map(quoted, sorted(run_ids)))})"

    def create(self, connection: duckdb.DuckDBPyConnection, view: str) -> None:
        """Make it a view of that name."""
        if self.arrow is None:
            connection.execute(f"CREATE TEMP VIEW {view} AS {select_of(self.name, self.paths)}")
        else:
            connection.register(view, self.arrow)


def absolute(path: str) -> str:
    """The path from the root on. A ``..`` in it stays: behind a link it leads elsewhere than the name before it says."""
    return os.path.join(os.getcwd(), path)


def is_readable(tables: Tables, paths: Iterable[str]) -> bool:
    """Whether DuckDB reads these files as they are. It looks at no checksum of a page: a file without a digest has nothing else.
    In the name of a file it takes some signs for a pattern."""
    return _GLOB.isdisjoint(absolute(tables.root)) and all(map(tables.has_digest, paths))


def columns_of(name: TableName, columns: Collection[str], paths: Iterable[str]) -> pa.Table:
    """These columns of the files, in the order of the files and of the schema.

    Raises:
        duckdb.Error: a file cannot be read.
    """
    wanted = ", ".join(f'"{column}"' for column in SCHEMAS[name].names if column in columns)
    with duckdb.connect(":memory:") as connection:
        return connection.sql(f"SELECT {wanted} FROM ({select_of(name, map(absolute, paths))})").to_arrow_table()


def select_of(name: TableName, paths: Iterable[str]) -> str:
    """A SELECT over the rows of these files, with the columns of the table's schema and `date`; without a file, over no rows.

    A file of an older version lacks columns, which are null; what a newer one has besides them is left out.
    """
    listed = ", ".join(map(quoted, paths))
    if not listed:
        return select_of_none([*SCHEMAS[name], DATE_FIELD])
    return (
        "SELECT * EXCLUDE (filename), CAST(regexp_extract(filename, '.*/date=([^/]*)/', 1) AS DATE) AS date FROM "
        f"read_parquet([{listed}], schema = {_schema_of(name)}, filename = true, hive_partitioning = false)"
    )


def select_of_none(columns: Iterable[pa.Field]) -> str:
    """A SELECT with these columns that has no rows."""
    nulls = (f'CAST(NULL AS {_type_of(each.type)}) AS "{each.name}"' for each in columns)
    return f"SELECT {', '.join(nulls)} WHERE false"


def create_table(connection: duckdb.DuckDBPyConnection, name: str, schema: pa.Schema, rows: list[dict[str, Any]]) -> None:
    """Make a table of these rows. They are handed over as JSON: as Arrow data they would have pandas imported."""
    columns = ", ".join(f'"{each.name}" {_type_of(each.type)}' for each in schema)
    connection.execute(f"CREATE TEMP TABLE {name} ({columns})")
    if rows:
        shape = to_json([{each.name: _json_type_of(each.type) for each in schema}]).decode()
        chosen = to_json([{each.name: row[each.name] for each in schema} for row in rows]).decode()
        connection.execute(
            f"INSERT INTO {name} SELECT row.* FROM (SELECT unnest(from_json(?, {quoted(shape)})) AS row)", [chosen]
        )


def _json_type_of(kind: pa.DataType) -> str | list[str]:
    return [_type_of(kind.value_type)] if pa.types.is_list(kind) else _type_of(kind)


@cache
def _schema_of(name: TableName) -> str:
    columns = (
        f"'{each.name}': {{name: '{each.name}', type: {quoted(_type_of(each.type))}, default_value: NULL}}"
        for each in SCHEMAS[name]
    )
    return f"MAP {{{', '.join(columns)}}}"


def _type_of(kind: pa.DataType) -> str:
    if pa.types.is_map(kind):
        return f"MAP({_type_of(kind.key_type)}, {_type_of(kind.item_type)})"
    if pa.types.is_list(kind):
        return f"{_type_of(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        parts = (f'"{part.name}" {_type_of(part.type)}' for part in kind)
        return f"STRUCT({', '.join(parts)})"
    return next(name for is_it, name in _TYPES if is_it(kind))


def quoted(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"
