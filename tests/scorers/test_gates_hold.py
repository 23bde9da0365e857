"""What a skill might do to slip past a gate, or to make a run's figures nonsense."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scorers import TaskScoring, score_response_sync
from tests.tables import each_row

FORBIDDEN = EvalTask.model_validate(
    {"id": "t", "expected": {"forbiddenTools": ["rm"]}, "evaluator": "exact", "expectedOutput": {"value": "x"}}
)


def calling(name: str, **more: Any) -> SkillResponse:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return SkillResponse.model_validate({"output": "x", "messages": [{"role": "assistant", "tool_calls": [call]}], **more})


@each_row("name", ["rm", "ｒｍ", "r\u200bm", "R-M", "r\u2011m"])
def test_p75_a_forbidden_call_is_found_in_the_messages_behind_an_empty_list(name: str) -> None:
    verdict = score_response_sync(FORBIDDEN, calling(name, toolCalls=[]))
    assert (verdict.status, verdict.score) == ("fail", 0.0)


def test_p77_a_minimum_score_without_anything_to_score_is_a_load_error() -> None:
    with pytest.raises(InputError, match="nothing is scored"):
        TaskScoring(EvalTask.model_validate({"id": "t", "thresholds": {"minScore": 95}}))


@pytest.mark.parametrize("more", [{"costUsd": 1e308}, {"usage": {"promptTokens": 10**18}}], ids=["cost", "tokens"])
def test_consumption_that_would_spoil_every_sum_is_no_answer(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SkillResponse.model_validate({"output": 1, **more})
