"""The columns of every table of the store, as explicit Arrow schemas.

A column is only ever added at the end. The version rises whenever a column is added or changes its meaning; files of older
versions stay readable, with nulls in the columns they lack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from eval_skills.core.models.dimensions import DIMENSIONS

if TYPE_CHECKING:
    from eval_skills.core.store.layout import TableName

SCHEMA_VERSION = "11"
VERSION_KEY = b"eval_skills.schema_version"
ESTIMATES = ("accuracy", "kappa", "weighted_kappa", "spearman", "sensitivity", "specificity")
"""The figures of a calibration that have an interval."""

_TEXT, _FLOAT, _COUNT = pa.string(), pa.float64(), pa.int64()
_MOMENT = pa.timestamp("us", tz="UTC")
_DIMENSIONS = " ".join(DIMENSIONS)


def _schema(*columns: tuple[pa.DataType, str]) -> pa.Schema:
    """The columns in this order, each run of columns of one type with their names."""
    fields = {name: kind for kind, names in columns for name in names.split()}
    return pa.schema(fields, metadata={VERSION_KEY: SCHEMA_VERSION.encode()})


REASON = pa.struct(_schema((_TEXT, "code message where"), (pa.bool_(), "informational")))
ATTEMPT = pa.struct(
    _schema((_MOMENT, "started_at"), (_FLOAT, "latency_ms"), (_TEXT, "error_kind"), (_FLOAT, "cost_usd"), (_COUNT, "tokens"))
)
DIMENSION = pa.struct(_schema((_FLOAT, "mean"), (_COUNT, "items")))
TOOL_CALL = pa.struct(_schema((_TEXT, "name arguments id result error")))
"""`arguments` and `result` are JSON text."""

TURN = pa.struct(
    _schema(
        (pa.int32(), "turn"),
        (_TEXT, "input output"),
        (pa.bool_(), "output_truncated"),
        (_TEXT, "status"),
        (_FLOAT, "score"),
        (pa.bool_(), "passed"),
        (_TEXT, "scorer"),
        (pa.map_(_TEXT, _FLOAT), "dimensions"),
        (pa.list_(REASON), "reasons"),
        (_FLOAT, "latency_ms"),
        (_TEXT, "error_kind error_message messages"),
        (pa.list_(TOOL_CALL), "tool_calls"),
        (_COUNT, "prompt_tokens completion_tokens"),
        (_FLOAT, "cost_usd time_to_first_token_ms"),
        (_TEXT, "content finish_reason"),
    )
)
"""One turn of a conversation, counted from 1; `input`, `output`, `messages` and `content` are JSON text. `status`, `score` and
`passed` are null where it was not judged."""

_VOTE = pa.struct(
    _schema(
        (_TEXT, "model"),
        (pa.int32(), "number"),
        (_TEXT, "outcome a_first b_first reasoning_a_first reasoning_b_first error_message"),
    )
)

ITEM_SCHEMA = _schema(
    (_TEXT, "run_id flow_run_id task_run_id"),
    (_MOMENT, "started_at"),
    (_TEXT, "skill_id skill_version skill_digest benchmark_id benchmark_version benchmark_digest task_id task_digest"),
    (pa.list_(_TEXT), "tags"),
    (_TEXT, "complexity"),
    (_FLOAT, "weight"),
    (pa.int32(), "run_index"),
    (_TEXT, "status"),
    (_FLOAT, "score"),
    (pa.bool_(), "passed"),
    (_TEXT, "scorer"),
    (pa.map_(_TEXT, _FLOAT), "dimensions"),
    (pa.list_(REASON), "reasons"),
    (_FLOAT, "latency_ms"),
    (pa.list_(ATTEMPT), "attempts"),
    (_TEXT, "error_kind error_message output"),
    (pa.bool_(), "output_truncated"),
    (_TEXT, "messages"),
    (pa.list_(TOOL_CALL), "tool_calls"),
    (_COUNT, "prompt_tokens completion_tokens"),
    (_FLOAT, "cost_usd"),
    (_COUNT, "judge_tokens"),
    (_FLOAT, "judge_cost_usd"),
    (_TEXT, "origin"),
    (_FLOAT, f"timeout_ms {_DIMENSIONS}"),
    (_COUNT, "forbidden_tools_called"),
    (_FLOAT, "time_to_first_token_ms judge_agreement"),
    (pa.bool_(), "forbidden_unknown"),
    (pa.list_(pa.string()), "earlier_calls"),
    (_TEXT, "content finish_reason"),
    (_COUNT, "judge_requests"),
    (pa.list_(TURN), "turns"),
    (_COUNT, "user_requests user_tokens"),
    (_FLOAT, "user_cost_usd"),
    (_TEXT, "user_stopped files"),
    (pa.list_(_TEXT), "skills_loaded"),
    (_COUNT, "steps"),
    (_TEXT, "scoring_digest"),
)
"""One row per item. Rates in [0, 1], times in ms, moments in UTC; `output`, `messages`, `content` and `files` are JSON text,
null where absent.

