"""An MCP server behind a URL: one of the SDK as it should be, and one by hand that fails in every way HTTP knows."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.adapters.mcp.transport import message_limit
from eval_skills.core.errors import (
    ContractError,
    InfraError,
    ItemError,
    SkillCrashed,
    SkillError,
    SkillThrottled,
    SkillTimeout,
    SkillUnavailable,
)
from tests.adapters.mcp_by_hand import Told
from tests.adapters.mcp_probe import PATIENCE_S, SERVERS, Tools, ask, failure, mcp_skill
from tests.tables import each_row

if TYPE_CHECKING:
    from tests.warm_command import WarmCommand, WarmProcess


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


PROGRAM = """
import runpy, sys
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


@contextmanager
def served(warm_command: WarmCommand, port: int, words: str = "") -> Iterator[WarmProcess]:
    """The SDK's server on `port`, once it takes connections."""
    process = warm_command.python(PROGRAM, str(SERVERS / "modern.py"), str(port), *words.split())
    try:
        end = time.monotonic() + 60
        while not accepts(port):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.output(60)


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module", params=["", "json stateless"], ids=["events", "json"])
def modern_url(request: pytest.FixtureRequest, warm_command: WarmCommand) -> Iterator[str]:
    port = free_port()
    with served(warm_command, port, request.param):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_a_server_of_the_sdk_is_called(
    modern_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setattr("eval_skills.adapters.mcp.adapter.PROBE_S", PATIENCE_S)  # the server may be busy
    config = {"protocol": protocol, "maxOutputBytes": 200_000}
    async with Tools(mcp_skill(tmp_path, modern_url, "add", **config)) as tools:
        assert await asyncio.gather(*(tools.use("add", {"a": n, "b": 1}) for n in range(20))) == [
            {"result": n + 1} for n in range(20)
        ]
        assert await tools.use("table") == {"result": [{"n": 1}, {"n": 2}]}
        assert await tools.use("picture") == [
            {"type": "image", "mimeType": "image/png", "bytes": 4, "sha256": sha256(b"\x89PNG").hexdigest()}
        ]
        with pytest.raises(SkillTimeout, match="the server still answers other requests"):
            await tools.use("slow", {"seconds": 600}, 0.5)
        with pytest.raises(SkillError, match="Error executing tool boom"):
            await tools.use("boom")
        with pytest.raises(ContractError, match="maxOutputBytes"):
            await tools.use("big", {"size": 250_000})
        with pytest.raises(ContractError, match="maxOutputBytes"):
            await tools.use("big", {"size": message_limit(200_000) + 1})
        assert await tools.use("add", {"a": 1, "b": 1}) == {"result": 2}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_p19_a_server_that_dies_and_comes_back_costs_one_item(
    tmp_path: Path, protocol: str, warm_command: WarmCommand
) -> None:
    port, running = free_port(), partial(served, warm_command)
    async with Tools(mcp_skill(tmp_path, f"http://127.0.0.1:{port}/mcp", "add", protocol=protocol)) as tools:
        for _ in range(2):
            with pytest.raises(SkillUnavailable, match="Connection refused"):  # not there yet
                await tools.use("add", {"a": 1, "b": 1})
        with running(port):
            assert await tools.use("add", {"a": 1, "b": 1}) == {"result": 2}
            with pytest.raises(SkillUnavailable) as caught:
                await tools.use("die")
            assert caught.value.transient
        with pytest.raises(SkillUnavailable, match="Connection refused"):
            await tools.use("add", {"a": 1, "b": 1})
        with running(port) as server:
            assert await tools.use("add", {"a": 1, "b": 1}) == {"result": 2}
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
        with running(port):
            assert await tools.use("add", {"a": 1, "b": 1}) == {"result": 2}
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0


RESULT = {"jsonrpc": "2.0", "result": {"content": []}}
TEXT = {"result": {"content": [{"type": "text", "text": "yours"}]}}


def events(*messages: dict[str, Any]) -> dict[str, Any]:
    """A response that streams these messages."""
    body = "".join(f"event: message\ndata: {json.dumps(each)}\n\n" for each in messages)
    return {"status": 200, "body": body, "headers": {"Content-Type": "text/event-stream"}}


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        pytest.param({"status": 429, "headers": {"Retry-After": "1"}}, SkillThrottled, "HTTP 429", id="p20-429"),
        pytest.param({"status": 503, "body": "busy"}, SkillUnavailable, "HTTP 503 from .*: busy", id="p20-503"),
        pytest.param({"status": 500, "body": "<html>oops"}, SkillCrashed, "HTTP 500 .*<html>oops", id="p21-html"),
        pytest.param({"status": 401, "body": "no"}, InfraError, "HTTP 401 .*: no", id="401"),
        pytest.param({"status": 403}, InfraError, "HTTP 403", id="403"),
        pytest.param({"status": 422, "body": "eh"}, SkillError, "HTTP 422 .*: eh", id="422"),
        pytest.param({"status": 422, "body": "[" * 100_000}, SkillError, r"HTTP 422 .*: \[\[", id="422-nested-deeply"),
        pytest.param(
            {"status": 302, "headers": {"Location": "http://127.0.0.2:9/"}},
            InfraError,
            "redirected to .*127.0.0.2",
            id="redirect",
        ),
        pytest.param({"status": 302, "headers": {"Location": "/b"}}, InfraError, "HTTP 302 .*: redirected to /b", id="to-a-get"),
        pytest.param({"status": 307}, InfraError, "HTTP 307 from .*, without a Location", id="redirect-to-nowhere"),
        pytest.param({"status": 307, "headers": {"Location": "http://["}}, InfraError, "HTTP 307 .*: redirected", id="to-no-url"),
        pytest.param({"status": 200, "body": "<html>"}, ContractError, "it has no content type, .* was: <html>", id="no-json"),
        pytest.param(
            {"status": 200, "body": "{", "headers": {"Content-Type": "application/json"}},
            ContractError,
            "not JSON: ",
            id="bad-json",
        ),
        pytest.param(
            {"status": 200, "body": "x", "headers": {"Content-Type": "application/json", "Content-Encoding": "gzip"}},
            ContractError,
            "asked for identity",
            id="encoded",
        ),
        pytest.param(
            {
                "status": 200,
                "body": '{"jsonrpc":"2.0","id":null,"error":{"code":5,"message":"db down"}}',
                "headers": {"Content-Type": "application/json"},
            },
            SkillError,
            "^error 5: db down$",
            id="error-without-an-id",
        ),
        pytest.param(
            {
                "status": 200,
                "body": '{"jsonrpc":"2.0","id":999,"result":{"content":[]}}',
                "headers": {"Content-Type": "application/json"},
            },
            ContractError,
            r"^HTTP 200 with an unreadable answer: its id is 999 and \d+ was asked; it was: {",
            id="of-another-request",
        ),
        pytest.param(
            {"status": 200, "body": '{"error": "db down"}', "headers": {"Content-Type": "application/json"}},
            ContractError,
            '^HTTP 200 with an unreadable answer: not a JSON-RPC 2.0 answer; it was: {"error": "db down"}$',
            id="json-of-another-kind",
        ),
        pytest.param(
            {"status": 200, "headers": {"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}},
            ContractError,
            "the body is encoded as 'gzip', although Accept-Encoding asked for identity",
            id="events-that-may-unpack-to-gigabytes",
        ),
        pytest.param(events({"id": 999, **RESULT}), ContractError, r"its id is 999 and \d+ was asked", id="event-of-another"),
        pytest.param(events({"id": None, **RESULT}), ContractError, r"its id is null and \d+ was asked", id="event-of-none"),
        pytest.param(
            {**events({}), "body": "data: {\r\n\r\n"},
            ContractError,
            "HTTP 200 with an unreadable answer: not JSON",
            id="bad-event",
        ),
        pytest.param(
            {"status": 206, "body": "{}", "headers": {"Content-Type": "application/json", "Content-Range": "bytes 0-1/9"}},
            ContractError,
            "HTTP 206 from .*a part of an answer .bytes 0-1/9., although all of it was asked for; .* it was: {}",
            id="a-part",
        ),
        pytest.param({"status": 304}, InfraError, "HTTP 304 .*: not modified, although the whole was asked for", id="304"),
        pytest.param({"status": 101}, InfraError, "HTTP 101 .*: it switches to a protocol that was not offered", id="101"),
        pytest.param({"status": 202}, ContractError, "202", id="accepted-and-nothing-more"),
        pytest.param({"reset": True}, SkillUnavailable, "connection to http://127.0.0.1:.* failed", id="reset"),
    ],
)
async def test_what_http_says_becomes_the_error_and_the_session_lives(
    raw_url: str, told: Told, tmp_path: Path, given: Any, kind: type[ItemError], message: str
) -> None:
    async with Tools(mcp_skill(tmp_path, f"{raw_url}/mcp", "answer")) as tools:
        with pytest.raises(kind, match=message) as caught:
            await tools.use("answer", given)
        assert caught.value.retry_after_s == (1.0 if kind is SkillThrottled else None)
        began = time.monotonic()
        assert await tools.use("answer", {"x": 1}) == {"x": 1}
        assert kind is not SkillThrottled or time.monotonic() - began > 0.9, "the server asked for that"
    assert told.methods.count("initialize") == 1
    assert told.methods[-1] == "DELETE"


@each_row(
    ("comes", "message"),
    [
        ([TEXT], ""),
        ([{"id": 999, **TEXT}, TEXT], r"its id is 999 and \d+ was asked"),
        ([{"id": None, **TEXT}], r"its id is null and \d+ was asked"),
    ],
)
async def test_a_stream_that_is_resumed_brings_the_answer_to_its_own_request(
    raw_url: str, tmp_path: Path, comes: list[dict[str, Any]], message: str
) -> None:
    begun = {**events(), "body": "id: e1\nretry: 0\ndata:\n\n", "resumed": [{"jsonrpc": "2.0", **each} for each in comes]}
    async with Tools(mcp_skill(tmp_path, f"{raw_url}/mcp", "answer")) as tools:
        if not message:
            assert await tools.use("answer", begun) == "yours"
            return
        with pytest.raises(ContractError, match=message):
            await tools.use("answer", begun)
        assert await tools.use("answer", {"x": 1}) == {"x": 1}


async def test_what_a_server_sent_beyond_its_answer_is_nothing_to_the_next_call(raw_url: str, tmp_path: Path) -> None:
    async with Tools(mcp_skill(tmp_path, f"{raw_url}/mcp", "answer")) as tools:
        for given in ({"n": n, "beyond": "\n"} for n in range(3)):
            assert await tools.use("answer", given) == given


async def test_a_session_that_the_server_forgot_is_begun_again_for_the_same_item(
    raw_url: str, told: Told, tmp_path: Path
) -> None:
    async with Tools(mcp_skill(tmp_path, f"{raw_url}/mcp", "answer")) as tools:
        assert await tools.use("answer", {"x": 1}) == {"x": 1}
        told.sessions.clear()
        answered = await tools.call({"x": 2}, PATIENCE_S)
    assert answered.output == {"x": 2}
    assert answered.latency_ms is not None
    assert answered.latency_ms > 0, "the clock of the second question runs"
    assert told.methods.count("initialize") == 2


async def test_a_server_that_knows_no_session_is_an_error_with_a_latency(raw_url: str, tmp_path: Path) -> None:
    async with Tools(mcp_skill(tmp_path, f"{raw_url}/mcp", "answer")) as tools:
        with pytest.raises(SkillUnavailable, match="does not know the session any more") as caught:
            await tools.use("answer", {"status": 404})
    assert caught.value.latency_ms is not None
    assert caught.value.latency_ms > 0


async def test_a_server_of_the_older_transport_is_named_so(raw_url: str, tmp_path: Path) -> None:
    error = await failure(mcp_skill(tmp_path, f"{raw_url}/sse", "answer"))
    assert isinstance(error, InfraError)
    assert str(error) == (
        f"HTTP 405 from {raw_url}/sse; name the server's address of streamable HTTP, which often ends in /mcp; "
        "the older transport, HTTP with SSE, is not supported"
    )


@each_row("path", ["torn", "torn-events"])
async def test_a_tool_that_cannot_be_read_costs_no_other_one(raw_url: str, tmp_path: Path, path: str) -> None:
    assert (await ask(mcp_skill(tmp_path, f"{raw_url}/{path}", "answer"), {"x": 1})).output == {"x": 1}
    error = await failure(mcp_skill(tmp_path, f"{raw_url}/{path}", "torn"))
    assert isinstance(error, ContractError)
    assert str(error).endswith("names: half of a surrogate pair in a text")


async def test_a_call_that_hangs_is_cut_and_the_next_works(raw_url: str, tmp_path: Path) -> None:
    async with Tools(mcp_skill(tmp_path, f"{raw_url}/mcp", "answer")) as tools:
        with pytest.raises(SkillTimeout):
            await tools.use("hang", {}, 0.3)
        assert await tools.use("answer", {"x": 1}) == {"x": 1}


@pytest.mark.parametrize(
    ("config", "header", "value"),
    [
        pytest.param({"authType": "bearer", "authTokenEnvKey": "PROBE_TOKEN"}, "authorization", "Bearer s3cret", id="bearer"),
        pytest.param({"authType": "api-key", "authTokenEnvKey": "PROBE_TOKEN"}, "x-api-key", "s3cret", id="api-key"),
        pytest.param({"headers": {"X-Team": "search"}}, "x-team", "search", id="static"),
    ],
)
async def test_p22_every_request_carries_the_headers(
    raw_url: str, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], header: str, value: str
) -> None:
    monkeypatch.setenv("PROBE_TOKEN", "s3cret")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    await ask(mcp_skill(tmp_path, f"{raw_url}/mcp", "answer", **config), {"x": 1})
    assert {sent.get(header) for sent in told.headers} == {value}


async def test_a_missing_secret_fails_the_items_and_nothing_is_sent(raw_url: str, told: Told, tmp_path: Path) -> None:
    skill = mcp_skill(tmp_path, f"{raw_url}/mcp", "answer", authType="bearer", authTokenEnvKey="PROBE_TOKEN_ABSENT")
    error = await failure(skill)
    assert type(error) is InfraError
    assert "PROBE_TOKEN_ABSENT is not set" in str(error)
    assert told.methods == []
