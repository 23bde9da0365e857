"""The report as Parquet: the rows of the CSV report, typed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from eval_skills.core.models import SkillCompletionReport
from eval_skills.reporting.context import ReportContext
from eval_skills.reporting.escape import encodable
from eval_skills.reporting.table import COLUMNS, skill_rows


def render_parquet(reports: Sequence[SkillCompletionReport], context: ReportContext) -> bytes:
    """The table as the bytes of a Parquet file; without skills it has no rows and the same columns."""
    import pyarrow as pa
    from pyarrow import parquet

    types = {"text": pa.string(), "float": pa.float64(), "int": pa.int64(), "bool": pa.bool_()}
    schema = pa.schema([("rank", pa.int64()), *((column.name, types[column.kind]) for column in COLUMNS)])
    rows = [{name: _parquet_value(value) for name, value in row.items()} for row in skill_rows(reports, context)]
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), sink)
    return sink.getvalue()


def _parquet_value(value: Any) -> Any:
    return encodable(value) if isinstance(value, str) else value
