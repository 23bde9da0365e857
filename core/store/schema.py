"""The columns of the landed tables, as explicit Arrow schemas.

What stands in `ITEM_SCHEMA` after ``origin`` joined when the order of the others was fixed: a column is only ever added at the
end. The version rises whenever a column is added or changes its meaning; files of older versions stay
readable, with nulls in the columns they lack.
"""

from __future__ import annotations

import pyarrow as pa

from eval_skills.core.models.report import DIMENSIONS

SCHEMA_VERSION = "3"
VERSION_KEY = b"eval_skills.schema_version"

_TEXT, _FLOAT, _COUNT = pa.string(), pa.float64(), pa.int64()
_MOMENT = pa.timestamp("us", tz="UTC")
_METADATA = {VERSION_KEY: SCHEMA_VERSION.encode()}

REASON = pa.struct({"code": _TEXT, "message": _TEXT, "where": _TEXT})
ATTEMPT = pa.struct({"started_at": _MOMENT, "latency_ms": _FLOAT, "error_kind": _TEXT})
DIMENSION = pa.struct({"mean": _FLOAT, "items": _COUNT})
TOOL_CALL = pa.struct({"name": _TEXT, "arguments": _TEXT, "id": _TEXT, "result": _TEXT, "error": _TEXT})
"""`arguments` and `result` are JSON text."""

ITEM_SCHEMA = pa.schema(
    {
        "run_id": _TEXT,
        "flow_run_id": _TEXT,
        "task_run_id": _TEXT,
        "started_at": _MOMENT,
        "skill_id": _TEXT,
        "skill_version": _TEXT,
        "skill_digest": _TEXT,
        "benchmark_id": _TEXT,
        "benchmark_version": _TEXT,
        "benchmark_digest": _TEXT,
        "task_id": _TEXT,
        "task_digest": _TEXT,
        "tags": pa.list_(_TEXT),
        "complexity": _TEXT,
        "weight": _FLOAT,
        "run_index": pa.int32(),
        "status": _TEXT,
        "score": _FLOAT,
        "passed": pa.bool_(),
        "scorer": _TEXT,
        "dimensions": pa.map_(_TEXT, _FLOAT),
        "reasons": pa.list_(REASON),
        "latency_ms": _FLOAT,
        "attempts": pa.list_(ATTEMPT),
        "error_kind": _TEXT,
        "error_message": _TEXT,
        "output": _TEXT,
        "output_truncated": pa.bool_(),
        "messages": _TEXT,
        "tool_calls": pa.list_(TOOL_CALL),
        "prompt_tokens": _COUNT,
        "completion_tokens": _COUNT,
        "cost_usd": _FLOAT,
        "judge_tokens": _COUNT,
        "judge_cost_usd": _FLOAT,
        "origin": _TEXT,
        "timeout_ms": _FLOAT,
        **dict.fromkeys(DIMENSIONS, _FLOAT),
        "forbidden_tools_called": _COUNT,
        "time_to_first_token_ms": _FLOAT,
        "judge_agreement": _FLOAT,
    },
    metadata=_METADATA,
)
"""One row per item. Rates in [0, 1], times in ms, moments in UTC; `output` and `messages` are JSON text, null where absent.

The dimensions that have a column of their own stand in `dimensions` too; null is not configured, or not scored.
`judge_agreement`, in [0, 1], is the share of a panel's members that decided as the panel did; null where no panel judged.
"""

REPORT_SCHEMA = pa.schema(
    {
        "run_id": _TEXT,
        "timestamp": _MOMENT,
        "skill_id": _TEXT,
        "skill_version": _TEXT,
        "benchmark_id": _TEXT,
        "benchmark_version": _TEXT,
        "completion_rate": _FLOAT,
        "partial_score": _FLOAT,
        "error_rate": _FLOAT,
        "consistency_score": _FLOAT,
        "composite_score": _FLOAT,
        "ci_lower": _FLOAT,
        "ci_upper": _FLOAT,
        "ci_level": _FLOAT,
        "ci_method": _TEXT,
        "pass_at_k": _FLOAT,
        "pass_hat_k": _FLOAT,
        "flake_rate": _FLOAT,
        "p50_ms": _FLOAT,
        "p95_ms": _FLOAT,
        "p99_ms": _FLOAT,
        "mean_ms": _FLOAT,
        "prompt_tokens": _COUNT,
        "completion_tokens": _COUNT,
        "estimated_usd": _FLOAT,
        "items": _COUNT,
        "tasks": _COUNT,
        "runs": _COUNT,
        "origin": _TEXT,
        "total_tokens": _COUNT,
        "passed_items": _COUNT,
        "failed_items": _COUNT,
        "error_items": _COUNT,
        "timeout_items": _COUNT,
        "throughput": _FLOAT,
        **dict.fromkeys(DIMENSIONS, _FLOAT),
        "dimensions": pa.map_(_TEXT, DIMENSION),
        "forbidden_items": _COUNT,
        "judge_tokens": _COUNT,
        "judge_cost_usd": _FLOAT,
        "unjudged_items": _COUNT,
    },
    metadata=_METADATA,
)
"""One row per skill of a run. The interval is that of the completion rate; `throughput` is items per second.

The dimensions that have a column of their own are means over the items that were scored on them; `dimensions` holds these and all
others, with the number of those items. `forbidden_items` called a tool they must not call. `judge_tokens` and `judge_cost_usd`
are apart from the skill's own; null is unknown, or no model was asked. `unjudged_items` were errors of the judge; null where no
model was asked.
"""

