"""Everything that reads messages reads the items of OpenAI's Responses API."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, create_model

from eval_skills.core.messages.responses_items import in_turns
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scorers import score_response_sync
from eval_skills.scorers.claims.evidence import evidence_text, seen_in
from eval_skills.scorers.claims.lookup import failed_tools
from eval_skills.scorers.tools.calls import calls_of_messages, results_in_messages, unknown_calls
from eval_skills.scorers.trajectory import create_trajectory_match_evaluator
from eval_skills.scorers.trajectory.transcript import transcript
from tests.tables import each_row

USER = {"role": "user", "content": "?"}
SAYS = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 4."}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add", "arguments": '{"a": 2}'}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "the sum is 4"}
ITEMS: list[dict[str, Any]] = [USER, {"type": "reasoning", "summary": []}, CALL, RESULT, SAYS]
CHAT: list[dict[str, Any]] = [
    USER,
    {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "add", "arguments": '{"a": 2}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": "the sum is 4"},
    {"role": "assistant", "content": "It is 4."},
]


@each_row(
    ("item", "name", "arguments"),
    [
        pytest.param({"type": "function_call", "name": "add", "arguments": "{}"}, "add", "{}", id="function"),
        pytest.param({"type": "custom_tool_call", "name": "sh", "input": "ls"}, "sh", {"input": "ls"}, id="custom"),
        pytest.param({"type": "mcp_call", "name": "ask", "arguments": "{}", "server_label": "x"}, "ask", "{}", id="mcp"),
        pytest.param(
            {"type": "web_search_call", "action": {"type": "search", "query": "owls"}},
            "web_search", {"type": "search", "query": "owls"}, id="web-search",
        ),
        pytest.param({"type": "file_search_call", "queries": ["owls"]}, "file_search", {"queries": ["owls"]}, id="file-search"),
        pytest.param(
            {"type": "code_interpreter_call", "code": "1+1", "outputs": None}, "code_interpreter", {"code": "1+1"}, id="code",
        ),
        pytest.param({"type": "computer_call", "action": {"type": "click"}}, "computer", {"type": "click"}, id="computer"),
        pytest.param({"type": "image_generation_call", "result": "iVBO"}, "image_generation", None, id="image"),
        pytest.param(
            {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"]}},
            "local_shell", {"type": "exec", "command": ["ls"]}, id="local-shell",
        ),
        pytest.param(
            {"type": "apply_patch_call", "operation": {"path": "a.py"}}, "apply_patch", {"path": "a.py"}, id="apply-patch",
        ),
        pytest.param({"type": "tool_search_call", "arguments": {"q": 1}}, "tool_search", {"q": 1}, id="tool-search"),
        pytest.param({"type": "tomorrows_call"}, "tomorrows", None, id="one-of-tomorrow"),
    ],
)  # fmt: skip
def test_each_item_that_is_a_call(item: dict[str, Any], name: str, arguments: Any) -> None:
    told = {"id": "i", "call_id": "c", "status": "completed", **item}
    for messages in ([USER, told], [{"role": "assistant", "content": [told]}]):
        [call] = calls_of_messages(messages)
        assert (call.name, call.arguments, call.id) == (name, arguments, "c")
        assert unknown_calls(SkillResponse(messages=messages)) is None
    gate = EvalTask.model_validate({"id": "t", "expected": {"forbiddenTools": [name.upper()]}})
    verdict = score_response_sync(gate, SkillResponse(messages=[USER, told]))
    assert [reason.code for reason in verdict.reasons] == ["FORBIDDEN_TOOL_CALLED"]
    assert "was called 1 time" in verdict.reasons[0].message


@pytest.mark.parametrize("kind", ["item_reference", "compaction"])
def test_what_may_hide_calls_leaves_them_unknown(kind: str) -> None:
    unknown = unknown_calls(SkillResponse(messages=[USER, {"type": kind, "id": "x"}]))
    assert unknown is not None
    assert (unknown.code, unknown.where) == ("TOOL_CALLS_UNKNOWN", "messages[1]")


def test_a_call_of_a_function_that_names_none_is_unknown() -> None:
    assert unknown_calls(SkillResponse(messages=[{"type": "function_call", "arguments": "{}"}])) is not None


@each_row("mode", ["strict", "unordered", "subset", "superset"])
@each_row(("outputs", "reference"), [(ITEMS, CHAT), (CHAT, ITEMS), (ITEMS, ITEMS), ({"output": ITEMS}, CHAT)])
def test_items_match_the_messages_that_say_the_same(mode: Any, outputs: Any, reference: Any) -> None:
    before = json.dumps([outputs, reference])
    result = create_trajectory_match_evaluator(trajectory_match_mode=mode)(outputs=outputs, reference_outputs=reference)
    assert (result["score"], result["comment"]) == (True, None)
    assert json.dumps([outputs, reference]) == before


def of_client(**fields: Any) -> BaseModel:
    """An object as OpenAI's client makes them of items and of what they hold."""
    return create_model("OfClient", __config__=ConfigDict(extra="allow")).model_validate(fields)


