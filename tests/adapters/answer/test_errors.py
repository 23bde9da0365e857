"""What an error tells of the run before it is kept, whatever the way the skill is called."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.adapters.answer.envelope import partial_response, partial_response_in, read_answer, without_echo
from eval_skills.adapters.config import Limits
from eval_skills.adapters.process.jsonrpc import Reply
from eval_skills.adapters.python.host.answer import error_data
from eval_skills.adapters.python.host.errors import Unfinished
from eval_skills.adapters.python.host.langchain import refuse_waiting
from eval_skills.adapters.sandbox.limits import name_limit
from eval_skills.core.errors import ContractError, ItemError, SkillCrashed, SkillError
from eval_skills.core.models import Skill, SkillResponse, ToolCall, Usage
from tests.adapters.hosted import Hosted
from tests.adapters.mcp_probe import by_hand, failure, mcp_skill
from tests.adapters.wire import PATIENCE_S, Wire, response, skill
from tests.tables import each_row

MakeSkill = Callable[..., Skill]

CALLS = [{"name": "pay", "arguments": {"n": 5}}]
MESSAGES = [{"role": "assistant", "content": "paying"}]
TOLD = {"toolCalls": CALLS, "messages": MESSAGES, "usage": {"promptTokens": 3, "completionTokens": 4}, "costUsd": 0.5}
KNOWN = SkillResponse(
    tool_calls=[ToolCall(name="pay", arguments={"n": 5})],
    messages=MESSAGES,
    usage=Usage(prompt_tokens=3, completion_tokens=4),
    cost_usd=0.5,
)


@each_row(
    "error",
    [
        pytest.param(TOLD, id="itself"),
        pytest.param(TOLD | {"output": "half", "metadata": {"x": 1}}, id="an-output-is-no-part"),
        pytest.param({"error": "broke", "code": 7, **TOLD}, id="beside-the-message"),
        pytest.param({"code": 1, "message": "broke", "data": TOLD}, id="json-rpc"),
        pytest.param({"error": {"code": 1, "message": "broke", "data": TOLD}}, id="json-rpc-in-a-body"),
        pytest.param({"detail": TOLD}, id="detail"),
        pytest.param({"error": "broke", "toolCalls": [], "messages": None, "detail": TOLD}, id="the-outer-is-empty"),
    ],
)
def test_an_error_tells_of_the_run_at_any_of_its_places(error: Any) -> None:
    assert partial_response(error) == KNOWN
    assert partial_response_in(json.dumps(error).encode()) == KNOWN


@each_row(
    "error",
    [
        None, "broke", 7, [TOLD], {}, {"message": "broke"}, {"result": TOLD}, {"data": {"data": {"data": {"data": TOLD}}}},
        {"messages": "two of them", "usage": "call it with a name", "costUsd": "much"},
        {"messages": ["Field x is required"], "toolCalls": ["ls", {"id": "x"}]},
        {"usage": {"promptTokens": -1}, "costUsd": float("nan")}, {"toolCalls": {"name": "pay"}},
    ],
)  # fmt: skip
def test_an_error_need_not_tell_anything(error: Any) -> None:
    assert partial_response(error) is None


@each_row("body", [b"", b"<html>", b"{", b'{"costUsd": NaN}', b"\xff", b"[" * 1000 + b"]" * 1000])
def test_a_body_need_not_be_json(body: bytes) -> None:
    assert partial_response_in(body) is None


def test_what_cannot_be_read_is_left_out_call_by_call() -> None:
    error = {"toolCalls": [{"id": "x"}, *CALLS, "ls"], "messages": ["hi", *MESSAGES], "usage": 3, "costUsd": 0.5}
    known = partial_response(error)
    assert known is not None
    assert ([call.name for call in known.tool_calls or []], known.messages, known.usage) == (["pay"], MESSAGES, None)
    assert known.cost_usd == 0.5


@pytest.mark.parametrize("key", ["toolCalls", "messages"])
@pytest.mark.parametrize(
    "part", [pytest.param(1, id="number"), pytest.param({}, id="empty"), pytest.param({"name": 1}, id="other")]
)
def test_a_list_of_many_parts_does_not_hold_up_other_items(key: str, part: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One validation for all of them, and one for each of the first ten thousand; counted, since clocks differ."""
    asked = 0
    validate = SkillResponse.model_validate

    def counted(given: Any) -> SkillResponse:
        nonlocal asked
        asked += 1
        return validate(given)

    monkeypatch.setattr(SkillResponse, "model_validate", counted)
    partial_response({key: [part] * 30_000})
    assert asked <= 10_002


