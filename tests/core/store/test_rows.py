from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_skills.core.models import Attempt, ItemResult, Model, Reason, ToolCall, WorkspaceFile
from eval_skills.core.store.rows import MAX_OUTPUT_BYTES, capped_json, results_of, row_of, table_of
from eval_skills.core.store.schema import ITEM_SCHEMA

M = TypeVar("M", bound=Model)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
RATE = st.floats(0, 1)
MOMENT = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
COUNT = st.none() | st.integers(0, 2**63 - 1)
KIND = st.sampled_from([None, "skill", "contract", "infra", "scorer", "judge", "timeout"])
AMOUNT = st.none() | st.floats(0, 1e12)


def made(model: type[M], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[M]:
    """Models from the named fields; `st.builds` would guess the others by their aliases."""
    return st.fixed_dictionaries(fields).map(lambda given_fields: model(**given_fields))


RESULTS = made(
    ItemResult,
    run_id=TEXT,
    flow_run_id=st.none() | TEXT,
    started_at=MOMENT,
    skill_id=TEXT,
    skill_version=TEXT,
    benchmark_id=TEXT,
    benchmark_version=TEXT,
    task_id=TEXT,
    tags=st.lists(TEXT, max_size=3),
    complexity=st.none() | TEXT,
    weight=st.floats(0, 1e6),
    run_index=st.integers(0, 2**31 - 1),
    status=st.sampled_from(["pass", "fail", "error", "timeout"]),
    score=st.none() | RATE,
    passed=st.booleans(),
    dimensions=st.dictionaries(TEXT, RATE, max_size=3),
    reasons=st.lists(made(Reason, code=TEXT, message=TEXT, where=TEXT), max_size=2),
    latency_ms=AMOUNT,
    timeout_ms=st.none() | st.floats(0.001, 1e9),
    time_to_first_token_ms=AMOUNT,
    judge_agreement=st.none() | RATE,
    attempts=st.lists(made(Attempt, started_at=MOMENT, latency_ms=AMOUNT, error_kind=KIND), max_size=2),
    error_kind=KIND,
    output=JSON,
    content=st.none() | st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2),
    finish_reason=st.none() | TEXT,
    messages=st.none() | st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2),
    tool_calls=st.none()
    | st.lists(made(ToolCall, name=TEXT, arguments=JSON, id=st.none() | TEXT, result=JSON, error=st.none() | TEXT), max_size=2),
    prompt_tokens=COUNT,
    cost_usd=AMOUNT,
    files=st.none() | st.lists(made(WorkspaceFile, path=TEXT, change=st.just("added"), content=st.none() | TEXT), max_size=2),
    skills_loaded=st.none() | st.lists(TEXT, max_size=2),
    steps=COUNT,
    origin=TEXT,
)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(st.lists(RESULTS, max_size=4))
def test_results_come_back_from_a_table_as_they_were(results: list[ItemResult]) -> None:
    table = table_of(results)
    assert table.schema.equals(ITEM_SCHEMA, check_metadata=True)
    assert results_of(table) == results


@given(JSON | st.text(st.characters(exclude_categories=["Cs"])), st.integers(2, 60))
def test_capped_json_is_json_within_the_cap(value: Any, cap: int) -> None:
    text, truncated = capped_json(value, cap)
    whole = json.loads(text)
    assert len(text.encode()) <= cap
    if truncated:
        assert isinstance(whole, str)
        assert not isinstance(value, str) or value.startswith(whole)
    else:
        assert whole == value


def test_a_long_output_is_cut_and_says_so(make_result: Callable[..., ItemResult]) -> None:
    row = row_of(make_result(output={"page": "é" * MAX_OUTPUT_BYTES}))
    assert row["output_truncated"] is True
    assert MAX_OUTPUT_BYTES - 8 <= len(row["output"].encode()) <= MAX_OUTPUT_BYTES
    assert json.loads(row["output"]).startswith('{"page":"éé')


def test_a_short_output_is_whole(make_result: Callable[..., ItemResult]) -> None:
    row = row_of(make_result(output=[1, "é"]))
    assert (row["output"], row["output_truncated"]) == ('[1,"é"]', False)


def test_a_token_count_beyond_64_bits_is_unknown(make_result: Callable[..., ItemResult]) -> None:
    assert row_of(make_result(prompt_tokens=2**63))["prompt_tokens"] is None
    assert row_of(make_result(prompt_tokens=2**63 - 1))["prompt_tokens"] == 2**63 - 1


def test_a_time_without_zone_is_utc(make_result: Callable[..., ItemResult]) -> None:
    assert row_of(make_result(started_at=datetime(2026, 1, 1)))["started_at"] == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("status", ["error", "timeout"])
def test_p29_attempts_and_the_time_of_failures_are_kept(make_result: Callable[..., ItemResult], status: str) -> None:
    tries = [
        Attempt(started_at=datetime(2026, 1, 1, tzinfo=UTC), latency_ms=31.0, error_kind="infra"),
        Attempt(started_at=datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC), latency_ms=29.0, error_kind="timeout"),
    ]
    result = make_result(status=status, passed=False, score=None, latency_ms=29.0, attempts=tries)
    (back,) = results_of(pa.Table.from_batches(table_of([result]).to_batches()))
    assert back.latency_ms == 29.0
    assert back.attempts == tries