The dimensions that have a column of their own stand in `dimensions` too; null is not configured, or not scored.
`judge_agreement`, in [0, 1], is the share of a panel's members that decided as the panel did; null where no panel judged.
`turns` are those of a conversation, null for any other item; `output_truncated` says of these, too, that an output was cut.
`user_requests`, `user_tokens` and `user_cost_usd` are what a model that played the user was paid, apart from the skill and from
judging; `user_stopped` is ``done`` or ``max_turns``. All four are null where no model played a user. `files` is a list of
`WorkspaceFile`; it, `skills_loaded` and `steps` are null for what is not an agent, and where they are unknown.
"""

TURN_SCHEMA = _schema(
    (_TEXT, "run_id"),
    (_MOMENT, "started_at"),
    (_TEXT, "skill_id skill_version benchmark_id benchmark_version task_id"),
    (pa.int32(), "run_index"),
    *((field.type, field.name) for field in TURN),
)
"""One row per turn of the items that are conversations. It is built from the items' column `turns`, never stored.

`turn` counts from 1; `input`, `output`, `messages` and `content` are JSON text. `status`, `score` and `passed` are null where the
turn was not judged: nothing is expected of it, or the conversation ended in an error in a later one. The turn in which it ended
has the status ``error`` or ``timeout``.
"""

REPORT_SCHEMA = _schema(
    (_TEXT, "run_id"),
    (_MOMENT, "timestamp"),
    (_TEXT, "skill_id skill_version benchmark_id benchmark_version"),
    (_FLOAT, "completion_rate partial_score error_rate consistency_score composite_score ci_lower ci_upper ci_level"),
    (_TEXT, "ci_method"),
    (_FLOAT, "pass_at_k pass_hat_k flake_rate p50_ms p95_ms p99_ms mean_ms"),
    (_COUNT, "prompt_tokens completion_tokens"),
    (_FLOAT, "estimated_usd"),
    (_COUNT, "items tasks runs"),
    (_TEXT, "origin"),
    (_COUNT, "total_tokens passed_items failed_items error_items timeout_items"),
    (_FLOAT, f"throughput {_DIMENSIONS}"),
    (pa.map_(_TEXT, DIMENSION), "dimensions"),
    (_COUNT, "forbidden_items judge_tokens"),
    (_FLOAT, "judge_cost_usd"),
    (_COUNT, "unjudged_items missing_items"),
    (_FLOAT, "judged_completion_rate completion_upper_bound"),
    (_COUNT, "rank last_rank ranked_skills rank_lower rank_upper"),
    (_FLOAT, "adjusted_p probability_best shrunk_completion_rate"),
    (pa.bool_(), "pareto_optimal"),
    (_COUNT, "forbidden_unknown_items judge_requests user_requests user_tokens"),
    (_FLOAT, "user_cost_usd"),
    (_TEXT, "effect_of effect_arm effect_against"),
    (_FLOAT, "effect effect_lower effect_upper effect_least effect_most"),
    (_TEXT, "effect_verdict"),
    (_COUNT, "cost_unknown_items tokens_unknown_items earlier_attempts"),
    (_FLOAT, "earlier_cost_usd"),
)
"""One row per skill of a run. The interval is that of the completion rate; `throughput` is items per second of
the time in which the run worked.

