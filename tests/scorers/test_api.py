"""The one door to judging."""

from __future__ import annotations

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scorers import check_task, score_response, score_response_sync

TASK = EvalTask.model_validate({"id": "t", "expectedOutput": {"type": "exact", "value": "x"}})


def test_without_an_event_loop() -> None:
    assert score_response_sync(TASK, SkillResponse(output="x")).passed


async def test_inside_an_event_loop_both_doors_agree() -> None:
    response = SkillResponse(output="y")
    assert score_response_sync(TASK, response) == await score_response(TASK, response)


def test_a_task_is_checked_without_an_answer() -> None:
    check_task(TASK)
    bad = EvalTask.model_validate({"id": "lost", "expectedOutput": {"type": "contains", "keywords": []}})
    with pytest.raises(InputError, match="'lost'"):
        check_task(bad)


def test_settings_reach_the_scoring() -> None:
    task = EvalTask.model_validate({"id": "t", "expectedOutput": {"keywords": ["x"]}})
    with pytest.raises(InputError):
        check_task(task)
    assert score_response_sync(task, SkillResponse(output="axb"), {"defaultEvaluator": "contains"}).passed
