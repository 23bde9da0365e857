from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from eval_skills.core.models import ItemResult
from eval_skills.core.models.dimensions import DIMENSIONS
from eval_skills.core.store.schema import ITEM_SCHEMA, REPORT_SCHEMA, RUN_SCHEMA, SCHEMA_VERSION, VERSION_KEY

ITEM_COLUMNS = """
run_id flow_run_id task_run_id started_at skill_id skill_version skill_digest benchmark_id benchmark_version benchmark_digest
task_id task_digest tags complexity weight run_index status score passed scorer dimensions reasons latency_ms attempts error_kind
error_message output output_truncated messages tool_calls prompt_tokens completion_tokens cost_usd judge_tokens judge_cost_usd
origin timeout_ms tool_accuracy sequence_correctness output_quality hallucination forbidden_tools_called
time_to_first_token_ms judge_agreement forbidden_unknown earlier_calls content finish_reason
judge_requests turns
user_requests user_tokens user_cost_usd user_stopped
files skills_loaded steps scoring_digest
"""
REPORT_COLUMNS = """
run_id timestamp skill_id skill_version benchmark_id benchmark_version completion_rate partial_score error_rate consistency_score
composite_score ci_lower ci_upper ci_level ci_method pass_at_k pass_hat_k flake_rate p50_ms p95_ms p99_ms mean_ms prompt_tokens
completion_tokens estimated_usd items tasks runs origin total_tokens passed_items failed_items error_items timeout_items
throughput tool_accuracy sequence_correctness output_quality hallucination dimensions forbidden_items
judge_tokens judge_cost_usd unjudged_items missing_items judged_completion_rate completion_upper_bound
rank last_rank ranked_skills rank_lower rank_upper adjusted_p probability_best shrunk_completion_rate pareto_optimal
forbidden_unknown_items judge_requests user_requests user_tokens user_cost_usd
effect_of effect_arm effect_against effect effect_lower effect_upper effect_least effect_most
effect_verdict
cost_unknown_items tokens_unknown_items earlier_attempts earlier_cost_usd
"""


def test_item_columns_keep_their_order() -> None:
    assert ITEM_SCHEMA.names == ITEM_COLUMNS.split()


def test_report_columns_keep_their_order() -> None:
    assert REPORT_SCHEMA.names == REPORT_COLUMNS.split()


def test_every_field_of_a_result_has_a_column() -> None:
    derived = {"output_truncated", *DIMENSIONS, "forbidden_tools_called"}
    assert set(ItemResult.model_fields) | derived == set(ITEM_SCHEMA.names)


def test_nested_columns_have_the_documented_types() -> None:
    assert str(ITEM_SCHEMA.field("started_at").type) == "timestamp[us, tz=UTC]"
    assert str(ITEM_SCHEMA.field("run_index").type) == "int32"
    assert ITEM_SCHEMA.field("dimensions").type.item_type == "double"
    assert [field.name for field in ITEM_SCHEMA.field("reasons").type.value_type] == ["code", "message", "where", "informational"]
    attempts = ["started_at", "latency_ms", "error_kind", "cost_usd", "tokens"]
    assert [field.name for field in ITEM_SCHEMA.field("attempts").type.value_type] == attempts
    assert [field.name for field in ITEM_SCHEMA.field("tool_calls").type.value_type] == [
        "name",
        "arguments",
        "id",
        "result",
        "error",
    ]


def test_the_schema_version_survives_in_the_file(tmp_path: Path) -> None:
    for schema in (ITEM_SCHEMA, REPORT_SCHEMA, RUN_SCHEMA):
        pq.write_table(schema.empty_table(), tmp_path / "x.parquet")
        assert pq.read_schema(tmp_path / "x.parquet").metadata[VERSION_KEY] == SCHEMA_VERSION.encode()