The dimensions that have a column of their own are means over the items that were scored on them; `dimensions` holds these and all
others, with the number of those items. `forbidden_items` called a tool they must not call. `judge_tokens` and `judge_cost_usd`
are apart from the skill's own, and so are the columns from `user_requests` on; null is unknown, or no model was asked.
`unjudged_items` were errors of the judge; null where no model was asked. The columns from `rank` to `pareto_optimal` are those of
`core.models.Ranking`; null where the run had no other skill to rank.

The columns from `effect_of` to `effect_verdict` are those of an experiment with Agent Skills, null in any other run; see
`core.store.effects`. `cost_unknown_items` are missing in `estimated_usd`, and `tokens_unknown_items` in `total_tokens`;
`earlier_attempts`, and what is known of their cost, are in neither. Null is none, or a row of an earlier version.
"""

RUN_SCHEMA = _schema(
    (_TEXT, "run_id"),
    (_MOMENT, "started_at"),
    (_TEXT, "state benchmark"),
    (pa.list_(_TEXT), "skills"),
    (_COUNT, "planned_items landed_items"),
    (_TEXT, "git_commit flow_run_id stopped"),
)
"""One row per run; `state` is `finished` or `unfinished`, and `stopped` names the limit that left items of it (``cost limit``,
``token limit``, ``time limit``). It is built from manifests and landed files, never stored."""

COMPARISON_SCHEMA = _schema(
    (_TEXT, "comparison_id mode period"),
    (_MOMENT, "period_start period_end"),
    (_TEXT, "skill_id skill_version before_version benchmark_id benchmark_version run_id before_run_id revision"),
    (_FLOAT, "completion_rate ci_lower ci_upper ci_level"),
    (_TEXT, "ci_method"),
    (_FLOAT, "before_completion_rate completion_delta error_rate before_error_rate"),
    (_FLOAT, "p95_ms before_p95_ms composite_score before_composite_score"),
    (_COUNT, "tasks"),
    (_FLOAT, "mean_difference difference_lower difference_upper p_value adjusted_p"),
    (_TEXT, "verdict explanation"),
    (_MOMENT, "backfilled_at"),
    (_TEXT, "digest"),
    (_COUNT, "unjudged_items"),
)
"""One row per skill and benchmark of a backfilled period: its figures then, and compared with the last
period in which it ran. Of several runs in a period, the last one counts.

`mode` is that of the backfill. `tasks` are the tasks that both sides ran, paired; `mean_difference`, its interval and p are
about these alone, and so is `completion_delta` where the sides did not run the same tasks (unknown where they share none);
else it is the difference of the two completion rates. `revision` is the commit of a replay.
A period in which nothing could be evaluated has one row without a skill, whose `explanation` says why. `digest` stands for all
that went into the period. `unjudged_items`, the same in all rows of a period, are the items of its stored answers that the judge
failed; as long as there are some the next backfill asks about them again.
"""

NIGHT_SCHEMA = _schema(
    (_TEXT, "night_id"),
    (_MOMENT, "finished_at"),
    (_TEXT, "suite run_id benchmark_id skill_id skill_version verdict"),
    (pa.bool_(), "good"),
    (_FLOAT, "completion_rate"),
    (_TEXT, "last_good_run_id baseline"),
    (_FLOAT, "mean_difference adjusted_p"),
    (pa.list_(_TEXT), "moved_tasks"),
    (_FLOAT, "expected_rate observed_rate"),
    (_TEXT, "since_night_id confirm_run_id explanation rule began_night_id"),
    (pa.list_(_TEXT), "changed"),
    (_TEXT, "judge"),
)
"""One row per suite and skill of a night; a suite that could not run, or in which something else failed though its skills were
judged, has one row without a skill, verdict ``failed``; a skill that the suite had in its last night and does not have in this
one has a row with the verdict ``gone``, and no run.

`good` is the skill's: it ran, and neither regressed nor is suspect (versions before 5: no skill of the suite did). `baseline` is
the pinned one as it was given. `mean_difference` and `adjusted_p` compare with its good nights (before 5: with the last one).
`moved_tasks` are the tasks that are evidence against the skill; `expected_rate` is their completion rate before, `observed_rate`
that of their fresh runs, and `since_night_id` the night in which they first did. `explanation` is the verdict in a sentence.

