"""One client serves all items of a skill, and what one of them was sent is nothing to the next."""

from __future__ import annotations

import asyncio
import re

import pytest

from eval_skills.adapters.http import client
from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.adapters.http.client import RequestTrace
from eval_skills.core.errors import ContractError, SkillError, SkillUnavailable
from tests.adapters.wire import Wire, failure, skill
from tests.tables import each_row


async def test_a_cookie_of_one_call_does_not_reach_the_next(wire: Wire) -> None:
    wire.head = "HTTP/1.1 200 OK\r\nSet-Cookie: session=1; Path=/"
    async with HttpAdapter(skill(wire.url)) as adapter:
        for _ in range(2):
            await adapter.call({}, 60)
    assert "cookie" not in wire.headers()


BEYOND = [b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"wrong"', b"\n", b"\r\n", b'"}']


@each_row(("status", "tail"), [(status, tail) for status in (200, 422) for tail in BEYOND])
async def test_what_a_service_sent_beyond_its_answer_is_nothing_to_the_next(wire: Wire, status: int, tail: bytes) -> None:
    """As one that counts the letters of its answer and not the bytes, or writes a line feed after all."""
    wire.keep_open, wire.tail, wire.head = True, tail, f"HTTP/1.1 {status} Said\r\nContent-Type: application/json"
    async with HttpAdapter(skill(wire.url)) as adapter:
        for _ in range(3):
            if status == 200:
                answer = await adapter.call({}, 60)
                assert answer.output == {"ok": True}
                said = answer.logs
            else:
                with pytest.raises(SkillError, match="HTTP 422") as caught:
                    await adapter.call({}, 60)
                said = caught.value.logs
            assert said == f"{len(tail)} bytes came behind the answer; is its Content-Length too short?"


@each_row(
    ("header", "message"),
    [
        ("X-Ray : 1", "the answer of .* is not valid HTTP: illegal header line"),
        ("Content-Length: 3", "is not valid HTTP: conflicting Content-Length headers"),
        ("Transfer-Encoding: chunked", "is not valid HTTP: illegal chunk header"),
        ("Transfer-Encoding: gzip", "is not valid HTTP: "),
    ],
)
async def test_an_answer_that_breaks_the_rules_of_http_is_unreadable(wire: Wire, header: str, message: str) -> None:
    wire.head, wire.answer = f"HTTP/1.1 200 OK\r\n{header}", b"zz\r\n{}\r\n"
    error = await failure(skill(wire.url), {})
    assert type(error) is ContractError
    assert re.search(message, str(error))


async def test_a_connection_that_brought_the_answer_alone_is_used_again(wire: Wire) -> None:
    wire.keep_open = True
    async with HttpAdapter(skill(wire.url)) as adapter:
        for _ in range(3):
            assert (await adapter.call({}, 60)).logs == ""
    assert (len(wire.requests), wire.connections) == (3, 1)


async def test_a_connection_that_was_idle_for_as_long_as_servers_keep_one_is_not_used_again(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.IDLE_S < 5, "uvicorn and Node.js close one then, and the request that crosses it is lost"
    monkeypatch.setattr(client, "IDLE_S", 0.05)
    wire.keep_open = True
    async with HttpAdapter(skill(wire.url)) as adapter:
        for _ in range(2):
            await adapter.call({}, 60)
            await asyncio.sleep(0.1)
    assert (len(wire.requests), wire.connections) == (2, 2)


async def test_an_answer_that_was_there_before_its_request_is_refused() -> None:
    """Should one come unseen: its headers are complete without a turn of the loop, which every reading from a socket takes."""
    trace = RequestTrace()
    await trace.noted("http11.receive_response_headers.started", {})
    with pytest.raises(SkillUnavailable, match="had sent more than its answer to the call before"):
        await trace.noted("http11.receive_response_headers.complete", {})
    await trace.noted("http11.receive_response_headers.started", {})
    await asyncio.sleep(0)
    await trace.noted("http11.receive_response_headers.complete", {})
