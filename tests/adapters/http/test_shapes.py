"""Answers in the shapes of OpenAI's and Anthropic's APIs: the same whole and streamed, and known however a stream ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from eval_skills.adapters import check_skill
from eval_skills.core.errors import ContractError, InputError, SkillTimeout, SkillUnavailable
from eval_skills.core.models import SkillResponse
from tests.adapters.http.shapes import (
    ANTHROPIC_CONTENT,
    EVENTS,
    RESPONSE,
    RESPONSES_WHOLE,
    TEXT_ITEM,
    WHOLE,
    chunk,
    piece,
    sse,
    streamed,
)
from tests.adapters.wire import Wire, failure, response, skill
from tests.tables import each_row

SSE = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"
CALLS: dict[str, list[tuple[str, Any, Any]]] = {
    "openai-chat": [("search", {"city": "Bern"}, None)],
    "openai-responses": [("search", {"city": "Bern"}, None), ("pay", {}, "paid")],
    "anthropic-messages": [
        ("search", {"city": "Bern"}, None),
        ("web_search", {"query": "Bern"}, ANTHROPIC_CONTENT[4]["content"]),
    ],
}
FINISH = {"openai-chat": "tool_calls", "openai-responses": "completed", "anthropic-messages": "tool_use"}


def calls_of(known: SkillResponse | None) -> list[tuple[str, Any, Any]]:
    return [(call.name, call.arguments, call.result) for call in (known and known.tool_calls) or []]


@pytest.mark.parametrize("shape", WHOLE)
async def test_an_answer_is_the_same_whole_and_streamed(wire: Wire, shape: str) -> None:
    wire.answer = json.dumps(WHOLE[shape]).encode()
    whole = await response(skill(wire.url, responseShape=shape), {})
    wire.head, wire.answer = SSE, streamed(shape)
    stream = await response(skill(wire.url, responseShape=shape), {})
    assert wire.headers()["accept"] == "application/json, text/event-stream"
    for got in (whole, stream):
        assert (got.output, got.finish_reason) == ("Looking.", FINISH[shape])
        assert got.usage is not None
        assert (got.usage.prompt_tokens, got.usage.completion_tokens) == (9, 12)
        assert calls_of(got) == CALLS[shape]
    assert stream.tool_calls == whole.tool_calls
    if shape != "openai-chat":
        assert stream.messages == whole.messages
    assert (whole.time_to_first_token_ms is None, stream.time_to_first_token_ms is None) == (True, False)


@pytest.mark.parametrize("first", [{}, {"index": 0}], ids=["not-numbered", "numbered"])
async def test_of_several_choices_the_first_counts(wire: Wire, first: dict[str, int]) -> None:
    choices = [{**first, "message": {"content": "Bern"}}, {"index": 1, "message": {"content": "Rome"}}]
    for order in (choices, choices[::-1]) if first else (choices,):
        wire.answer = json.dumps({"choices": order}).encode()
        assert (await response(skill(wire.url, responseShape="openai-chat"), {})).output == "Bern"


_THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Where? There."}]}


@each_row(
    ("pieces", "whole"),
    [
        ([[{"type": "text", "text": "Look"}], [{"type": "text", "text": "ing."}]], [{"type": "text", "text": "Looking."}]),
        ([[{"type": "thinking", "thinking": [{"type": "text", "text": "Where? "}]}],
          [{"type": "thinking", "thinking": [{"type": "text", "text": "There."}]}], "Look", "ing."],
         [_THOUGHT, {"type": "text", "text": "Looking."}]),
        (["Look", [_THOUGHT], "ing."], [{"type": "text", "text": "Look"}, _THOUGHT, {"type": "text", "text": "ing."}]),
    ],
)  # fmt: skip
async def test_a_chat_whose_content_is_streamed_as_parts_is_whole(wire: Wire, pieces: list[Any], whole: list[Any]) -> None:
    wire.head, wire.answer = SSE, sse([chunk({"content": ""}), *(chunk({"content": each}) for each in pieces), chunk({}, "stop")])
    got = await response(skill(wire.url, responseShape="openai-chat"), {})
    assert got.output == "Looking."
    assert (got.messages or [])[0]["content"] == whole


@each_row("before", [[], [chunk({"content": "Look"}), chunk({"content": "ing."})]])
async def test_a_chat_that_is_streamed_in_one_event_is_whole(wire: Wire, before: list[Any]) -> None:
    """As services do that cannot stream, and as others end a stream."""
    wire.head, wire.answer = SSE, sse([*before, WHOLE["openai-chat"]], done=True)
    got = await response(skill(wire.url, responseShape="openai-chat"), {})
    assert (got.output, got.finish_reason) == ("Looking.", "tool_calls")
    assert calls_of(got) == CALLS["openai-chat"]
    assert got.time_to_first_token_ms is not None


_CHOICE = {"index": 0, "finish_reason": "error", "error": {"code": 502, "message": "oops"}}
_CALLED = {"role": "assistant", "content": "Look", "tool_calls": [{"id": "a", "function": {"name": "search", "arguments": "{}"}}]}
_FAILED = {**RESPONSES_WHOLE, "status": "failed"}


@each_row(
    ("shape", "error", "kind"),
    [
        ("openai-chat", {"code": 502, "message": "oops"}, SkillUnavailable),
        ("openai-chat", {"code": 400, "message": "oops"}, ContractError),
        ("openai-responses", {"code": "server_error", "message": "oops"}, SkillUnavailable),
        ("openai-responses", {"code": "rate_limit_exceeded", "message": "oops"}, SkillUnavailable),
        ("openai-responses", {"code": "invalid_prompt", "message": "oops"}, ContractError),
    ],
)
async def test_an_error_inside_the_answer_is_none_of_it(wire: Wire, shape: str, error: Any, kind: type[Exception]) -> None:
    """That of one choice, beside half an answer, and that of a response which failed; whole and streamed."""
    bodies: tuple[Any, Any]
    if shape == "openai-chat":
        choice = {**_CHOICE, "error": error}
        bodies = {"choices": [{**choice, "message": _CALLED}]}, [chunk(_CALLED), {"choices": [{**choice, "delta": {}}]}]
    else:
        bodies = {**_FAILED, "error": error}, [{"type": "response.failed", "response": {**_FAILED, "error": error}}]
    for head, body in zip(("HTTP/1.1 200 OK", SSE), bodies, strict=True):
        wire.head, wire.answer = head, sse(body) if isinstance(body, list) else json.dumps(body).encode()
        problem = await failure(skill(wire.url, responseShape=shape), {})
        assert type(problem) is kind, problem
        assert "oops" in str(problem)
        assert "search" in [name for name, _, _ in calls_of(problem.known)]


async def test_an_error_of_another_choice_is_not_that_of_the_first(wire: Wire) -> None:
    wire.head, wire.answer = (
        SSE,
        sse([chunk({"content": "Bern"}), {"choices": [{**_CHOICE, "index": 1, "delta": {}}]}, chunk({}, "stop")]),
    )
    assert (await response(skill(wire.url, responseShape="openai-chat"), {})).output == "Bern"


CUTS = {"openai-chat": 4, "openai-responses": 9, "anthropic-messages": 11}
"""So many events had come when the name of a tool was known, and none of its arguments."""
ERRORS = {
    "openai-chat": {"error": {"message": "bad luck", "type": "invalid_request_error", "code": None}},
    "openai-responses": {"type": "error", "code": "invalid", "message": "bad luck", "param": None, "sequence_number": 9},
    "anthropic-messages": {"type": "error", "error": {"type": "invalid_request_error", "message": "bad luck"}},
}


@pytest.mark.parametrize("shape", WHOLE)
@pytest.mark.parametrize(
    ("end", "kind"),
    [("error", ContractError), ("overloaded", SkillUnavailable), ("cut", SkillUnavailable), ("hang", SkillTimeout)],
)
async def test_what_was_called_is_known_however_a_stream_ends(shape: str, end: str, kind: type[Exception]) -> None:
    error = json.loads(json.dumps(ERRORS[shape]).replace("bad luck", "Overloaded" if end == "overloaded" else "bad luck"))
    events = EVENTS[shape][: CUTS[shape]] + ([error] if end in ("error", "overloaded") else [])
    held = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"{SSE}\r\nConnection: close\r\n\r\n".encode() + streamed(shape, events, done=False))
        await writer.drain()
        if end == "hang":
            await held.wait()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        error = await failure(skill(url, responseShape=shape, method="GET"), {}, 2.0 if end == "hang" else 60.0)
        held.set()
    assert type(error) is kind, error
    assert [name for name, _, _ in calls_of(error.known)] == ["search"]
    assert error.known is not None
    assert error.known.messages


@pytest.mark.parametrize(
    ("events", "names"),
    [
        pytest.param([piece(0, id="a", name="search", arguments="{}"), piece(0, id="b", name="pay", arguments="{}")],
                     ["search", "pay"], id="all-numbered-0"),
        pytest.param([piece(None, id="a", name="search", arguments="{}"), piece(None, id="b", name="pay", arguments="{}")],
                     ["search", "pay"], id="not-numbered"),
        pytest.param([piece(0, name="search", arguments="{}"), piece(0, name="pay", arguments="{}")],
                     ["search", "pay"], id="neither-numbered-nor-named"),
        pytest.param([piece(0, id="a", name="search", arguments=""), piece(1, id="b", name="pay", arguments="{"),
                      piece(0, arguments="{}"), piece(1, arguments="}")], ["search", "pay"], id="interleaved"),
        pytest.param([piece(0, id="a", name="search", arguments="{"), piece(0, id="a", name="search", arguments="}")],
                     ["search"], id="name-repeated"),
        pytest.param([chunk({"function_call": {"name": "search", "arguments": "{"}}),
                      chunk({"function_call": {"arguments": "}"}})], ["search"], id="function-call-of-old"),
        pytest.param([piece(0, id="a", arguments="{}")], [""], id="nameless-is-unknown"),
    ],
)  # fmt: skip
async def test_parallel_calls_of_a_chat_are_told_apart(wire: Wire, events: list[Any], names: list[str]) -> None:
    wire.head, wire.answer = SSE, sse([*events, chunk({}, "tool_calls")])
    got = await response(skill(wire.url, responseShape="openai-chat"), {})
    assert [(name, arguments) for name, arguments, _ in calls_of(got)] == [(name, {}) for name in names]
    assert got.output == ""


@pytest.mark.parametrize(
    ("shape", "body", "kind", "message"),
    [
        pytest.param(
            "openai-chat", {"output": 5}, ContractError, r"no choices\[0\].message, which responseShape openai", id="other"
        ),
        pytest.param("openai-chat", [1], ContractError, "not an object, which responseShape openai-chat expects", id="list"),
        pytest.param("openai-responses", {"output": "5"}, ContractError, "has no list `output`", id="envelope"),
        pytest.param("anthropic-messages", {"content": "5"}, ContractError, "has no list `content`", id="text"),
        pytest.param("openai-responses", {**RESPONSE, "status": "queued", "output": []}, ContractError, "is queued", id="queued"),
        pytest.param(
            "openai-responses",
            {**RESPONSE, "status": "failed", "output": [], "error": {"code": "server_error", "message": "oops"}},
            SkillUnavailable,
            "the answer is an error: .*oops",
            id="failed",
        ),
        pytest.param(
            "openai-responses",
            {**RESPONSE, "status": "cancelled", "output": []},
            ContractError,
            "response is cancelled",
            id="cancelled",
        ),
    ],
)
async def test_what_has_another_shape_is_a_contract_error(
    wire: Wire, shape: str, body: Any, kind: type[Exception], message: str
) -> None:
    wire.answer = json.dumps(body).encode()
    with pytest.raises(kind, match=message):
        await response(skill(wire.url, responseShape=shape), {})


async def test_a_response_that_failed_has_called_what_it_lists(wire: Wire) -> None:
    wire.answer = json.dumps({**RESPONSES_WHOLE, "status": "failed", "error": {"code": "x", "message": "oops"}}).encode()
    error = await failure(skill(wire.url, responseShape="openai-responses"), {})
    assert [name for name, _, _ in calls_of(error.known)] == ["search", "pay"]


@pytest.mark.parametrize("shape", WHOLE)
async def test_a_page_and_an_empty_body_are_no_answers(wire: Wire, shape: str) -> None:
    wire.head = "HTTP/1.1 200 OK\r\nContent-Type: text/html"
    for wire.answer in (b"<html>sign in</html>", b""):
        assert isinstance(await failure(skill(wire.url, responseShape=shape), {}), ContractError)


async def test_a_stream_that_was_cut_off_by_its_limit_of_tokens_says_so(wire: Wire) -> None:
    cut = {
        **RESPONSES_WHOLE,
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [TEXT_ITEM],
    }
    wire.head, wire.answer = SSE, streamed("openai-responses", [{"type": "response.incomplete", "response": cut}])
    got = await response(skill(wire.url, responseShape="openai-responses"), {})
    assert (got.output, got.finish_reason, got.tool_calls) == ("Looking.", "max_output_tokens", [])


@pytest.mark.parametrize("named", ["outputPath", "stream", "toolCallsPath", "messagesPath"])
def test_a_shape_says_where_everything_is(named: str) -> None:
    given = {} if named == "stream" else "/x"
    with pytest.raises(InputError, match=f"responseShape openai-chat says where everything is; remove {named}"):
        check_skill(skill("http://127.0.0.1:9/", responseShape="openai-chat", **{named: given}))
