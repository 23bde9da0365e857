from __future__ import annotations

import json
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.metrics.item_table import Columns, item_table
from eval_skills.core.metrics.tasks import expectation_of, task_results_of
from eval_skills.core.models import Benchmark, EvalTask, TaskResult
from eval_skills.core.statistics.rates import IntArray
from tests.tables import each_row

BENCHMARK = Benchmark.model_validate(
    {
        "id": "b",
        "name": "B",
        "version": "1.0.0",
        "tasks": [
            {"id": "two", "inputData": {"q": 2}, "expected": {"tools": ["search"]}, "tags": ["agent"]},
            {"id": "one", "inputData": {"q": 1}, "expectedOutput": {"type": "exact", "value": None}},
        ],
    }
)
ROW: dict[str, Any] = {
    "skill_id": "s",
    "skill_version": "1.0.0",
    "task_id": "one",
    "run_index": 0,
    "status": "fail",
    "score": 0.5,
    "latency_ms": 12.5,
}
FULL: dict[str, Any] = {
    "scorer": "exact_match",
    "dimensions": {"output_quality": 0.5},
    "reasons": [{"code": "NOT_EQUAL", "message": "2 is not 1", "where": None}],
    "attempts": [{"started_at": datetime(2026, 1, 1, tzinfo=UTC)}, {"started_at": datetime(2026, 1, 1, tzinfo=UTC)}],
    "error_kind": None,
    "error_message": None,
    "output": '{"answer": 2}',
    "tags": ["t"],
    "prompt_tokens": 3.0,
    "completion_tokens": None,
    "cost_usd": 0.25,
    "task_run_id": "abc",
}


def results(*rows: dict[str, Any]) -> list[TaskResult]:
    table = item_table(pd.DataFrame(list(rows)), [task.id for task in BENCHMARK.tasks])
    return task_results_of(table, slice(0, len(rows)), BENCHMARK)


def test_a_full_row_is_shown_in_full() -> None:
    assert [result.to_json() for result in results({**ROW, **FULL})] == [
        {
            "taskId": "one",
            "runIndex": 0,
            "status": "fail",
            "score": 0.5,
            "passed": False,
            "scorer": "exact_match",
            "dimensions": {"output_quality": 0.5},
            "reasons": [{"code": "NOT_EQUAL", "message": "2 is not 1", "where": "", "informational": False}],
            "latencyMs": 12.5,
            "attempts": 2,
            "errorKind": None,
            "errorMessage": None,
            "input": {"q": 1},
            "expected": {"type": "exact", "value": None},
            "output": {"answer": 2},
            "tags": ["t"],
            "promptTokens": 3,
            "completionTokens": None,
            "costUsd": 0.25,
            "taskRunId": "abc",
        }
    ]


def test_a_bare_row_is_shown_with_what_is_known() -> None:
    (result,) = results({**ROW, "task_id": "two", "status": "timeout", "score": None, "latency_ms": None})
    assert (result.status, result.passed, result.score, result.latency_ms) == ("timeout", False, None, None)
    assert (result.input, result.expected, result.tags) == ({"q": 2}, {"tools": ["search"]}, ["agent"])
    assert (result.output, result.attempts, result.scorer) == (None, 1, None)


def test_a_task_that_the_benchmark_no_longer_has_is_kept() -> None:
    (result,) = results({**ROW, "task_id": "gone"})
    assert (result.task_id, result.input, result.expected) == ("gone", None, None)


def test_tasks_come_in_the_benchmarks_order_then_by_run() -> None:
    rows = [{**ROW, "task_id": task, "run_index": run} for task in ("gone", "one", "two") for run in (10, 2)]
    assert [(result.task_id, result.run_index) for result in results(*rows)] == [
        ("two", 2),
        ("two", 10),
        ("one", 2),
        ("one", 10),
        ("gone", 2),
        ("gone", 10),
    ]


@each_row(
    ("column", "value", "field", "expected"),
    [
        pytest.param("dimensions", [("a", 0.5)], "dimensions", {"a": 0.5}, id="map-as-pairs"),
        pytest.param("dimensions", np.array([("a", 1.0)], dtype=object), "dimensions", {"a": 1.0}, id="map-as-array-of-pairs"),
        pytest.param("dimensions", None, "dimensions", {}, id="map-unknown"),
        pytest.param("tags", np.array(["x", "y"]), "tags", ["x", "y"], id="list-as-array"),
        pytest.param("attempts", np.array([], dtype=object), "attempts", 1, id="no-attempts-recorded"),
        pytest.param("attempts", 3, "attempts", 3, id="attempts-as-a-number"),
        pytest.param("output", '{"cut": "of', "output", '{"cut": "of', id="truncated-output-stays-text"),
        pytest.param("output", '"text"', "output", "text", id="text-output"),
        pytest.param("output", "[" * 100_000, "output", "[" * 100_000, id="output-too-deep-to-read"),
        pytest.param("output", None, "output", None, id="no-output"),
        pytest.param("error_message", float("nan"), "error_message", None, id="text-unknown"),
        pytest.param("prompt_tokens", float("nan"), "prompt_tokens", None, id="number-unknown"),
    ],
)
def test_cells_as_parquet_duckdb_and_pandas_give_them(column: str, value: Any, field: str, expected: Any) -> None:
    (result,) = results({**ROW, column: value})
    assert getattr(result, field) == expected


