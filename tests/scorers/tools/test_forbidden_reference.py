"""A task whose reference calls what it forbids is refused at load: no answer could pass."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask
from eval_skills.scorers import TaskScoring
from tests.tables import each_row


def scoring(trajectory: Any, forbidden: list[str], **fields: Any) -> TaskScoring:
    expected = {"trajectory": trajectory, "forbiddenTools": forbidden}
    return TaskScoring(EvalTask.model_validate({"id": "t1", "expected": expected, **fields}))


def says(*tools: str) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"name": tool, "args": {}} for tool in tools]}


@each_row(
    "trajectory",
    [
        pytest.param([says("search", "pay")], id="messages"),
        pytest.param({"messages": [says("search"), says("pay")]}, id="wrapped"),
        pytest.param(says("pay"), id="one-message"),
        pytest.param([{"role": "ai", "content": [{"type": "tool_use", "name": "pay", "input": {}}]}], id="blocks"),
    ],
)
@each_row("mode", ["superset", "subset"])
def test_p61_a_trajectory_that_calls_a_forbidden_tool_is_refused(trajectory: Any, mode: str) -> None:
    with pytest.raises(InputError, match=r"tool 'pay' is expected and forbidden \(as 'Pay'\) at once") as refused:
        scoring(trajectory, ["Pay"], evaluator={"type": "trajectory_match", "mode": mode})
    assert refused.value.path == "task 't1': expected.trajectory"


def test_other_tools_and_calls_that_do_not_count_are_no_contradiction() -> None:
    user = {"role": "user", "content": "?", "tool_calls": [{"name": "pay", "args": {}}]}
    assert scoring([user, says("search")], ["Pay"]).scorer == "trajectory_match"
