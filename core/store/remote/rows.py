"""Rows of two writers of one file: what people said of answers is kept from both."""

from __future__ import annotations

from pathlib import Path

from eval_skills.core.store.remote.names import shared_name


def merged_rows(name: str, ours: Path, theirs: Path) -> bytes | None:
    """The bytes of a file with the rows of both, oldest first; None of a table whose rows are replaced as a whole."""
    shared = shared_name(name)
    if shared is None or shared.table != "labels" or not name.endswith(".parquet"):
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    from eval_skills.core.store.schema import LABEL_SCHEMA

    rows = [row for file in (theirs, ours) for row in pq.read_table(file, partitioning=None).to_pylist()]
    distinct = {tuple(row.items()): row for row in rows}
    table = pa.Table.from_pylist(sorted(distinct.values(), key=lambda row: row["labelled_at"]), schema=LABEL_SCHEMA)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    content: bytes = sink.getvalue().to_pybytes()
    return content