def test_items_survive_parquet(tmp_path: Any) -> None:
    frame = pd.DataFrame([{**ROW, **FULL}, {**ROW, "run_index": 1, "status": "error", "score": None}])
    frame.to_parquet(tmp_path / "items.parquet")
    table = item_table(pd.read_parquet(tmp_path / "items.parquet"), ["two", "one"])
    stored = task_results_of(table, slice(0, 2), BENCHMARK)
    assert stored[0] == results({**ROW, **FULL})[0]
    assert (stored[1].status, stored[1].score, stored[1].reasons, stored[1].dimensions) == ("error", None, [], {})


def test_a_cell_that_fits_no_field_is_refused() -> None:
    with pytest.raises(InputError, match="dimensions"):
        results({**ROW, "dimensions": {"a": 7.0}})


def test_calls_messages_and_the_first_token_are_read_from_the_rows_of_a_store() -> None:
    call = {"name": "search", "arguments": '{"q": 1}', "id": "c1", "result": None, "error": "refused"}
    row = {**ROW, "tool_calls": np.array([call], dtype=object), "messages": '[{"role": "user"}]', "time_to_first_token_ms": 3.5}
    [found] = task_results_of(item_table(pd.DataFrame([row]), []), slice(0, 1), BENCHMARK)
    assert found.tool_calls is not None
    assert [call.to_json() for call in found.tool_calls] == [{**call, "arguments": {"q": 1}}]
    assert found.messages == [{"role": "user"}]
    assert found.time_to_first_token_ms == 3.5


def test_unknown_calls_stay_unknown() -> None:
    row = {**ROW, "tool_calls": None, "messages": None, "time_to_first_token_ms": None}
    [found] = task_results_of(item_table(pd.DataFrame([row]), []), slice(0, 1), BENCHMARK)
    assert (found.tool_calls, found.messages, found.time_to_first_token_ms) == (None, None, None)


def test_whole_rows_may_come_from_elsewhere_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.core.metrics.tasks._ROWS_AT_ONCE", 2)
    rows = [
        {"skill_id": "s", "skill_version": "1.0.0", "task_id": task, "run_index": run, "status": "pass", "score": 1.0,
         "latency_ms": 1.0, "output": json.dumps(f"{task}{run}")}
        for run in range(2) for task in ("c", "b", "a")
    ]  # fmt: skip
    frame, asked_for = pd.DataFrame(rows), []

    def whole(positions: IntArray, names: Collection[str]) -> Columns:
        asked_for.append(len(positions))
        return {name: frame[name].iloc[positions].tolist() for name in names if name in frame}

    table = item_table(frame.drop(columns="output"), [], whole)
    found = task_results_of(table, slice(1, 6), BENCHMARK)
    assert [each.output for each in found] == ["a1", "b0", "b1", "c0", "c1"]
    assert asked_for == [2, 2, 1]


@each_row(
    ("task", "shown"),
    [
        pytest.param({"expectedOutput": {"value": 5}, "evaluator": "exact"}, {"value": 5}, id="output"),
        pytest.param({"expected": {"tools": ["a"]}}, {"tools": ["a"]}, id="agent"),
        pytest.param(
            {"evaluator": {"type": "contains", "keywords": ["x"]}},
            {"evaluator": {"type": "contains", "keywords": ["x"]}},
            id="evaluator",
        ),
        pytest.param(
            {"combine": "any", "evaluators": [{"type": "exact", "value": 1}, {"type": "exact", "value": 2}]},
            {"combine": "any", "evaluators": [{"type": "exact", "value": 1}, {"type": "exact", "value": 2}]},
            id="evaluators",
        ),
        pytest.param({"thresholds": {"maxLatency": 10}}, None, id="limits-alone"),
    ],
)
def test_what_is_expected_is_shown_wherever_it_is_written(task: dict[str, Any], shown: Any) -> None:
    assert expectation_of(EvalTask.model_validate({"id": "t", "inputData": {}, **task})) == shown
