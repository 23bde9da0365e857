"""What a line of a program of one's own says of calls: they are told, or they are unknown, and never passed over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval_skills.adapters.agent.config import AgentConfig
from eval_skills.adapters.agent.limits import Enough
from eval_skills.adapters.agent.runtimes.custom import Custom
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.core.models import EvalTask, SkillResponse
from eval_skills.scorers import score_response_sync
from tests.tables import each_row

STEP = {"type": "step"}
DONE = {"type": "answer", "content": "done"}
FUNCTION = {"name": "pay", "arguments": '{"chf": 5}'}
TOLD = {"type": "tool_call", "id": "1", "name": "pay", "arguments": {"chf": 5}}
OPENAI = {"id": "1", "type": "function", "function": FUNCTION}
CUT = '{"type": "tool_call", "name": "pay", "arguments": {'


def heard(*lines: dict[str, Any] | str) -> Transcript:
    transcript = Transcript(["csv"], "/w")
    for line in lines:
        Custom().read(line if isinstance(line, str) else json.dumps(line), transcript)
    return transcript


def read(*lines: dict[str, Any] | str) -> SkillResponse:
    return heard(*lines).response()


def said(**more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": "", **more}


def codes(response: SkillResponse) -> list[str]:
    task = {"id": "t", "expected": {"forbiddenTools": ["pay"], "output": {"contains": ["done"]}}}
    return [each.code for each in score_response_sync(EvalTask.model_validate(task), response).reasons]


@each_row(
    "line",
    [
        pytest.param(TOLD, id="the-event"),
        pytest.param(f"\ufeff{json.dumps(TOLD)}", id="behind-a-byte-order-mark"),
        pytest.param({"type": "tool_call", "id": 1, "function": FUNCTION}, id="function"),
        pytest.param({"type": "tool_call", "id": "1", "tool": "pay", "input": {"chf": 5}}, id="tool"),
        pytest.param(said(tool_calls=[OPENAI]), id="openai"),
        pytest.param({"type": "message", "role": "assistant", "tool_calls": [OPENAI]}, id="openai-without-content"),
        pytest.param(said(content=[{"type": "tool_use", "id": "1", "name": "pay", "input": {"chf": 5}}]), id="anthropic"),
        pytest.param({"role": "assistant", "content": None, "tool_calls": [OPENAI]}, id="openai-without-a-type"),
        pytest.param(
            {"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "pay", "args": {"chf": 5}}]}, id="langchain"
        ),
        pytest.param({"type": "tool_use", "id": "1", "name": "pay", "input": {"chf": 5}}, id="block"),
        pytest.param({"type": "function_call", "call_id": "1", **FUNCTION}, id="responses"),
        pytest.param({"type": "mcp_call", "id": "1", **FUNCTION}, id="responses-mcp"),
        pytest.param({"type": "toolCall", "id": "1", **FUNCTION}, id="camel-case"),
        pytest.param({**DONE, "toolCalls": [{"id": "1", "name": "pay", "arguments": {"chf": 5}}]}, id="beside-the-answer"),
        pytest.param({**DONE, "messages": [{"role": "assistant", "tool_calls": [OPENAI]}]}, id="messages-beside-the-answer"),
    ],
)
def test_a_call_counts_in_each_notation(line: dict[str, Any] | str) -> None:
    response = read(line, STEP, DONE)
    assert [(call.name, call.id, call.arguments) for call in response.tool_calls or ()] == [("pay", "1", {"chf": 5})]
    assert codes(response) == ["FORBIDDEN_TOOL_CALLED"]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param({"type": "message", "role": "tool", "name": "pay", "tool_call_id": "1", "content": "paid"}, id="message"),
        pytest.param({"role": "tool", "name": "pay", "tool_call_id": "1", "content": "paid"}, id="message-without-a-type"),
        pytest.param({"type": "tool_result", "id": "1", "name": "pay", "result": "paid"}, id="event"),
    ],
)
def test_a_result_that_names_the_tool_is_a_call(line: dict[str, Any]) -> None:
    response = read(line, STEP, DONE)
    assert [(call.name, call.result) for call in response.tool_calls or ()] == [("pay", "paid")]
    assert codes(response) == ["FORBIDDEN_TOOL_CALLED"]


@each_row(
    "line",
    [
        pytest.param({"type": "tool_call", "id": "1", "arguments": {}}, id="no-name"),
        pytest.param({"type": "tool_call", "id": "1", "name": ["pay"]}, id="name-in-a-list"),
        pytest.param({"type": "tool_call", "id": "1", "name": " "}, id="blank-name"),
        pytest.param({"type": "tool_result", "id": "9", "result": "paid"}, id="result-of-no-call"),
        pytest.param({"type": "tool_result", "result": "paid"}, id="result-without-an-id"),
        pytest.param({"type": "function_call_output", "call_id": "9", "output": "paid"}, id="output-of-no-call"),
        pytest.param(said(tool_calls=[{"id": "1"}]), id="message-with-a-call-without-a-name"),
        pytest.param(said(role="critic", tool_calls=[{"name": "look"}]), id="message-of-nobody-known"),
        pytest.param({**DONE, "toolCalls": [{"id": "1"}]}, id="beside-the-answer"),
        pytest.param({"type": "toolcall", "id": "1"}, id="misspelt"),
        pytest.param({"type": "tool_call_begin", "name": "pay"}, id="unknown-event-of-a-call"),
        pytest.param({"type": "assistant", "message": said(tool_calls=[OPENAI])}, id="within-another-event"),
        pytest.param({"type": "event", "choices": [{"message": {"tool_calls": [OPENAI]}}]}, id="deep-within-another-event"),
        pytest.param({"type": "skill_loaded", "name": ["csv"]}, id="load-of-a-list"),
        pytest.param({"type": "tool", "tool": "pay", "callID": "1", "state": {}}, id="part-of-opencode"),
        pytest.param({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay"}}, id="request-of-mcp"),
        pytest.param({"type": "AIMessageChunk", "content": "", "tool_call_chunks": [{"name": "y", "index": 0}]}, id="piece"),
        pytest.param(CUT, id="cut-off"),
        pytest.param('{"type": "tool_ca', id="cut-off-early"),
        pytest.param('{"type": "step"}{"type": "tool_call", "name": "pay"}', id="two-on-a-line"),
        pytest.param('[{"type": "tool_call", "name": "pay"}]', id="list"),
        pytest.param('  "type": "tool_call",', id="over-several-lines"),
        pytest.param('{"type": "tool_call", "name": "pay", "arguments": {"chf": NaN}}', id="not-json"),
        pytest.param(f"data: {json.dumps(TOLD)}", id="server-sent-event"),
        pytest.param(f"2026-11-29 INFO {json.dumps(TOLD)}", id="behind-a-time"),
        pytest.param(f"\x1b[32m{json.dumps(TOLD)}\x1b[0m", id="in-colour"),
        pytest.param(f"sent {json.dumps(STEP)} and {json.dumps(said(tool_calls=[OPENAI]))}", id="two-in-a-text"),
        pytest.param(f"INFO {CUT}", id="cut-off-behind-a-level"),
    ],
)
def test_a_line_that_may_hide_a_call_leaves_them_unknown(line: dict[str, Any] | str) -> None:
    response = read(line, STEP, said(content="I look."), DONE)
    assert (response.tool_calls, response.skills_loaded) == (None, None)
    assert codes(response) == ["TOOL_CALLS_UNKNOWN"]


@each_row(
    "line",
    [
        pytest.param("12 rows of {a} read", id="text"),
        pytest.param("{'type': 'tool_call'}", id="not-quoted-as-json"),
        pytest.param('INFO {"type": "progress"} of {"share": 0.', id="cut-off-in-a-text"),
        pytest.param('offers {"tools": [{"type": "function", "function": {"name": "pay"}}]}', id="offered-in-a-text"),
        pytest.param('{"type": "progress", "share": 0.', id="cut-off-and-no-event"),
        pytest.param({"level": "info", "msg": "calls pay"}, id="log"),
        pytest.param({"name": "pay", "args": ["x"], "levelname": "INFO"}, id="log-of-python"),
        pytest.param({"type": "message"}, id="message-of-nothing"),
        pytest.param({"type": "llm_call", "id": "7", "model": "m"}, id="log-of-its-model"),
        pytest.param({"type": "command_output", "text": "ok"}, id="log-of-a-command"),
        pytest.param({"type": "stats", "tool_calls": 3, "steps": 2}, id="counts"),
        pytest.param({"type": "request", "body": {"tools": [{"type": "function", "function": {"name": "pay"}}]}}, id="offered"),
        pytest.param({"type": "user", "content": "Pay."}, id="the-user-s"),
        pytest.param(said(content=[{"type": "text", "text": "I look."}]), id="text-in-a-block"),
    ],
)
def test_a_line_that_tells_of_no_call_leaves_them_known(line: dict[str, Any] | str) -> None:
    response = read(line, STEP, DONE)
    assert (response.tool_calls, response.skills_loaded, response.steps) == ([], [], 1)
    assert codes(response) == []


@each_row(
    "twice",
    [
        pytest.param(said(tool_calls=[OPENAI]), id="message"),
        pytest.param({"type": "log", "reply": said(tool_calls=[OPENAI])}, id="log"),
        pytest.param(f"DEBUG reply: {json.dumps(said(tool_calls=[OPENAI]))}", id="text-of-a-log"),
        pytest.param({"type": "tool_call_begin", "id": "1", "name": "pay"}, id="begin"),
    ],
)
def test_a_call_that_is_told_twice_is_one(twice: dict[str, Any] | str) -> None:
    result = {"type": "tool_result", "id": "1", "result": "paid"}
    summary = {**DONE, "toolCalls": [{"name": "pay", "arguments": {"chf": 5}}]}
    for lines in ([twice, TOLD, result], [TOLD, result, twice]):
        assert [call.name for call in read(*lines, STEP, summary).tool_calls or ()] == ["pay"]


def told(name: str, chf: int) -> dict[str, Any]:
    return {"type": "tool_call", "id": "0", "name": name, "arguments": {"chf": chf}}


def meant(name: str, chf: int) -> dict[str, Any]:
    return said(tool_calls=[{"id": "0", "function": {"name": name, "arguments": json.dumps({"chf": chf})}}])


@pytest.mark.parametrize("notation", [told, meant])
@pytest.mark.parametrize(
    "between", [[], [{"type": "tool_result", "id": "0", "result": "ok"}]], ids=["at-once", "after-its-result"]
)
@pytest.mark.parametrize(("name", "chf"), [("pay", 5), ("read", 7)], ids=["another-tool", "other-arguments"])
def test_a_call_with_the_id_of_another_one_is_a_call(notation: Any, between: list[Any], name: str, chf: int) -> None:
    """There are models that number their calls anew in every turn."""
    response = read(STEP, notation("read", 5), *between, notation(name, chf), DONE)
    assert [(call.name, call.arguments) for call in response.tool_calls or ()] == [("read", {"chf": 5}), (name, {"chf": chf})]
    assert ("FORBIDDEN_TOOL_CALLED" in codes(response)) is (name == "pay")


def test_results_of_calls_with_one_id_belong_to_them_in_their_order() -> None:
    results = [{"type": "tool_result", "id": "0", "result": each} for each in ("first", "second")]
    response = read(told("read", 5), told("pay", 5), *results, DONE)
    assert [(call.name, call.result) for call in response.tool_calls or ()] == [("read", "first"), ("pay", "second")]


def test_a_message_keeps_its_words_beside_its_calls() -> None:
    response = read(
        said(content=[{"type": "text", "text": "I pay."}, {"type": "tool_use", "id": "1", "name": "pay", "input": {}}]),
        {"type": "message", "role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "paid"}]},
        DONE,
    )
    assert response.messages is not None
    assert [(message["role"], message["content"]) for message in response.messages] == [("assistant", "I pay."), ("tool", "paid")]
    assert [(call.name, call.result) for call in response.tool_calls or ()] == [("pay", "paid")]


@each_row(
    "line",
    [
        pytest.param({"type": "answer", "content": f"{'x' * 200_000} done"}, id="answer"),
        pytest.param(said(content=f"{'x' * 200_000} done"), id="last-message"),
    ],
)
def test_a_long_answer_is_judged_whole(line: dict[str, Any]) -> None:
    response = read(STEP, said(content="I look."), line)
    assert response.output == line["content"]
    assert codes(response) == []


@each_row(
    "line",
    [
        pytest.param('{"type": "answer", "content": "not so', id="cut-off"),
        pytest.param('{"type": "ans', id="cut-off-early"),
        pytest.param('{"type": "answer", "content": "no \\ud83d"}', id="half-a-character"),
        pytest.param('{"type": "answer", "content": "no", "score": NaN}', id="not-json"),
        pytest.param('  "type": "answer",', id="over-several-lines"),
        pytest.param({"type": "answer", "text": "no"}, id="without-content"),
        pytest.param({"type": "answer", "content": None}, id="null"),
    ],
)
def test_what_was_said_before_an_answer_that_cannot_be_read_is_not_taken_for_it(line: dict[str, Any] | str) -> None:
    for before in (said(content="done"), DONE):
        transcript = heard(STEP, before, line)
        assert "got " in transcript.unread
        Custom().read(json.dumps(DONE), transcript)
        assert transcript.unread == ""


def test_a_message_that_cannot_be_read_may_have_been_the_last_one() -> None:
    cut = '{"type": "message", "role": "assistant", "content": "no'
    assert cut in heard(STEP, said(content="done"), cut).unread
    for after in (said(content="done"), DONE):
        assert heard(STEP, cut, after).unread == ""
    assert heard(DONE, cut).unread == ""


@each_row(
    "line",
    [
        pytest.param('INFO {"type": "answer", "content": "no', id="behind-a-level"),
        pytest.param('[12:00:01] {"type": "answer", "content": "done"}', id="behind-a-time"),
        pytest.param({"type": "message"}, id="message-of-nothing"),
        pytest.param(CUT, id="call"),
    ],
)
def test_a_line_of_the_log_leaves_the_answer_known(line: dict[str, Any] | str) -> None:
    assert heard(STEP, said(content="done"), line).unread == ""


def test_a_call_beside_an_answer_without_content_counts() -> None:
    response = read(STEP, {"type": "answer", "content": None, "toolCalls": [{"name": "pay"}]}, DONE)
    assert codes(response) == ["FORBIDDEN_TOOL_CALLED"]


def test_an_answer_above_the_limit_of_an_answer_is_an_error() -> None:
    transcript, enough = Transcript(), Enough(AgentConfig(max_output_bytes=300_000))
    Custom().read(json.dumps(DONE | {"content": "x" * 300_001}), transcript)
    assert enough.check(transcript)
    assert "has more than 300,000 bytes (maxOutputBytes)" in str(enough.problem)


def test_tokens_and_an_answer_say_nothing_of_what_was_called() -> None:
    usage = {"type": "usage", "promptTokens": 9, "completionTokens": 4}
    assert read(usage, DONE).tool_calls is None
    assert read(usage, STEP, DONE).tool_calls == []


def usage(**figures: Any) -> dict[str, Any]:
    return {"type": "usage", **figures}


def spent(*lines: dict[str, Any] | str) -> tuple[int | None, int | None, float | None]:
    response = read(*lines, STEP, DONE)
    assert response.usage is not None
    return response.usage.prompt_tokens, response.usage.completion_tokens, response.cost_usd


WHOLE = usage(promptTokens=50, completionTokens=5, costUsd=0.1)


@each_row(
    ("lines", "sums"),
    [
        pytest.param([WHOLE, WHOLE], (100, 10, 0.2), id="each-turn-has-all"),
        pytest.param([usage(prompt_tokens=50, completion_tokens=5, cost_usd=0.1)], (50, 5, 0.1), id="snake-case"),
        pytest.param([usage(promptTokens=50), usage(completionTokens=5), usage(costUsd=0.1)], (50, 5, 0.1), id="apart"),
        pytest.param(
            [usage(promptTokens=50, completionTokens=5)] * 2 + [usage(costUsd=0.1)], (100, 10, 0.1), id="cost-at-the-end"
        ),
        pytest.param([WHOLE, usage(promptTokens=50)], (100, None, None), id="a-turn-without-the-rest"),
        pytest.param([usage(promptTokens=50, completionTokens=5), WHOLE], (100, 10, None), id="a-turn-without-a-cost"),
        pytest.param([usage(promptTokens=50, completionTokens=None, costUsd=None)], (50, None, None), id="nulls"),
        pytest.param([WHOLE, usage(promptTokens="50")], (None, None, None), id="a-text"),
        pytest.param([usage(promptTokens=50, completionTokens=5, costUsd="0.1")], (50, 5, None), id="a-cost-in-quotes"),
        pytest.param([WHOLE, usage(promptTokens=1, completionTokens=-5, costUsd=0.1)], (51, None, 0.2), id="negative"),
        pytest.param([WHOLE, usage(promptTokens=1, completionToken=5, costUsd=0.1)], (51, None, 0.2), id="misspelt"),
        pytest.param([WHOLE, '{"type": "usage", "promptTokens": 5, "cos'], (None, None, None), id="cut-off"),
        pytest.param([WHOLE, usage(promptTokens=10**20, completionTokens=5, costUsd=1e300)], (None, 10, None), id="too-much"),
    ],
)
def test_sums_are_whole_or_unknown(lines: list[dict[str, Any] | str], sums: tuple[Any, ...]) -> None:
    assert spent(*lines) == sums


@each_row(
    ("line", "said"),
    [
        pytest.param(usage(cost_usd=100), "has cost $100, more than", id="snake-case"),
        pytest.param(usage(costUsd=1e300), "has cost $1e+09, more than", id="too-much"),
        pytest.param(usage(costUsd="100"), 'reported a cost that cannot be read, costUsd: "100"', id="in-quotes"),
        pytest.param(usage(costUsdd=100), "reported a cost that cannot be read, costUsdd: 100", id="misspelt"),
        pytest.param(usage(promptTokens=100), None, id="no-cost"),
    ],
)
def test_a_limit_of_the_cost_holds_for_each_spelling_and_is_never_passed_over(line: dict[str, Any], said: str | None) -> None:
    transcript, enough = Transcript(), Enough(AgentConfig(max_cost_usd=0.5))
    Custom().read(json.dumps(line), transcript)
    assert enough.check(transcript) is (said is not None)
    assert said is None or said in str(enough.problem)