def test_a_response_of_openai_s_client_is_a_trajectory() -> None:
    words = of_client(type="output_text", text="It is 4.")
    output = [of_client(**CALL), of_client(type="message", role="assistant", content=[words])]
    evaluate = create_trajectory_match_evaluator(trajectory_match_mode="strict")
    plain = [each.model_dump() for each in output]
    for given in (output, plain, {"id": "resp", "object": "response", "output": plain}):
        assert evaluate(outputs=given, reference_outputs=[{**CHAT[1], "content": "It is 4."}])["score"] is True
        assert evaluate(outputs=given, reference_outputs=[CHAT[3]])["comment"] == "message 1: extra: add(a=2)"


@pytest.mark.parametrize("mode", ["strict", "unordered", "subset"])
def test_p92_an_object_whose_call_cannot_be_read_is_never_no_call(mode: Any) -> None:
    call = SimpleNamespace(type="function_call", name="pay", arguments="{}", call_id="1")
    result = create_trajectory_match_evaluator(trajectory_match_mode=mode)(outputs=[USER, call], reference_outputs=[USER])
    assert result["score"] is False, "what was called is unknown"


def test_a_judge_reads_items_as_messages() -> None:
    steps = transcript(ITEMS)
    assert [step["role"] for step in steps] == ["user", "assistant", "tool", "assistant"]
    assert steps[1]["tool_calls"] == [{"name": "add", "arguments": {"a": 2}}]
    assert (steps[2]["content"], steps[3]["content"]) == ("the sum is 4", "It is 4.")
    assert steps == transcript(in_turns(ITEMS))


MCP = {"type": "mcp_call", "id": "m", "name": "ask", "arguments": "{}", "output": "from mcp", "error": None}


def test_a_judge_sees_what_calls_that_hold_their_results_brought() -> None:
    [step] = transcript([MCP, {**MCP, "output": None, "error": "refused"}, {"type": "web_search_call", "id": "w"}])
    assert [call["name"] for call in step["tool_calls"]] == ["ask", "ask", "web_search"]
    assert step["content"] == [
        {"type": "tool_result", "name": "ask", "content": "from mcp"},
        {"type": "tool_result", "name": "ask", "error": "refused"},
    ]


@pytest.mark.parametrize("mode", ["strict", "superset"])
def test_p92_an_item_after_a_message_with_calls_is_a_call_as_well(mode: Any) -> None:
    both = [CHAT[0], CHAT[1], {**CALL, "name": "pay"}]
    evaluate = create_trajectory_match_evaluator(trajectory_match_mode=mode)
    reference = [CHAT[0], CHAT[1], {"role": "assistant", "tool_calls": [{"name": "pay", "args": {"a": 2}}]}]
    assert evaluate(outputs=both, reference_outputs=reference)["score"] is True
    assert [call.name for call in calls_of_messages(both)] == ["add", "pay"]


def test_what_tools_answered_was_seen_and_the_agent_s_words_were_not() -> None:
    others: list[dict[str, Any]] = [
        {"type": "file_search_call", "queries": ["query"], "results": [{"text": "from file"}]},
        {"type": "code_interpreter_call", "code": "code", "outputs": [{"type": "logs", "logs": "from code"}]},
        {"type": "web_search_call", "action": {"query": "query", "sources": [{"url": "https://from.web"}]}},
        {"type": "local_shell_call_output", "id": "x", "output": "from shell"},
    ]
    seen = evidence_text(seen_in(None, SkillResponse(messages=[*ITEMS, MCP, *others])))
    for each in ("the sum is 4", "from mcp", "from file", "from code", "https://from.web", "from shell"):
        assert each in seen
    assert "It is 4." not in seen
    assert "query" not in seen


@each_row(
    ("items", "failed"),
    [
        pytest.param([{**MCP, "output": None, "error": "refused"}], [("ask", "refused")], id="mcp"),
        pytest.param(
            [{"type": "web_search_call", "id": "w", "status": "failed"}], [("web_search", "no reason given")], id="search"
        ),
        pytest.param([CALL, RESULT, MCP], [], id="none"),
        pytest.param([CALL, {**RESULT, "status": "error", "output": "no"}], [("add", "no")], id="output"),
        pytest.param([{**MCP, "output": None, "error": "refused"}, MCP], [], id="a-retry-that-worked"),
    ],
)
def test_tools_that_failed(items: list[dict[str, Any]], failed: list[Any]) -> None:
    assert failed_tools(SkillResponse(messages=items)) == failed


def test_a_result_of_a_built_in_tool_names_it() -> None:
    outputs = [{"type": f"{name}_call_output", "id": "x", "output": "y"} for name in ("local_shell", "function", "custom_tool")]
    assert list(results_in_messages(outputs)) == [("messages[0]", "local_shell")]