RUN_SCHEMA = pa.schema(
    {
        "run_id": _TEXT,
        "started_at": _MOMENT,
        "state": _TEXT,
        "benchmark": _TEXT,
        "skills": pa.list_(_TEXT),
        "planned_items": _COUNT,
        "landed_items": _COUNT,
        "git_commit": _TEXT,
        "flow_run_id": _TEXT,
    },
    metadata=_METADATA,
)
"""One row per run; `state` is `finished` or `unfinished`. It is put together from manifests and landed files, never stored."""

COMPARISON_SCHEMA = pa.schema(
    {
        "comparison_id": _TEXT,
        "mode": _TEXT,
        "period": _TEXT,
        "period_start": _MOMENT,
        "period_end": _MOMENT,
        "skill_id": _TEXT,
        "skill_version": _TEXT,
        "before_version": _TEXT,
        "benchmark_id": _TEXT,
        "benchmark_version": _TEXT,
        "run_id": _TEXT,
        "before_run_id": _TEXT,
        "revision": _TEXT,
        "completion_rate": _FLOAT,
        "ci_lower": _FLOAT,
        "ci_upper": _FLOAT,
        "ci_level": _FLOAT,
        "ci_method": _TEXT,
        "before_completion_rate": _FLOAT,
        "completion_delta": _FLOAT,
        "error_rate": _FLOAT,
        "before_error_rate": _FLOAT,
        "p95_ms": _FLOAT,
        "before_p95_ms": _FLOAT,
        "composite_score": _FLOAT,
        "before_composite_score": _FLOAT,
        "tasks": _COUNT,
        "mean_difference": _FLOAT,
        "difference_lower": _FLOAT,
        "difference_upper": _FLOAT,
        "p_value": _FLOAT,
        "adjusted_p": _FLOAT,
        "verdict": _TEXT,
        "explanation": _TEXT,
        "backfilled_at": _MOMENT,
        "digest": _TEXT,
        "unjudged_items": _COUNT,
    },
    metadata=_METADATA,
)
"""One row per skill and benchmark of a backfilled period: how it stood then, and against the period before in which it ran.

`mode` is that of the backfill. `tasks` are the tasks that both sides ran, paired; `mean_difference`, its interval and p are
about these alone, where `completion_delta` is the difference of the two completion rates. `revision` is the commit of a replay.
A period in which nothing could be evaluated has one row without a skill, whose `explanation` says why. `digest` stands for all
that went into the period. `unjudged_items`, the same in all rows of a period, are the items of its stored answers that the judge
failed; as long as there are some the next backfill asks about them again.
"""

NIGHT_SCHEMA = pa.schema(
    {
        "night_id": _TEXT,
        "finished_at": _MOMENT,
        "suite": _TEXT,
        "run_id": _TEXT,
        "benchmark_id": _TEXT,
        "skill_id": _TEXT,
        "skill_version": _TEXT,
        "verdict": _TEXT,
        "good": pa.bool_(),
        "completion_rate": _FLOAT,
        "last_good_run_id": _TEXT,
        "baseline": _TEXT,
        "mean_difference": _FLOAT,
        "adjusted_p": _FLOAT,
        "moved_tasks": pa.list_(_TEXT),
        "expected_rate": _FLOAT,
        "observed_rate": _FLOAT,
        "since_night_id": _TEXT,
        "confirm_run_id": _TEXT,
        "explanation": _TEXT,
    },
    metadata=_METADATA,
)
"""One row per suite and skill of a night; a suite that could not run has one row without a skill, verdict ``failed``.

`good` is the suite's: no run failed in it, and no skill of it regressed or is suspect. `baseline` is the pinned one as it was
given. `mean_difference` and `adjusted_p` compare with the run of the last good night. `moved_tasks` are the tasks that speak
against the skill; `expected_rate` is their completion rate before, `observed_rate` that of their fresh runs, and
`since_night_id` the night in which they first did. `explanation` is the verdict in a sentence.
"""

DATE_FIELD = pa.field("date", pa.date32())
"""The partition: the UTC day on which the run began."""
