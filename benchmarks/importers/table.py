"""Any table, whose columns are our keys or are mapped to them."""

from __future__ import annotations

from math import isfinite
from typing import Any

from eval_skills.benchmarks.importers.rows import Row, Skip, Task
from eval_skills.benchmarks.importers.source import Source
from eval_skills.core.models import EvalTask
from eval_skills.core.models.base import known_keys
from eval_skills.core.models.expectation import Expected
from eval_skills.core.text import excerpt, nearest

TARGETS = ("id", "description", "input", "expected", "tags", "complexity", "weight", "timeoutMs", "evaluator")
"""What a column may be, beside ``input.NAME``, ``metadata.NAME`` and the parts of what is expected."""

_EXPECTED = {"keywords": "contains", "patterns": "regex", "schema": "json_schema", "criteria": "llm_judge"}
"""The parts of ``expectedOutput`` that a column may be, and the scorer that goes by each."""

EXPECTING = frozenset(
    {"expectedOutput", "expected_output", "evaluator", "evaluators", "expected", "checks", "thresholds", "turns", "user"}
)
"""Keys of a task by which something is expected of its answer, or of those of its turns."""

_LISTS = ("keywords", "patterns", "criteria")
_TASK_KEYS = known_keys(EvalTask)
_OBJECTS = _TASK_KEYS - {*TARGETS, "timeout_ms"}


def is_ours(keys: frozenset[str]) -> bool:
    """Whether the columns are those of a table of ours."""
    return bool(keys) and all(_refusal(key) is None for key in keys) and any(key.partition(".")[0] in _ASKED for key in keys)


_ASKED = ("input", "inputData", "input_data")


def table_task(row: Row, _: Source) -> Task:
    """The task of a row; empty cells say nothing.

    Raises:
        InputError: a column is not one of ours, or a cell cannot be read.
        Skip: nothing is expected of the answer.
    """
    task: Task = {}
    for key in row.data:
        if (refusal := _refusal(key)) is not None:
            raise row.refusal(refusal, key)
        if row.has(key) or key.startswith("input."):  # what is asked has the same parts in every task
            _put(task, key, row)
    expected = task.get("expectedOutput")
    if isinstance(expected, dict) and "type" not in expected and "value" not in expected and "evaluator" not in task:
        expected["type"] = next(scorer for part, scorer in _EXPECTED.items() if part in expected)
    if not task.keys() & EXPECTING:
        raise Skip("nothing is expected of the answer (the cells are empty)")
    return task


def _refusal(key: str) -> str | None:
    """Why this cannot be a column; None where it can."""
    head, dot, rest = key.partition(".")
    if (head in ("input", "metadata") and rest) or (head == "expected" and rest in _EXPECTED):
        return None
    if not dot and (key in TARGETS or key in _TASK_KEYS):
        return None
    if head == "expected" and dot:
        return f"unknown part {rest!r}{nearest(rest, _EXPECTED)} of what is expected; known are {', '.join(_EXPECTED)}"
    known = ", ".join((*TARGETS, "input.NAME", "metadata.NAME", *(f"expected.{part}" for part in _EXPECTED)))
    return f"{key!r} is not a key of a task{nearest(key, TARGETS)}; say what the columns are with --map (known: {known})"


def _put(task: Task, key: str, row: Row) -> None:
    head, _, rest = key.partition(".")
    value = row.data[key]
    if head == "input":
        _put_input(task, rest, value, row, key)
    elif head == "metadata" and rest:
        task.setdefault("metadata", {})[rest] = value
    elif head == "expected" and rest:
        part = _listed(row, key) if rest in _LISTS else row.mapping(key)
        task.setdefault("expectedOutput", {})[rest] = part
    elif key == "expected" and not _is_expected(value):
        task.setdefault("expectedOutput", {})["value"] = value
    else:
        task[key] = _own_value(row, key)


def _put_input(task: Task, name: str, value: Any, row: Row, key: str) -> None:
    there = task.setdefault("inputData", {} if name else value)
    if not name:
        if there is not value:
            raise row.refusal("the whole input is given beside its parts; keep one", key)
        return
    if not isinstance(there, dict):
        raise row.refusal("the whole input is given beside its parts; keep one", key)
    *folders, last = name.split(".")
    for part in folders:
        there = there.setdefault(part, {})
        if not isinstance(there, dict):
            raise row.refusal(f"{part!r} is a value and holds other values at once", key)
    there[last] = value


def _own_value(row: Row, key: str) -> Any:
    value = row.data[key]
    if key == "tags":
        return _listed(row, key)
    if not row.is_text:
        return value
    if key in _OBJECTS:
        return row.mapping(key)
    if key == "evaluator" and value.lstrip().startswith("{"):
        return row.mapping(key)
    if key == "weight":
        return _number(row, key, float)
    if key in ("timeoutMs", "timeout_ms"):
        return _number(row, key, int)
    return value


def _number(row: Row, key: str, kind: type[int] | type[float]) -> float:
    try:
        number = kind(row.data[key])
        if isfinite(number):
            return number
        raise ValueError("not finite")
    except ValueError:
        words = "a whole number" if kind is int else "a finite number"
        raise row.refusal(f"give {words}; got {excerpt(row.data[key], 80)}", key) from None


def _listed(row: Row, key: str) -> list[Any]:
    """A list; in a cell of text, JSON or texts between semicolons."""
    value = row.data[key]
    if not isinstance(value, str) or value.lstrip().startswith("["):
        return row.listed(key)
    return [part.strip() for part in value.split(";") if part.strip()]


def _is_expected(value: Any) -> bool:
    """Whether this is what an agent run should have done, and not a value to compare with."""
    return isinstance(value, dict) and bool(value) and value.keys() <= known_keys(Expected)
