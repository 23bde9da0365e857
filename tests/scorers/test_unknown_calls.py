"""Nobody knows what was called: every evaluator of calls says so, in the words of the dimensions."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scorers import score_response_sync
from tests.tables import each_row


@each_row(
    "evaluator",
    [
        pytest.param({"type": "tool_accuracy", "tools": ["a"]}, id="tool-accuracy"),
        pytest.param({"type": "sequence", "expected": ["a"]}, id="sequence"),
        pytest.param({"type": "forbidden_tools", "tools": ["a"]}, id="forbidden-tools"),
        pytest.param({"type": "bfcl", "category": "irrelevance"}, id="bfcl"),
    ],
)
@each_row(
    ("calls", "where"),
    [
        pytest.param({}, "toolCalls", id="nothing-is-reported"),
        pytest.param({"messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}]}, "messages[0]", id="no-name"),
        pytest.param({"messages": [{"role": "critic"}]}, "messages[0]", id="unknown-role"),
        pytest.param({"tool_calls": [{"name": "b"}, {"name": " "}]}, "toolCalls[1]", id="a-blank-name-in-toolcalls"),
        pytest.param({"messages": [{"role": "assistant", "tool_call": [{"name": "a"}]}]}, "messages[0]", id="misspelt"),
        pytest.param({"messages": [{"role": "assistant", "toolCals": {"name": "a"}}]}, "messages[0]", id="misspelt-too"),
        pytest.param({"messages": [{"role": "assistant", "toolUse": {"name": "a"}}]}, "messages[0]", id="of-nobody"),
    ],
)
@each_row("beside", [None, {"tools": ["a"]}])
def test_an_evaluator_of_calls_says_of_unknown_ones_what_its_dimension_says(
    evaluator: dict[str, Any], calls: dict[str, Any], where: str, beside: Any
) -> None:
    task = EvalTask.model_validate({"id": "t1", "evaluator": evaluator, "expected": beside})
    found = score_response_sync(task, SkillResponse(output="42", **calls))
    assert (found.status, found.score) == ("fail", 0)
    assert [(each.code, each.where) for each in found.reasons] == [("TOOL_CALLS_UNKNOWN", where)], "once"


@pytest.mark.parametrize(
    "beside", [{"tool_choice": {"name": "a"}}, {"tools": [{"name": "a"}]}, {"tool_call_chunks": [{"name": "a"}]}]
)
def test_what_only_speaks_of_tools_hides_no_call(beside: dict[str, Any]) -> None:
    task = EvalTask.model_validate({"id": "t1", "expected": {"forbiddenTools": ["pay"]}})
    said = {"role": "assistant", "content": "42", "tool_calls": [{"name": "a"}], **beside}
    assert score_response_sync(task, SkillResponse(output="42", messages=[said])).status == "pass"
