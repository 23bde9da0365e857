"""Answers that are streamed: the output, what it cost, and when its first piece came."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eval_skills.adapters.call import Call
from eval_skills.core.errors import ContractError, ItemError, SkillThrottled, SkillTimeout, SkillUnavailable
from tests.adapters.http.test_stream_answer import ANTHROPIC, OPENAI, OPENAI_STREAM
from tests.adapters.wire import Wire, failure, response, skill
from tests.tables import each_row

SSE = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"


@pytest.mark.parametrize(
    ("body", "config", "output", "tokens"),
    [
        pytest.param(OPENAI, {"stream": OPENAI_STREAM, "usagePath": "/usage"}, "42 é", (5, 2), id="openai"),
        pytest.param(
            ANTHROPIC,
            {
                "stream": {"mode": "concat", "path": "/delta/text", "done": "message_stop"},
                "usagePath": ["/message/usage", "/usage"],
            },
            "Hey",
            (5, 9),
            id="anthropic",
        ),
        pytest.param(
            b'{"r": "4", "done": false}\n{"r": "2", "done": true, "n": {"prompt_tokens": 3}}\n',
            {"stream": {"format": "jsonl", "mode": "concat", "path": "/r"}, "usagePath": "/n"},
            "42",
            (3, None),
            id="json-lines",
        ),
        pytest.param(
            b'data: {"output": 42, "usage": {"promptTokens": 1, "completionTokens": 2}}\n\n',
            {"stream": {}},
            42,
            (1, 2),
            id="the-last-event-may-be-our-envelope",
        ),
        pytest.param(
            b'data: {"output": 42}\n\n', {"stream": {}, "method": "POST"}, {"output": 42}, None, id="but-not-of-an-own-shape"
        ),
    ],
)
async def test_outputs(
    wire: Wire, body: bytes, config: dict[str, Any], output: Any, tokens: tuple[int | None, int | None] | None
) -> None:
    wire.head, wire.answer = SSE, body
    got = await response(skill(wire.url, **config), {})
    assert got.output == output
    assert (got.usage and (got.usage.prompt_tokens, got.usage.completion_tokens)) == tokens
    assert got.time_to_first_token_ms is not None
    assert got.latency_ms is not None
    assert 0 < got.time_to_first_token_ms <= got.latency_ms


@pytest.mark.parametrize(("framing", "accept"), [("sse", "text/event-stream"), ("jsonl", "application/x-ndjson")])
async def test_a_stream_is_asked_for(wire: Wire, framing: str, accept: str) -> None:
    wire.answer = b"data: 1\n\n" if framing == "sse" else b"1\n"
    await response(skill(wire.url, stream={"format": framing}), {})
    assert wire.headers()["accept"] == accept


async def test_an_answer_that_comes_whole_has_no_first_token(wire: Wire) -> None:
    assert (await response(skill(wire.url), {})).time_to_first_token_ms is None


class Paused:
    """Streams one piece, and the rest when it is told to."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"{SSE}\r\nConnection: close\r\n\r\n".encode() + b"data: 4\n\n")
        await writer.drain()
        await self.go_on.wait()
        writer.write(b"data: 2\n\n")
        writer.close()


async def test_the_first_token_is_early_and_an_idle_stream_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    service, came, note = Paused(), asyncio.Event(), Call.first_token

    def noted(call: Call) -> None:
        note(call)
        came.set()

    monkeypatch.setattr(Call, "first_token", noted)
    async with await asyncio.start_server(service.serve, "127.0.0.1", 0) as server:
        probe = skill(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", stream={"mode": "concat"})
        call = asyncio.create_task(response(probe, {}))
        await asyncio.wait_for(came.wait(), 60)
        await asyncio.sleep(0.2)
        service.go_on.set()
        got = await call
        assert got.output == "42"
        assert got.latency_ms is not None
        assert got.time_to_first_token_ms is not None
        assert got.latency_ms - got.time_to_first_token_ms >= 150  # the pause; the event loop may wake up a little early

        service.go_on.clear()
        for limit_s in (0.3, 2.0, 8.0, 60.0):  # on a busy machine the first piece takes its time
            error = await failure(probe, {}, limit_s)
            assert type(error) is SkillTimeout
            if "events" in str(error):
                break
        assert f"no answer within {limit_s:g} s; 1 events in 9 bytes had come" in str(error)
        service.go_on.set()


PIECE = b'data: "4"\n\n'
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PIECE), PIECE)


