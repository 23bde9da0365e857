"""Metrics: the named figures of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scorers import TaskScoring, score_response_sync
from tests.tables import each_row

WANTED = {"revenue_growth": {"value": 12.5, "tolerance": 0.5}, "total": {"value": 1000}}


@each_row(
    ("output", "value"),
    [
        pytest.param({"revenue_growth": 12.9, "total": 1000}, 1, id="object"),
        pytest.param({"deep": [{"RevenueGrowth": "12.0"}, {"Total": "1,000"}]}, 1, id="any-depth-and-spelling"),
        pytest.param('{"revenue_growth": 13.0, "total": 1e3}', 1, id="json-as-text-at-the-tolerance"),
        pytest.param("Revenue growth was 12.1 %, in total 1,000 USD.", 1, id="prose"),
        pytest.param({"revenue_growth": 13.1, "total": 1000}, 0.5, id="outside-the-tolerance"),
        pytest.param({"revenue_growth": 12.5}, 0.5, id="one-is-missing"),
        pytest.param({"revenue_growth": True, "total": None}, 0, id="no-numbers"),
        pytest.param("The subtotal is 1000.", 0, id="another-name"),
        pytest.param("", 0, id="empty"),
        pytest.param(None, 0, id="null"),
    ],
)
def test_value(output: Any, value: float) -> None:
    task = EvalTask.model_validate({"id": "t", "evaluator": {"type": "metrics", "metrics": WANTED}})
    verdict = score_response_sync(task, SkillResponse(output=output))
    assert (verdict.score, verdict.passed) == (value, value == 1)


def test_the_reason_shows_what_was_expected_and_got() -> None:
    task = EvalTask.model_validate({"id": "t", "evaluator": {"type": "metrics", "metrics": WANTED}})
    reasons = score_response_sync(task, SkillResponse(output={"revenue_growth": 14})).reasons
    assert [each.message for each in reasons] == [
        "expected revenue_growth = 12.5 ± 0.5, got 14",
        'expected total = 1000, got none in {"revenue_growth": 14}',
    ]


@pytest.mark.parametrize("output", [{"total": 1234567890123456788}, "total: 1234567890123456788", '{"total": 1e400}'])
@pytest.mark.parametrize("tolerance", [0, 0.5])
def test_a_large_whole_number_that_is_another_one_is_wrong(output: Any, tolerance: float) -> None:
    wanted = {"total": {"value": 1234567890123456789, "tolerance": tolerance}}
    task = EvalTask.model_validate({"id": "t", "evaluator": {"type": "metrics", "metrics": wanted}})
    verdict = score_response_sync(task, SkillResponse(output=output))
    assert not verdict.passed
    assert verdict.reasons[0].message.startswith("expected total = 1234567890123456789")


@pytest.mark.parametrize("blanks", range(55, 60))
def test_a_number_that_begins_within_reach_of_its_name_is_read_to_its_end(blanks: int) -> None:
    task = EvalTask.model_validate({"id": "t", "evaluator": {"type": "metrics", "metrics": {"total": {"value": 100}}}})
    verdict = score_response_sync(task, SkillResponse(output=f"total{' ' * blanks}1,000"))
    assert [each.message for each in verdict.reasons] == ["expected total = 100, got 1000"]


@each_row("metrics", [{}, {"a": 1}, {"a": {"value": 1, "tolerance": -1}}, {"a": {"valu": 1}}])
def test_what_is_no_figure_is_refused(metrics: Any) -> None:
    with pytest.raises(InputError):
        TaskScoring(EvalTask.model_validate({"id": "t", "evaluator": {"type": "metrics", "metrics": metrics}}))
