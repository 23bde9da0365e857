"""What a monitor expects of every answer."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import ExpectedOutput, Verdict
from eval_skills.engine.monitor.expectation import MonitorTask
from eval_skills.engine.monitor.log.records import LogFields, RecordReader
from eval_skills.engine.monitor.request import MonitorRequest
from tests.tables import each_row


def task(**options: Any) -> MonitorTask:
    return MonitorTask.of(MonitorRequest(log="x", **options))


def verdict(found: MonitorTask, record: dict[str, Any]) -> Verdict:
    return asyncio.run(found.verdict(RecordReader(LogFields()).interaction(record, "log:1")))


@each_row(
    ("evaluator", "expected", "output", "passed"),
    [
        pytest.param("exact", "ok", "ok", True, id="exact"),
        pytest.param("exact", None, "ok", False, id="exact-null-is-no-expectation"),
        pytest.param("contains", "order", "your Order", True, id="one-keyword"),
        pytest.param("contains", ["order", "Tuesday"], "your order", False, id="keywords"),
        pytest.param("contains", {"keywords": ["order"]}, "your order", True, id="named-keywords"),
        pytest.param("regex", r"\d+", "order 7", True, id="pattern"),
        pytest.param("schema", {"type": "object"}, {}, True, id="schema"),
        pytest.param("schema", {"type": "object"}, 3, False, id="not-the-schema"),
    ],
)
def test_the_log_says_what_an_answer_should_have_been(evaluator: str, expected: Any, output: Any, passed: bool) -> None:
    found = task(evaluator=evaluator)
    assert found.scoring is None
    record = {"output": output, "expected": expected}
    if expected is None:
        with pytest.raises(InputError):
            verdict(found, record)
    else:
        assert verdict(found, record).passed is passed


def test_the_interactions_own_expectation_beats_the_common_one() -> None:
    found = task(expected_output=ExpectedOutput(type="contains", keywords=["order"]))
    assert found.scorer == "contains"
    assert verdict(found, {"output": "your order"}).passed
    assert not verdict(found, {"output": "your order", "expected": "refund"}).passed


def test_a_task_in_a_file_may_expect_tools_and_limits(tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    file.write_text("expected: {tools: [search], forbiddenTools: [delete]}\nthresholds: {maxLatency: 100}\n")
    found = task(task=str(file))
    assert verdict(found, {"output": 1, "toolCalls": [{"name": "search"}], "latencyMs": 100}).passed
    assert not verdict(found, {"output": 1, "toolCalls": [{"name": "search"}], "latencyMs": 101}).passed
    assert verdict(found, {"output": 1, "toolCalls": [{"name": "search"}, {"name": "delete"}], "latencyMs": 1}).score == 0
    messages = [{"role": "assistant", "content": "done", "tool_calls": [{"function": {"name": "search", "arguments": "{}"}}]}]
    assert verdict(found, {"messages": messages, "latencyMs": 1}).passed


def test_a_task_of_a_benchmark() -> None:
    found = task(task="coding-easy:evaluate-addition")
    assert found.task.id == "evaluate-addition"
    assert found.scoring is not None


@pytest.mark.slow
def test_the_tasks_own_code_needs_permission_and_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text("def score(output, expected, task):\n    return 1.0 if output == 'yes' else 0.0\n")
    file = tmp_path / "task.json"
    file.write_text(json.dumps({"evaluator": "custom", "expectedOutput": {"customScorerPath": "score.py"}}))
    with pytest.raises(InputError, match="allow"):
        task(task=str(file))
    found = task(task=str(file), allow_custom_code=True)
    assert verdict(found, {"output": "yes"}).passed
    assert not verdict(found, {"output": "no"}).passed


@each_row(
    ("options", "says"),
    [
        pytest.param({"evaluator": "contians"}, "unknown scorer 'contians'", id="unknown-scorer"),
        pytest.param({"expected_output": ExpectedOutput(type="contains", keywords=[])}, "the list is empty", id="p05-empty"),
        pytest.param({"expected_output": ExpectedOutput(keywords=["a"])}, "needs this value", id="not-of-this-scorer"),
        pytest.param({"task": "nothing.json"}, "no such file", id="no-file"),
        pytest.param({"task": "coding-easy:evaluate-additon"}, "did you mean 'evaluate-addition'", id="no-such-task"),
        pytest.param({"task": "coding-eazy:evaluate-addition"}, "did you mean 'coding-easy'", id="no-such-benchmark"),
    ],
)
def test_what_cannot_be_judged_is_refused_before_anything_is_read(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        task(**options)


def test_a_file_of_several_tasks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text('[{"id": "a"}]')
    with pytest.raises(InputError, match="expected one task"):
        task(task=str(tmp_path / "tasks.json"))