def test_messages_of_the_input_that_an_error_repeats_are_no_part_of_the_run() -> None:
    assert without_echo(KNOWN, {"messages": MESSAGES}) == KNOWN.model_copy(update={"messages": None})
    others: list[Any] = [{"messages": []}, {"messages": [*MESSAGES, *MESSAGES]}, MESSAGES, None, {"toolCalls": CALLS}]
    for given in others:
        assert without_echo(KNOWN, given) == KNOWN
    assert without_echo(None, {"messages": MESSAGES}) is None


ECHOING = """
class Refused(Exception):
    pass
def run(value):
    error = Refused("no")
    error.messages, error.cost_usd = value["messages"] + value["more"], 0.5
    raise error
"""


@pytest.mark.slow
@pytest.mark.parametrize(("more", "messages"), [([], None), (MESSAGES, MESSAGES * 2)])
async def test_a_call_drops_the_echo_of_its_input(python_skill: MakeSkill, more: Any, messages: Any) -> None:
    async with open_adapter(python_skill(ECHOING)) as adapter:
        with pytest.raises(SkillError, match=r"skill\.Refused: no") as caught:
            await adapter.call({"messages": MESSAGES, "more": more}, PATIENCE_S)
    assert caught.value.known == SkillResponse(messages=messages, cost_usd=0.5)


RAISING_CALLS = """
def run(calls):
    error = ValueError("no")
    error.tool_calls = calls
    raise error
"""


@pytest.mark.slow
async def test_calls_of_an_exception_that_cannot_be_read_are_said_to_be_unknown(python_skill: MakeSkill) -> None:
    async with open_adapter(python_skill(RAISING_CALLS)) as adapter:
        unreadable: list[Any] = ["pay", ["pay", *CALLS], [{"tool": "pay"}]]
        for calls in unreadable:
            with pytest.raises(SkillError, match=r"^ValueError: no; not all of its tool_calls can be read, .*pay") as caught:
                await adapter.call(calls, PATIENCE_S)
            assert (caught.value.known is not None) == (len(calls) == 2)
        readable: list[Any] = [CALLS, [], None]
        for calls in readable:
            with pytest.raises(SkillError, match=r"^ValueError: no$"):
                await adapter.call(calls, PATIENCE_S)


def test_a_malformed_envelope_keeps_what_can_be_read() -> None:
    with pytest.raises(ContractError, match="usage") as caught:
        read_answer({"output": 1, "toolCalls": CALLS, "usage": 3})
    assert caught.value.known == SkillResponse(tool_calls=KNOWN.tool_calls)


def test_an_error_reply_keeps_its_data_s() -> None:
    with pytest.raises(SkillError, match=r"^error 1: broke$") as caught:
        Reply({"code": 1, "message": "broke", "data": TOLD}, failed=True).result()
    assert caught.value.known == KNOWN
    with pytest.raises(SkillError, match=r'^error 1: broke \(\{"hint": "wait"\}\)$'):
        Reply({"code": 1, "message": "broke", "data": {"hint": "wait", **TOLD}}, failed=True).result()
    with pytest.raises(SkillError, match=r'^error 1: broke \(\{"messages": \["x is missing"\], "usage": "say x"\}\)$') as caught:
        Reply({"code": 1, "message": "broke", "data": {"messages": ["x is missing"], "usage": "say x"}}, failed=True).result()
    assert caught.value.known is None


def test_a_limit_that_explains_an_error_keeps_it() -> None:
    explained = name_limit(SkillError("MemoryError", known=KNOWN), Limits(memory_mb=64))
    assert str(explained).startswith("memory limit")
    assert explained.known == KNOWN


@pytest.mark.parametrize(
    ("status", "kind"),
    [pytest.param(422, SkillError, id="final"), pytest.param(500, SkillCrashed, id="transient")],
)
@pytest.mark.parametrize("padding", [pytest.param(0, id="short"), pytest.param(200_000, id="long")])
async def test_an_http_error_keeps_what_its_body_tells(wire: Wire, status: int, kind: type[ItemError], padding: int) -> None:
    wire.head = f"HTTP/1.1 {status} Oops\r\nContent-Type: Application/Problem+JSON; charset=utf-8"
    wire.answer = json.dumps({"detail": {"why": "x" * padding, **TOLD}}).encode()
    with pytest.raises(kind) as caught:
        await response(skill(f"{wire.url}/run"), {})
    assert caught.value.known == KNOWN
    assert len(str(caught.value)) < 500


