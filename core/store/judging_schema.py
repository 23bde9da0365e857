"""The columns of the tables `preferences` and `calibrations`: answers compared by a model, and how far it can be trusted.

The columns of the table `samples`: what a monitor has drawn from production and judged.
"""

from __future__ import annotations

import pyarrow as pa

from eval_skills.core.store.schema import ITEM_SCHEMA, REASON

_TEXT, _FLOAT, _COUNT = pa.string(), pa.float64(), pa.int64()
_MOMENT = pa.timestamp("us", tz="UTC")

ESTIMATES = ("accuracy", "kappa", "weighted_kappa", "spearman", "sensitivity", "specificity")
"""The figures of a calibration that have an interval."""

_VOTE = pa.struct(
    {
        "model": _TEXT,
        "number": pa.int32(),
        **dict.fromkeys(("outcome", "a_first", "b_first", "reasoning_a_first", "reasoning_b_first", "error_message"), _TEXT),
    }
)

PREFERENCE_SCHEMA = pa.schema(
    {
        "comparison_id": _TEXT,
        "compared_at": _MOMENT,
        "run_a": _TEXT,
        "run_b": _TEXT,
        "skill_a": _TEXT,
        "version_a": _TEXT,
        "skill_b": _TEXT,
        "version_b": _TEXT,
        "benchmark_id": _TEXT,
        "benchmark_version": _TEXT,
        "task_id": _TEXT,
        "run_index": pa.int32(),
        "outcome": _TEXT,
        "a_first": _TEXT,
        "b_first": _TEXT,
        "reasoning_a_first": _TEXT,
        "reasoning_b_first": _TEXT,
        "error_kind": _TEXT,
        "error_message": _TEXT,
        "judge_model": _TEXT,
        "judge_prompt": _TEXT,
        "judge_tokens": _COUNT,
        "judge_cost_usd": _FLOAT,
        "digest": _TEXT,
        "judge_agreement": _FLOAT,
        "votes": pa.list_(_VOTE),
    },
    metadata=ITEM_SCHEMA.metadata,
)
"""One row per pair of answers. `outcome` is ``a``, ``b``, ``tie`` or ``error``; `a_first` and `b_first` are what was said (``a``,
``b``, ``tie``) with that answer in the first place, null where nobody was asked. `digest` stands for all that was compared.

Where several votes made the verdict, `votes` has each of them (``error`` is one that was not given), `a_first` and `b_first` are
null, and the reasoning is that of the first vote for the outcome. `judge_agreement` is the share of the models, or of a single
one's votes, that say what the outcome does."""

CALIBRATION_SCHEMA = pa.schema(
    {
        "calibration_id": _TEXT,
        "calibrated_at": _MOMENT,
        "benchmark_id": _TEXT,
        "benchmark_version": _TEXT,
        "benchmark_digest": _TEXT,
        "model": _TEXT,
        "prompt": _TEXT,
        "run_id": _TEXT,
        "labels": _COUNT,
        "tasks": _COUNT,
        "unjudged": _COUNT,
        "table": pa.list_(pa.list_(_COUNT)),
        **{f"{name}{part}": _FLOAT for name in ESTIMATES for part in ("", "_lower", "_upper")},
        **{f"{name}_method": _TEXT for name in ESTIMATES},
        "level": _FLOAT,
        "positive_size": _FLOAT,
        "negative_size": _FLOAT,
        "human_pass_rate": _FLOAT,
        "judge_pass_rate": _FLOAT,
    },
    metadata=ITEM_SCHEMA.metadata,
)
"""One row per calibration; see `core.calibration.Calibration`. The one that holds is the last of its judge and benchmark."""


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
