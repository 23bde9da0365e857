"""What is shown of one skill beside its figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.models import SkillCompletionReport, TaskResult
from eval_skills.reporting.sections import ErrorKindCount, FlakyTask, errors_by_kind, failures_by_task, flaky_tasks, reasons

MakeReport = Callable[..., SkillCompletionReport]
MakeItem = Callable[..., dict[str, Any]]


def test_failures_are_grouped_in_order_of_appearance(make_report: MakeReport, make_item: MakeItem) -> None:
    items = [make_item("b"), make_item("a", status="pass"), make_item("a"), make_item("b", runIndex=1), make_item("c")]
    groups, more = failures_by_task(make_report(taskResults=items), limit=3)
    assert [(group.task_id, len(group.items)) for group in groups] == [("b", 2), ("a", 1)]
    assert more == 1


def test_errors_by_kind_count_timeouts_and_no_failures(make_report: MakeReport, make_item: MakeItem) -> None:
    items = [
        make_item(status="fail"),
        make_item(status="timeout", errorMessage="too late"),
        make_item(status="error", errorKind="skill"),
        make_item(status="error", errorKind="skill", errorMessage="boom"),
    ]
    counted = errors_by_kind(make_report(taskResults=items))
    assert counted == [ErrorKindCount("skill", 2, "boom", 2), ErrorKindCount("timeout", 1, "too late", 1)]


def test_p37_a_task_with_mixed_outcomes_is_flaky(make_report: MakeReport, make_item: MakeItem) -> None:
    outcomes = {"always": ("pass", "pass"), "never": ("fail", "error"), "mixed": ("pass", "timeout")}
    items = [make_item(task, runIndex=run, status=outcomes[task][run]) for run in (0, 1) for task in outcomes]
    down = {"status": "error", "errorKind": "infra"}  # says nothing of the skill
    items += [make_item("down", status="pass"), make_item("down", runIndex=1, **down)]
    assert flaky_tasks(make_report(taskResults=items)) == [FlakyTask("mixed", 1, 2)]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"reasons": [{"code": "A", "message": "m", "where": "$.x"}]}, ["A: m (at $.x)"], id="where"),
        pytest.param({"errorKind": "infra", "errorMessage": "refused"}, ["infra: refused"], id="error-alone"),
        pytest.param(
            {"reasons": [{"code": "SKILL_ERROR", "message": "it said: boom"}], "errorKind": "skill", "errorMessage": "boom"},
            ["SKILL_ERROR: it said: boom"],
            id="error-told-once",
        ),
        pytest.param(
            {"reasons": [{"code": "A", "message": "m"}], "errorKind": "judge", "errorMessage": "no reply"},
            ["A: m", "judge: no reply"],
            id="error-beside-reasons",
        ),
        pytest.param({}, ["no reason was recorded"], id="nothing"),
    ],
)
def test_p69_an_item_says_why(make_item: MakeItem, fields: dict[str, Any], said: list[str]) -> None:
    assert reasons(TaskResult.model_validate(make_item(**fields))) == said
