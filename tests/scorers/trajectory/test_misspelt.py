"""A typing error in a reference is refused, for it would make a test that compares nothing."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask
from eval_skills.scorers import check_task
from eval_skills.scorers.trajectory import create_trajectory_match_evaluator
from tests.tables import each_row

CALL = {"name": "a", "args": {"x": 1}}


def asks(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls)}


@each_row(
    ("message", "meant"),
    [
        pytest.param({"role": "assistant", "tool_cals": [CALL]}, "'tool_cals' .did you mean 'tool_calls'", id="tool-cals"),
        pytest.param({"role": "assistant", "toolCalls": [CALL]}, "did you mean 'tool_calls'", id="camel"),
        pytest.param({"role": "assistant", "tool_call": [CALL]}, "did you mean 'tool_calls'", id="singular"),
        pytest.param({"role": "user", "contnet": "?"}, "did you mean 'content'", id="content"),
        pytest.param({"role": "user", "roel": "?"}, "did you mean 'role'", id="role"),
        pytest.param(asks({"name": "a", "arg": {}}), "did you mean 'args'", id="arg"),
        pytest.param(asks({"name": "a", "Arguments": {}}), "did you mean 'arguments'", id="case"),
        pytest.param(asks({"function": {"name": "a", "arguements": "{}"}}), "did you mean 'arguments'", id="nested"),
        pytest.param(asks({"name": "a", "nmae": "b"}), "did you mean 'name'", id="letters-changed-places"),
        pytest.param({"role": "assistant", "tool_calls": {"name": "a"}}, "tool_calls is not a list", id="no-list"),
    ],
)
def test_a_near_miss_is_refused_with_the_nearest_key(message: dict[str, Any], meant: str) -> None:
    reference = [asks(CALL), message]
    with pytest.raises(ValueError, match=f"reference_outputs: message 2: .*{meant}"):
        create_trajectory_match_evaluator(trajectory_match_mode="superset")(outputs=[], reference_outputs=reference)
    task = {"id": "t", "expected": {"trajectory": reference}, "evaluator": {"type": "trajectory_match", "mode": "superset"}}
    with pytest.raises(InputError, match=f"expected.trajectory: message 2: .*{meant}"):
        check_task(EvalTask.model_validate(task))


def test_what_real_messages_carry_is_no_near_miss() -> None:
    call = {
        "id": "c", "type": "function", "index": 0, "function": {"name": "a", "arguments": "{}"},
    }  # fmt: skip
    spoken: dict[str, Any] = {
        "role": "assistant", "content": None, "refusal": None, "annotations": [], "audio": None, "function_call": None,
        "tool_calls": [call], "id": "m", "name": "agent", "response_metadata": {}, "usage_metadata": {}, "additional_kwargs": {},
        "invalid_tool_calls": [], "example": False, "reasoning_content": "?", "parsed": None, "context": "?", "timestamp": 5,
    }  # fmt: skip
    reference = [
        spoken,
        {"role": "tool", "tool_call_id": "c", "content": "1", "artifact": None, "status": "success", "name": "a"},
    ]
    assert create_trajectory_match_evaluator()(outputs=reference, reference_outputs=reference)["score"]


@pytest.mark.parametrize(
    ("reference", "options", "said"),
    [
        pytest.param([], {"mode": "superset"}, "expected.trajectory: mode superset asks for the calls", id="empty"),
        pytest.param([{"role": "user"}], {"mode": "superset"}, "any answer would pass", id="no-calls"),
        pytest.param(
            [asks({"name": "search"})],
            {"overrides": {"serach": "ignore"}},
            "overrides.serach: the reference has no call of 'serach' .did you mean 'search'",
            id="override",
        ),
    ],
)
def test_a_test_that_could_not_fail_is_a_load_error(reference: list[Any], options: dict[str, Any], said: str) -> None:
    task = {"id": "t", "expected": {"trajectory": reference}, "evaluator": {"type": "trajectory_match", **options}}
    with pytest.raises(InputError, match=said):
        check_task(EvalTask.model_validate(task))
