"""The forbidden gate."""

from __future__ import annotations

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import SkillResponse, ToolCall
from eval_skills.scorers.forbidden_tools import ForbiddenTools


def calls(*names: str) -> list[ToolCall]:
    return [ToolCall(name=name) for name in names]


@pytest.mark.parametrize("spelling", ["edit_file", "editFile", "edit-file", "EDIT FILE", "edit.file"])
def test_p76_one_name_policy(spelling: str) -> None:
    violations = ForbiddenTools(tools=("edit_file",)).violations(calls("ls", spelling))
    assert [each.where for each in violations] == ["toolCalls[1]"]
    assert repr(spelling) in violations[0].message


def test_p76_one_violation_per_tool_in_the_order_first_called() -> None:
    gate = ForbiddenTools(tools=("bash", "edit_file", "rm"))
    violations = gate.violations(calls("editFile", "bash", "EditFile", "edit-file"))
    assert [each.message for each in violations] == [
        "forbidden tool 'editFile' (forbidden as 'edit_file') was called 3 times",
        "forbidden tool 'bash' was called 1 time",
    ]


def test_failed_calls_count() -> None:
    failed = SkillResponse(tool_calls=[ToolCall(name="rm", error="denied")])
    score = ForbiddenTools(tools=("rm",)).score(failed)
    assert score is not None
    assert (score.value, score.passed) == (0, False)


def test_a_clean_run_scores_1_and_an_unknown_one_nothing() -> None:
    gate = ForbiddenTools(tools=("rm",))
    clean = gate.score(SkillResponse(tool_calls=calls("ls")))
    assert clean is not None
    assert clean.value == 1
    assert gate.score(SkillResponse(output="x")) is None


def test_p05_an_empty_list_is_a_load_error() -> None:
    with pytest.raises(InputError):
        ForbiddenTools(tools=())