async def test_an_http_error_longer_than_an_answer_may_be_tells_nothing(wire: Wire) -> None:
    wire.head = "HTTP/1.1 422 Oops\r\nContent-Type: application/json"
    wire.answer = json.dumps({"why": "x" * 20_000, **TOLD}).encode()
    with pytest.raises(SkillError, match="HTTP 422") as caught:
        await response(skill(f"{wire.url}/run", maxOutputBytes=10_000), {})
    assert caught.value.known is None


async def test_an_error_in_a_stream_keeps_what_it_tells(wire: Wire) -> None:
    wire.head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"
    wire.answer = b"event: error\ndata: " + json.dumps({"error": "broke", **TOLD}).encode() + b"\n\n"
    with pytest.raises(ContractError, match="reported an error") as caught:
        await response(skill(f"{wire.url}/run", stream={"format": "sse"}), {})
    assert caught.value.known == KNOWN


@pytest.mark.slow
async def test_a_tool_s_error_keeps_its_content_s(tmp_path: Path) -> None:
    told = json.dumps({"error": "broke", **TOLD})
    error = await failure(mcp_skill(tmp_path, by_hand(), "fail"), {"text": told})
    assert isinstance(error, SkillError)
    assert error.known == KNOWN.model_copy(update={"content": [{"type": "text", "text": told}]})
    too_long = await failure(mcp_skill(tmp_path, by_hand(), "fail", maxOutputBytes=100), {"text": json.dumps(TOLD)})
    assert (type(too_long), too_long.known) == (SkillError, None)


RAISING = """
class Stopped(Exception):
    def __init__(self, message, **told):
        super().__init__(message)
        self.__dict__ |= told
    @property
    def usage(self):
        raise RuntimeError("computed")
def run(value):
    raise Stopped("no more", tool_calls=[{"name": "pay", "arguments": {"n": 5}}], messages=value, cost_usd=0.5)
"""


def test_an_exception_tells_by_its_attributes(hosted: Callable[..., Hosted]) -> None:
    stopped = hosted(RAISING)
    stopped.load("skill:run")
    reply = stopped.ask(MESSAGES)["error"]
    assert reply["message"] == "skill.Stopped: no more"
    assert reply["data"] == {"toolCalls": CALLS, "messages": MESSAGES, "costUsd": 0.5}
    assert stopped.ask("\ud800")["error"]["data"] == {"toolCalls": CALLS, "costUsd": 0.5}


DEEP_AND_LONG = """
def nested(levels):
    return "x" if not levels else [nested(levels - 1)]
def run(value):
    error = ValueError("no more" + "\\U0001f600" * 3000)
    error.messages = [{"role": "assistant", "content": nested(value["levels"]) + ["x" * value["chars"]]}]
    error.cost_usd = 0.5
    raise error
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("levels", "chars", "is_told"), [(100, 10, True), (185, 10, True), (195, 10, False), (600, 10, False), (1, 200_000, False)]
)
async def test_what_an_exception_tells_never_costs_its_message(
    python_skill: MakeSkill, levels: int, chars: int, is_told: bool
) -> None:
    async with open_adapter(python_skill(DEEP_AND_LONG, maxOutputBytes=100_000)) as adapter:
        with pytest.raises(SkillError, match=r"^ValueError: no more") as caught:
            await adapter.call({"levels": levels, "chars": chars}, PATIENCE_S)
    assert caught.value.known is not None
    assert (caught.value.known.messages is not None, caught.value.known.cost_usd) == (is_told, 0.5)


async def test_an_exception_of_a_function_keeps_what_it_tells(python_skill: MakeSkill) -> None:
    async with open_adapter(python_skill(RAISING)) as adapter:
        with pytest.raises(SkillError, match=r"skill\.Stopped: no more") as caught:
            await adapter.call(MESSAGES, PATIENCE_S)
    assert caught.value.known == KNOWN.model_copy(update={"usage": None})


def test_a_graph_that_waits_tells_its_messages() -> None:
    with pytest.raises(Unfinished, match=r"waits for input: sure\?") as caught:
        refuse_waiting({"__interrupt__": ["sure?"], "messages": MESSAGES}, None, {})
    assert error_data(caught.value) == {"data": {"messages": MESSAGES}}
