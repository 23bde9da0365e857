"""What a shell call did, and which categories it satisfies."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, ToolCall
from eval_skills.scorers import TaskScoring
from eval_skills.scorers.tools.categories import programs_of
from tests.tables import each_row


@each_row(
    ("arguments", "programs"),
    [
        ({"command": "cat a.txt"}, {"cat"}),
        ('{"cmd": "/usr/bin/grep x y"}', {"grep"}),
        ("cd a && LANG=C sudo -n ls | wc -l; git status", {"cd", "ls", "wc", "git"}),
        ("A=1 B=2 python3 x.py", {"python3"}),
        ({"command": ["bash", "-lc", "ls -l"]}, {"ls"}),
        ({"command": ["git", "log"]}, {"git"}),
        ("echo x > file", {"echo", "tee"}),
        ("make 2>&1 >/dev/null", {"make"}),
        ({"command": None}, set()),
        (None, set()),
        ({"path": "cat"}, set()),
        ("", set()),
    ],
)
def test_programs(arguments: Any, programs: set[str]) -> None:
    assert programs_of(arguments) == programs


@each_row(
    ("command", "category", "satisfied"),
    [
        ("cat a", "file_read", True),
        ("cat a", "search", False),
        ("cat a", "shell", True),
        ("grep x a", "search", True),
        ("cat a | grep x", "search", True),
        ("ls", "file_list", True),
        ("echo x >> a", "file_write", True),
        ("curl x", "web", True),
        ("git log", "git", True),
        ("python3 -c 1", "python", True),
        ("true", "git", False),
        ("psql -c x", "database", True),
    ],
)
async def test_a_shell_satisfies_what_its_command_does(command: str, category: str, satisfied: bool) -> None:
    expected = {"toolCategories": [category], "shellNeedsCommand": True}
    response = SkillResponse(tool_calls=[ToolCall(name="bash", arguments={"command": command})])
    settings = {"toolCategories": {"database": ["sql_run", "psql", "bash"]}}
    task = EvalTask.model_validate({"id": "t", "expected": expected})
    verdict = await TaskScoring(task, settings).verdict(response)
    assert verdict.dimensions == {"tool_accuracy": float(satisfied)}


async def test_other_tools_and_the_default_are_as_before() -> None:
    for option, name in ((True, "read_file"), (False, "bash")):
        task = EvalTask.model_validate({"id": "t", "expected": {"toolCategories": ["file_read"], "shellNeedsCommand": option}})
        assert (await TaskScoring(task).verdict(SkillResponse(tool_calls=[ToolCall(name=name)]))).passed


async def test_the_scorer_has_the_option_too() -> None:
    evaluator = {"type": "tool_accuracy", "toolCategories": ["git"], "shellNeedsCommand": True}
    judge = TaskScoring(EvalTask.model_validate({"id": "t", "evaluator": evaluator}))
    assert not (await judge.verdict(SkillResponse(tool_calls=[ToolCall(name="bash", arguments="ls")]))).passed
    assert (await judge.verdict(SkillResponse(tool_calls=[ToolCall(name="bash", arguments="git log")]))).passed


@pytest.mark.parametrize(("option", "list_name"), [("shellNeedsCommand", "toolCategories"), ("sequenceGate", "toolSequence")])
def test_p59_an_option_with_nothing_to_act_on_is_refused(option: str, list_name: str) -> None:
    with pytest.raises(ValueError, match=list_name):
        EvalTask.model_validate({"id": "t", "expected": {"tools": ["a"], option: True}})


@each_row(("called", "status"), [("a b", "pass"), ("a x b", "pass"), ("a", "fail"), ("b a", "fail")])
async def test_sequence_gate_fails_a_sequence_that_is_not_kept_whatever_the_score(called: str, status: str) -> None:
    expected = {"toolSequence": ["a", "b"], "sequenceGate": True}
    task = EvalTask.model_validate({"id": "t", "expected": expected, "thresholds": {"minScore": 10}})
    response = SkillResponse(tool_calls=[ToolCall(name=name) for name in called.split()])
    gated = await TaskScoring(task).verdict(response)
    assert gated.status == status
    assert gated.score == (1 if status == "pass" else 0.5)
    assert [each.code[:8] for each in gated.reasons] == ([] if status == "pass" else ["SEQUENCE"])
    free = (
        task.model_copy(update={"expected": task.expected.model_copy(update={"sequence_gate": False})}) if task.expected else task
    )
    assert (await TaskScoring(free).verdict(response)).status == "pass"


def test_unknown_categories_stay_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'git'"):
        TaskScoring(EvalTask.model_validate({"id": "t", "expected": {"toolCategories": ["gitt"], "shellNeedsCommand": True}}))