@each_row(
    ("head", "body", "kind"),
    [
        pytest.param("", PIECE, SkillUnavailable, id="closed-between-events"),
        pytest.param("", PIECE + b"data: ", SkillUnavailable, id="closed-within-an-event"),
        pytest.param("", b"", SkillUnavailable, id="closed-at-once"),
        pytest.param("\r\nTransfer-Encoding: chunked", CHUNKED, ContractError, id="ended-by-the-protocol"),
        pytest.param("\r\nTransfer-Encoding: chunked", CHUNKED[:-5], SkillUnavailable, id="closed-before-the-last-chunk"),
        pytest.param("", b"<html>sign in", ContractError, id="no-stream-at-all"),
        pytest.param("", b'"4"\n', SkillUnavailable, id="lines-closed-between-them"),
        pytest.param("", b'"4"\n"', SkillUnavailable, id="lines-closed-within-one"),
        pytest.param("\r\nContent-Length: 5", b'"4"\n"', ContractError, id="lines-ended-by-the-protocol"),
    ],
)
async def test_a_stream_that_is_cut_may_be_whole_at_the_next_attempt(head: str, body: bytes, kind: type[ItemError]) -> None:
    lines = {"format": "jsonl"} if body.startswith(b'"') else {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"{SSE}\r\nConnection: close{head}\r\n\r\n".encode() + body)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        error = await failure(skill(url, stream={"mode": "concat", "done": "[DONE]", **lines}, method="GET"), {})
    assert type(error) is kind, error


async def test_an_overloaded_stream_may_be_asked_again(wire: Wire) -> None:
    wire.head, wire.answer = SSE, PIECE + b'event: error\ndata: {"message": "overloaded"}\n\n'
    error = await failure(skill(wire.url, stream={"mode": "concat"}), {})
    assert type(error) is SkillUnavailable
    assert "overloaded" in str(error)


async def test_the_limit_of_bytes_is_that_of_the_whole_stream(wire: Wire) -> None:
    wire.head, wire.answer = SSE, b'data: "x"\n\n' * 100
    error = await failure(skill(wire.url, stream={"mode": "concat"}, maxOutputBytes=1000), {})
    assert type(error) is ContractError
    assert "more than 1,000 bytes (maxOutputBytes)" in str(error)


async def test_p21_a_page_instead_of_a_stream_is_shown(wire: Wire) -> None:
    wire.head, wire.answer = "HTTP/1.1 200 OK\r\nContent-Type: text/html", b"<html>sign in</html>"
    error = str(await failure(skill(wire.url, stream={}), {}))
    assert "HTTP 200 with text/html: the stream ended in the middle of an event" in error
    assert "<html>sign in</html>" in error


async def test_p21_the_status_comes_before_the_stream(wire: Wire) -> None:
    wire.head, wire.answer = "HTTP/1.1 429 Slow\r\nContent-Type: text/event-stream\r\nRetry-After: 3", b"data: 1\n\n"
    error = await failure(skill(wire.url, stream={}), {})
    assert type(error) is SkillThrottled
    assert error.retry_after_s == 3


async def test_usage_and_cost_come_from_headers_too(wire: Wire) -> None:
    wire.head = "HTTP/1.1 200 OK\r\nX-In: 7\r\nX-Out: 3\r\nX-Cost: 0.125"
    wire.answer = b'{"output": "hi", "costUsd": 9, "meta": {"usd": 0.5}}'
    named = {"usageHeaders": {"promptTokens": "x-in", "completionTokens": "X-Out"}, "costHeader": "X-COST"}
    got = await response(skill(wire.url, **named), {})
    assert (got.usage and (got.usage.prompt_tokens, got.usage.completion_tokens), got.cost_usd) == ((7, 3), 0.125)
    got = await response(skill(wire.url, **named, outputPath="/output", costPath="/meta/usd"), {})
    assert (got.output, got.cost_usd) == ("hi", 0.5)


async def test_a_count_that_is_none_loses_no_answer_and_is_told(wire: Wire) -> None:
    wire.answer = b'{"data": "5", "usage": {"prompt_tokens": "many"}, "cost": "NaN"}'
    got = await response(skill(wire.url, usagePath="/usage", costPath="/cost", outputPath="/data"), {})
    assert (got.output, got.usage, got.cost_usd) == ("5", None, None)
    assert got.logs.splitlines() == [
        "usage is unknown: usagePath '/usage' leads to 'many' as prompt_tokens, which is not a number of tokens",
        "cost_usd is unknown: costPath '/cost' leads to 'NaN', which is not an amount in USD",
    ]
