"""Reading Parquet files as rows, through pyarrow: a few columns of many small files. `landing` writes them.

After a year of nights a table is many small files, of which mostly a few columns are wanted. Where there are very many,
`tables` reads them through DuckDB. Neither way needs pyarrow's dataset, whose import loads pandas and which is built for few
large files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from eval_skills.core.errors import InputError

READERS = 8
"""Files that are read at a time."""

DELETED = "was deleted while it was read, as nightly --keep-days does"

_LISTINGS = 5
"""Listings after which files that keep being deleted are an error."""

Found = TypeVar("Found")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DeletedError(InputError):
    """A landed file was deleted after it was listed."""


def of_what_is_there(read: Callable[[], Found]) -> Found:
    """What `read` returns, which lists files and reads them. Where one was deleted in between, by `nightly --keep-days` or by a
    run that lands again, all are listed anew.

    Raises:
        DeletedError: every time, one was.
    """
    for _ in range(_LISTINGS - 1):
        try:
            return read()
        except DeletedError:
            continue
    return read()


def read_all(paths: Sequence[str], schema: pa.Schema) -> pa.Table:
    """The columns of `schema` of every file, in the order of the files; null where a file of an older version lacks one.

    It is fastest with the columns in the order in which the files have them.

    Raises:
        InputError: a file is not readable.
    """
    if not paths:
        return schema.empty_table()
    with ThreadPoolExecutor(min(READERS, len(paths))) as readers:
        return pa.concat_tables(readers.map(partial(_read, schema), paths))


def as_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table as Python objects; maps are lists of pairs."""
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*map(_values, table.columns), strict=True)]


def row_count(path: str) -> int:
    """How many rows a file has; only its footer is read.

    Raises:
        InputError: it is not readable.
    """
    with readable(path):
        footer = pq.read_metadata(path)
    rows: int = footer.num_rows
    if rows != sum(footer.row_group(place).num_rows for place in range(footer.num_row_groups)):  # no checksum covers the footer
        raise InputError("not a readable Parquet file (its footer contradicts itself); restore it, or move it away", source=path)
    return rows


def _read(schema: pa.Schema, path: str) -> pa.Table:
    with readable(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        places = _places(file.metadata.schema, frozenset(schema.names))
        # `file.read` looks the names up in a list of all columns that it makes anew for every file: half of the time
        table: pa.Table = file.reader.read_all(column_indices=places, use_threads=False).replace_schema_metadata()
        for each in schema if table.num_columns < len(schema) else ():
            if each.name not in table.column_names:
                table = table.append_column(each, pa.nulls(file.metadata.num_rows, each.type))
        table = table if table.column_names == schema.names else table.select(schema.names)
        return table if table.schema.equals(schema) else table.cast(schema)


def _places(columns: pq.ParquetSchema, names: frozenset[str]) -> list[int]:
    """Where the leaves of these columns are in a file: a list or struct has several."""
    return [place for place in range(len(columns)) if columns.column(place).path.partition(".")[0] in names]


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values as Python objects. Pyarrow's own conversion of moments imports pandas, and a cast all of its functions."""
    if not pa.types.is_timestamp(column.type):
        values: list[Any] = column.to_pylist()
        return values
    since = (each for chunk in column.chunks for each in chunk.view(pa.int64()).to_pylist())
    return [None if each is None else _EPOCH + timedelta(microseconds=each) for each in since]


@contextmanager
def readable(path: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise DeletedError(f"{DELETED}; call again", source=path) from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"not a readable Parquet file ({error}); restore it, or move it away", source=path) from None
