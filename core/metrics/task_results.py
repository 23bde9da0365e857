"""Item rows as the reports show them: input, expectation, output, and the reasons for the score."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from eval_skills.core.documents.loading import validate
from eval_skills.core.metrics.item_table import STATUSES, ItemTable
from eval_skills.core.models import Benchmark, EvalTask, TaskResult

Decoder = Callable[[Any], Any]


def task_results_of(table: ItemTable, rows: slice, benchmark: Benchmark) -> list[TaskResult]:
    """The items of one skill, by the benchmark's order of tasks and run; what a row does not know stays at its default.

    Raises:
        InputError: a value of the row does not fit the field of its name.
    """
    asked = {task.id: {"input": task.input_data, "expected": _expectation(task)} for task in benchmark.tasks}
    tags = {task.id: task.tags for task in benchmark.tasks}
    return [
        validate(TaskResult, {"tags": tags.get(row["task_id"], []), **asked.get(row["task_id"], {}), **row}, source="items")
        for row in _rows(table, rows)
    ]


def known_list(value: Any) -> list[Any] | None:
    """A cell that holds a list, in whichever of the shapes that Parquet, DuckDB and pandas give it; None where unknown."""
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else None


def _expectation(task: EvalTask) -> Any:
    """What was written of ``expectedOutput``, else of ``expected``; None where neither is given."""
    expected = task.expected_output or task.expected
    return None if expected is None else expected.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _rows(table: ItemTable, rows: slice) -> Iterator[dict[str, Any]]:
    """The known cells of each item, under the names of `TaskResult`."""
    frame = table.frame.iloc[table.order[rows]]
    columns = {name: frame[name].tolist() for name in ("score", "latency_ms")}
    decoded = {name: frame[name].tolist() for name in _DECODERS if name in frame}
    for index, (task, run, status) in enumerate(
        zip(table.task[rows].tolist(), frame["run_index"].tolist(), table.status[rows].tolist(), strict=True)
    ):
        row = {"task_id": table.tasks[task], "run_index": int(run), "status": STATUSES[status], "passed": status == 0}
        for name, values in columns.items():
            row[name] = _number(values[index])
        for name, values in decoded.items():
            if (value := _DECODERS[name](values[index])) is not None:
                row[name] = value
        yield row


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _whole_number(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def known_mapping(value: Any) -> dict[str, float] | None:
    """A cell that holds a map, which Arrow gives as a dict or as a list of pairs; None where unknown."""
    if isinstance(value, Mapping):
        return dict(value)
    pairs = known_list(value)
    return None if pairs is None else dict(pairs)


def _reasons(value: Any) -> list[dict[str, Any]] | None:
    reasons = known_list(value)
    if reasons is None:
        return None
    return [{key: part for key, part in dict(reason).items() if part is not None} for reason in reasons]


def _attempts(value: Any) -> int | None:
    attempts = known_list(value)
    if attempts is None:
        return _whole_number(value) if isinstance(value, (int, float)) else None
    return max(1, len(attempts))


def _output(value: Any) -> Any:
    """JSON text as what it stands for; text that was cut to its limit, and so no longer is JSON, stays text."""
    if not isinstance(value, str):
        return None if isinstance(value, float) and value != value else value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _texts(value: Any) -> list[str] | None:
    texts = known_list(value)
    return None if texts is None else [str(text) for text in texts]


def _messages(value: Any) -> list[Any] | None:
    messages = _output(value)
    return known_list(messages)


def _tool_calls(value: Any) -> list[dict[str, Any]] | None:
    calls = known_list(value)
    if calls is None:
        return None
    return [{**dict(call), "arguments": _output(call["arguments"]), "result": _output(call["result"])} for call in calls]


_DECODERS: dict[str, Decoder] = {
    "scorer": _text,
    "dimensions": known_mapping,
    "reasons": _reasons,
    "attempts": _attempts,
    "error_kind": _text,
    "error_message": _text,
    "output": _output,
    "tags": _texts,
    "prompt_tokens": _whole_number,
    "completion_tokens": _whole_number,
    "cost_usd": _number,
    "task_run_id": _text,
    "tool_calls": _tool_calls,
    "messages": _messages,
    "time_to_first_token_ms": _number,
}