Of a new regression, `rule` is the rule that fired, `began_night_id` the night from which on it holds, and `changed` what changed
then. `judge` names the models that judged the skill, with their prompts; null where none did.
"""

PREFERENCE_SCHEMA = _schema(
    (_TEXT, "comparison_id"),
    (_MOMENT, "compared_at"),
    (_TEXT, "run_a run_b skill_a version_a skill_b version_b benchmark_id benchmark_version task_id"),
    (pa.int32(), "run_index"),
    (_TEXT, "outcome a_first b_first reasoning_a_first reasoning_b_first error_kind error_message judge_model judge_prompt"),
    (_COUNT, "judge_tokens"),
    (_FLOAT, "judge_cost_usd"),
    (_TEXT, "digest"),
    (_FLOAT, "judge_agreement"),
    (pa.list_(_VOTE), "votes"),
    (_COUNT, "judge_requests"),
)
"""One row per pair of answers. `outcome` is ``a``, ``b``, ``tie`` or ``error``; `a_first` and `b_first` are the choices (``a``,
``b``, ``tie``) with that answer in the first place, null where no model was asked. `digest` stands for all that was compared.

Where several votes made the verdict, `votes` has each of them (``error`` is one that was not given), `a_first` and `b_first` are
null, and the reasoning is that of the first vote for the outcome. `judge_agreement` is the share of the models, or of a single
one's votes, that say what the outcome does."""

CALIBRATION_SCHEMA = _schema(
    (_TEXT, "calibration_id"),
    (_MOMENT, "calibrated_at"),
    (_TEXT, "benchmark_id benchmark_version benchmark_digest model prompt run_id"),
    (_COUNT, "labels tasks unjudged"),
    (pa.list_(pa.list_(_COUNT)), "table"),
    (_FLOAT, " ".join(f"{name} {name}_lower {name}_upper" for name in ESTIMATES)),
    (_TEXT, " ".join(f"{name}_method" for name in ESTIMATES)),
    (_FLOAT, "level positive_size negative_size human_pass_rate judge_pass_rate"),
)
"""One row per calibration; see `core.judging.calibration.Calibration`. The last one of a judge and benchmark is in force."""

LABEL_SCHEMA = _schema(
    (_TEXT, "labels_id"),
    (_MOMENT, "labelled_at"),
    (_TEXT, "labelled_by run_id skill_id skill_version benchmark_id benchmark_version task_id"),
    (pa.int32(), "run_index"),
    (_TEXT, "label comment status"),
    (_FLOAT, "score"),
)
"""One row for each time that a person labelled an answer: `label` is ``pass`` or ``fail``, null where the person said nothing of
that, or took it back. `status` and `score` are those that the answer had then. The last row of an item is what holds;
`labels_id` is that of the file, one for each viewer that was open."""

SAMPLE_SCHEMA = _schema(
    (_TEXT, "monitor_id monitor_run_id interaction_id"),
    (_MOMENT, "timestamp sampled_at"),
    (_TEXT, "skill_id query_preview output_preview status"),
    (_FLOAT, "score"),
    (pa.bool_(), "passed"),
    (_TEXT, "scorer"),
    (pa.map_(_TEXT, _FLOAT), "dimensions"),
    (pa.list_(REASON), "reasons"),
    (_FLOAT, "latency_ms cost_usd"),
    (_TEXT, "source"),
    (_FLOAT, "rate"),
    (_COUNT, "seed"),
    (_TEXT, "origin"),
)
"""One row per sampled interaction. The previews are at most 200 characters, redacted; `timestamp` is the interaction's own, null
where its log has none; `source` is file:line (of Parquet file:row); `status` is ``pass``, ``fail`` or ``error``."""

SCHEMAS: dict[TableName, pa.Schema] = {
    "items": ITEM_SCHEMA,
    "reports": REPORT_SCHEMA,
    "comparisons": COMPARISON_SCHEMA,
    "samples": SAMPLE_SCHEMA,
    "nights": NIGHT_SCHEMA,
    "preferences": PREFERENCE_SCHEMA,
    "calibrations": CALIBRATION_SCHEMA,
    "labels": LABEL_SCHEMA,
}
"""The tables that are stored as files, by name; `RUN_SCHEMA` is that of a view."""

DATE_FIELD = pa.field("date", pa.date32())
"""The partition: the UTC day on which the run began."""
