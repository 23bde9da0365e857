"""The columns of the table `samples`: what a monitor has drawn from production and judged."""

from __future__ import annotations

import pyarrow as pa

from eval_skills.core.store.schema import ITEM_SCHEMA, REASON

_TEXT, _FLOAT = pa.string(), pa.float64()

SAMPLE_SCHEMA = pa.schema(
    {
        "monitor_id": _TEXT,
        "monitor_run_id": _TEXT,
        "interaction_id": _TEXT,
        "timestamp": _MOMENT,
        "sampled_at": _MOMENT,
        "skill_id": _TEXT,
        "query_preview": _TEXT,
        "output_preview": _TEXT,
        "status": _TEXT,
        "score": _FLOAT,
        "passed": pa.bool_(),
        "scorer": _TEXT,
        "dimensions": pa.map_(_TEXT, _FLOAT),
        "reasons": pa.list_(REASON),
        "latency_ms": _FLOAT,
        "cost_usd": _FLOAT,
        "source": _TEXT,
        "rate": _FLOAT,
        "seed": pa.int64(),
        "origin": _TEXT,
    },
    metadata=ITEM_SCHEMA.metadata,
)
"""One row per sampled interaction. The previews are at most 200 characters, redacted; `timestamp` is the interaction's own, null
where its log has none; `source` is file:line (of Parquet file:row); `status` is ``pass``, ``fail`` or ``error``."""
