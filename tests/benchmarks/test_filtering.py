"""Tasks by the value of any field."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.benchmarks import filter_tasks
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Benchmark
from tests.tables import each_row

TASKS: list[dict[str, Any]] = [
    {
        "id": "a",
        "inputData": {"operation": "reverse", "left": []},
        "metadata": {"level": 1, "seen": True, "a.b": "dotted"},
        "weight": 2,
    },
    {"id": "b", "inputData": {"operation": "reverse", "steps": [{"n": 1}, {"n": 2}]}, "metadata": {"level": "2"}},
    {"id": "c", "inputData": {"operation": "add"}, "metadata": {"level": 2}, "tags": ["math", "long"]},
]
SAMPLE = Benchmark.model_validate(
    {"id": "sample", "name": "Sample", "version": "1.0.0", "tasks": [task | {"expectedOutput": {"value": 1}} for task in TASKS]}
)


def kept(*fields: str) -> str:
    return "".join(task.id for task in filter_tasks(SAMPLE, fields=fields).tasks)


@each_row(
    ("fields", "ids"),
    [
        pytest.param([], "abc", id="nothing-asked"),
        pytest.param(["inputData.operation=reverse"], "ab", id="text"),
        pytest.param(["metadata.level=2"], "bc", id="a-number-and-its-text"),
        pytest.param(["metadata.level=2", "inputData.operation=add"], "c", id="all-of-them"),
        pytest.param(["tags=math"], "c", id="an-entry-of-a-list"),
        pytest.param(["inputData.steps.n=2"], "b", id="inside-a-list"),
        pytest.param(["metadata.seen=true"], "a", id="a-boolean"),
        pytest.param(["metadata.a.b=dotted"], "a", id="a-key-with-a-dot"),
        pytest.param(["id = b"], "b", id="blanks-around"),
        pytest.param(["weight=2.0"], "a", id="a-number-written-otherwise"),
    ],
)
def test_a_task_is_kept_where_its_field_has_the_value(fields: list[str], ids: str) -> None:
    assert kept(*fields) == ids


@each_row(
    ("field", "message"),
    [
        pytest.param("metadata.level=3", 'no task of sample has that value; metadata.level is 1, "2", 2', id="value"),
        pytest.param("metadata.seen=1", "no task of sample has that value; metadata.seen is true", id="a-boolean-is-no-number"),
        pytest.param("metadata.levle=2", "has the field 'metadata.levle' (did you mean 'metadata.level'?)", id="field"),
        pytest.param("inputData.left=1", "the field 'inputData.left' is empty in every task of sample", id="an-empty-list"),
    ],
)
def test_what_keeps_no_task_says_what_there_is(field: str, message: str) -> None:
    with pytest.raises(InputError, match="--filter") as raised:
        kept(field)
    assert message in str(raised.value)


@pytest.mark.parametrize("field", ["complexity", "=2", " =2"])
def test_a_malformed_field_is_refused(field: str) -> None:
    with pytest.raises(UsageError, match="is not KEY=VALUE, such as complexity=simple"):
        kept(field)
