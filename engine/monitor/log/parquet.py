"""Rows of a Parquet file from a given one on, and whether a file that was written anew goes on where another one ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from eval_skills.engine.monitor.log.records import digest, json_text

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS_AT_A_TIME = 256

ROWS_REMEMBERED = 8
"""So many of the rows that were read last tell whether a file that was written anew still has them where they were."""

Row = dict[str, Any]


def batches_beyond(table: pq.ParquetFile, rows: int) -> Iterator[pa.RecordBatch]:
    """What follows the first `rows` of a file; row groups before that are not read."""
    row, groups = _groups_beyond(table.metadata, rows)
    for batch in table.iter_batches(batch_size=ROWS_AT_A_TIME, row_groups=groups):
        yield batch.slice(min(batch.num_rows, max(0, rows - row)))
        row += batch.num_rows


def rows_of(batch: pa.RecordBatch) -> list[Row]:
    """The rows as objects."""
    rows: list[Row] = batch.to_pylist(maps_as_pydicts="lossy")
    return rows


def row_digest(row: Row) -> str:
    """A digest of a row; nulls do not count, so that a column more changes no row that has nothing in it."""
    return digest(json_text({name: value for name, value in row.items() if value is not None}))[:16]


def goes_on(stream: BinaryIO, rows: int, digests: Sequence[str]) -> bool:
    """Whether an open file has at least `rows`, and `digests` are those of the last of them.

    True, too, for a file that is not complete, as while it is being written: reading it will say so.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(stream, pre_buffer=False) as table:
            batches = batches_beyond(table, rows - len(digests))
            found = (row_digest(row) for batch in batches for row in rows_of(batch.slice(0, len(digests))))
            return list(islice(found, len(digests))) == list(digests)
    except (pa.ArrowException, OSError):
        return True


def _groups_beyond(metadata: Any, rows: int) -> tuple[int, list[int]]:
    """The row groups of a Parquet file that hold more than its first `rows`, and how many rows lie before them."""
    before, first = 0, 0
    while first < metadata.num_row_groups and before + metadata.row_group(first).num_rows <= rows:
        before += metadata.row_group(first).num_rows
        first += 1
    return before, list(range(first, metadata.num_row_groups))
