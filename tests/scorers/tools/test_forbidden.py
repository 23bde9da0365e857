"""The forbidden gate."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.core.errors import InputError
from eval_skills.core.models import EvalTask, SkillResponse, ToolCall, TurnResponse
from eval_skills.scorers import score_response_sync
from eval_skills.scorers.tools.forbidden import ForbiddenTools
from tests.tables import each_row


def calls(*names: str) -> list[ToolCall]:
    return [ToolCall(name=name) for name in names]


@each_row("spelling", ["edit_file", "editFile", "edit-file", "EDIT FILE", "edit.file"])
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


@pytest.mark.parametrize("name", ["mcp__bank__*", "*", "pay?"])
def test_a_pattern_is_refused_as_it_would_forbid_nothing(name: str) -> None:
    with pytest.raises(InputError, match="is a pattern") as refused:
        ForbiddenTools(tools=("rm", name))
    assert refused.value.path == "tools"
    with pytest.raises(ValueError, match="is a pattern"):
        EvalTask.model_validate({"id": "t", "expected": {"forbiddenTools": [name]}})


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


def asks(name: str, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "tool_calls": [{"name": name, "args": {}}]}


@each_row(
    ("called", "messages", "where"),
    [
        pytest.param(["search"], [{"role": "user"}, asks("search"), asks("pay")], "messages[2]", id="hidden-in-the-messages"),
        pytest.param(["search", "pay"], [asks("search")], "toolCalls[1]", id="hidden-in-the-list"),
        pytest.param(["pay"], [asks("pay")], "toolCalls[0]", id="in-both"),
        pytest.param([], [asks("pay")], "messages[0]", id="an-empty-list-is-no-alibi"),
        pytest.param(None, [{"role": "user"}, asks("pay")], "messages[1]", id="messages-alone"),
        pytest.param(["search"], [asks("pay", "robot")], "messages[0]", id="nobody-known"),
        pytest.param(["search"], [{**asks("search"), "function_call": {"name": "pay"}}], "messages[0]", id="second-notation"),
    ],
)
def test_p76_the_gate_looks_at_both_sources_and_says_where(
    called: list[str] | None, messages: list[dict[str, Any]], where: str
) -> None:
    task = EvalTask.model_validate({"id": "t", "expected": {"forbiddenTools": ["pay"], "tools": ["search"]}})
    found = score_response_sync(task, SkillResponse(tool_calls=None if called is None else calls(*called), messages=messages))
    assert (found.status, found.score) == ("fail", 0)
    assert [(each.where, each.message) for each in found.reasons] == [(where, "forbidden tool 'pay' was called 1 time")]


@each_row(
    "message",
    [
        pytest.param({"role": "tool", "name": "pay", "content": "paid"}, id="openai"),
        pytest.param({"role": "function", "name": "Pay", "content": "paid"}, id="function"),
        pytest.param({"type": "tool", "data": {"type": "tool", "name": "pay", "content": "paid"}}, id="messages-to-dict"),
        pytest.param({"lc": 1, "kwargs": {"type": "tool", "name": "pay", "content": "paid"}}, id="dumpd"),
        pytest.param({"type": "assistant", "message": asks("pay"), "uuid": "7f"}, id="claude-code-line"),
        pytest.param({"index": 0, "message": asks("pay"), "finish_reason": "tool_calls"}, id="openai-choice"),
        pytest.param({"role": "user", "content": [{"type": "tool_result", "name": "pay"}]}, id="block"),
        pytest.param({"role": "tool", "name": "ls", "content": [{"type": "tool-result", "toolName": "pay"}]}, id="vercel"),
        pytest.param({"role": "user", "parts": [{"functionResponse": {"name": "pay", "response": {}}}]}, id="gemini"),
        pytest.param({"role": "tool", "tool_name": "pay", "content": "paid"}, id="tool-name"),
        pytest.param(asks("pay", "user"), id="a-call-by-the-user"),
        pytest.param({"type": "function_call", "name": "pay", "arguments": "{}"}, id="a-call-that-is-no-message"),
    ],
)
@each_row("reported", [None, [], ["search"]])
def test_a_result_proves_that_the_tool_ran(message: dict[str, Any], reported: list[str] | None) -> None:
    task = EvalTask.model_validate({"id": "t", "expected": {"forbiddenTools": ["pay"]}})
    answer = SkillResponse(tool_calls=None if reported is None else calls(*reported), messages=[{"role": "user"}, message])
    found = score_response_sync(task, answer)
    assert (found.status, [(each.code, each.where) for each in found.reasons]) == (
        "fail",
        [("FORBIDDEN_TOOL_CALLED", "messages[1]")],
    )


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"role": "user", "name": "pay", "content": "?"}, id="a-user-of-that-name"),
        pytest.param({"role": "assistant", "name": "pay", "content": "!"}, id="an-agent-of-that-name"),
        pytest.param({"role": "tool", "name": "search", "content": "pay"}, id="another-tool"),
    ],
)
def test_a_name_that_is_no_tool_breaks_no_gate(message: dict[str, Any]) -> None:
    gate = ForbiddenTools(tools=("pay",))
    score = gate.score(SkillResponse(messages=[message]))
    assert score is not None
    assert score.value == 1


def test_a_call_and_its_result_are_one() -> None:
    [violation] = ForbiddenTools(tools=("pay",)).violations((), [asks("pay"), {"role": "tool", "name": "pay"}])
    assert (violation.where, violation.message) == ("messages[0]", "forbidden tool 'pay' was called 1 time")


def test_both_sources_tell_of_the_same_calls() -> None:
    gate = ForbiddenTools(tools=("pay",))
    [violation] = gate.violations(calls("pay"), [asks("pay"), asks("Pay")])
    assert violation.message == "forbidden tool 'pay' was called 2 times"


def test_a_prefix_makes_another_name() -> None:
    gate = ForbiddenTools(tools=("pay",))
    assert gate.violations(calls("functions.pay", "mcp__bank__pay")) == ()
    assert len(ForbiddenTools(tools=("mcp__bank__pay",)).violations(calls("mcp bank.pay"))) == 1


def test_a_disagreement_is_remarked_upon() -> None:
    task = EvalTask.model_validate({"id": "t", "expected": {"tools": ["search"]}})
    found = score_response_sync(task, SkillResponse(tool_calls=calls("ls"), messages=[asks("search")]))
    assert (found.status, found.score) == ("pass", 1)
    assert "TOOL_CALLS_DISAGREE" in [each.code for each in found.reasons]


def test_a_call_in_one_turn_is_seen_where_another_turn_has_messages_alone() -> None:
    paid = TurnResponse(output="a", tool_calls=[ToolCall(name="pay")])
    told = TurnResponse(output="b", messages=[{"role": "assistant", "content": "b"}])
    task = EvalTask.model_validate({"id": "t", "expected": {"forbiddenTools": ["pay"]}})
    verdict = score_response_sync(task, SkillResponse.of_turns([paid, told]))
    assert (verdict.status, [reason.code for reason in verdict.reasons]) == ("fail", ["FORBIDDEN_TOOL_CALLED"])
    score = ForbiddenTools(tools=("pay",)).score(SkillResponse.of_turns([paid, told]))
    assert score is not None
    assert score.value == 0
    both = SkillResponse.of_turns([paid, paid])
    for response in (both, both.model_copy(update={"turns": [told]})):
        [reason] = score_response_sync(task, response).reasons
        assert "'pay' was called 2 times" in reason.message


SUB_AGENT = {"id": "c1", "name": "research", "args": {}}


def tells(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "c1", "content": content, **fields}


@each_row(
    "result",
    [
        pytest.param(tells([{"role": "user", "content": "?"}, asks("pay")]), id="messages"),
        pytest.param(tells({"messages": [asks("pay")], "cost": 1}), id="state-of-a-graph"),
        pytest.param(tells("paid", artifact={"messages": [{"type": "ai", "tool_calls": [{"name": "pay"}]}]}), id="artifact"),
        pytest.param(
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "tool_use", "name": "pay"}]}],
            },
            id="anthropic",
        ),
        pytest.param({"type": "function_call_output", "call_id": "c1", "output": [asks("pay")]}, id="responses"),
        pytest.param(tells({"parts": [{"type": "tool-pay", "toolCallId": "c", "state": "output-available"}]}), id="chat-part"),
        pytest.param(tells("paid", messages=[asks("pay")]), id="beside-the-content"),
    ],
)
def test_a_call_of_a_sub_agent_in_a_result_is_seen(result: dict[str, Any]) -> None:
    messages = [{"role": "assistant", "tool_calls": [SUB_AGENT]}, result]
    task = EvalTask.model_validate({"id": "t", "expected": {"forbiddenTools": ["pay"], "tools": ["research"]}})
    [reason] = score_response_sync(task, SkillResponse(messages=messages)).reasons
    assert (reason.message, reason.where) == ("forbidden tool 'pay' was called 1 time", "messages[1]")
    answer = SkillResponse(tool_calls=[ToolCall(name="research", result=result)])
    assert [each.where for each in ForbiddenTools(tools=("pay",)).violations_of(answer)] == ["toolCalls[0]"]


@pytest.mark.parametrize(
    "content",
    [
        [{"role": "user", "content": [asks("ls")]}, {"role": "assistant", "content": "pay"}],
        {"tools": [{"type": "function", "function": {"name": "pay"}}, {"name": "pay", "description": "pays"}]},
        [{"type": "tool_use", "name": "delegate", "input": {"to": "pay"}}],
        [{"name": "pay", "args": {}}],
    ],
)
def test_what_only_speaks_of_a_tool_in_a_result_is_no_call(content: Any) -> None:
    assert ForbiddenTools(tools=("pay",)).violations((), [tells(content)]) == ()
