from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.core.errors import (
    ContractError,
    InfraError,
    InputError,
    ItemError,
    SkillError,
    SkillThrottled,
    SkillTimeout,
    SkillUnavailable,
)
from eval_skills.core.models import Skill, SkillResponse

MakeSkill = Callable[..., Skill]


async def ask(skill: Skill, params: Any = None, timeout_s: float = 60) -> SkillResponse:
    async with HttpAdapter(skill) as adapter:
        return await adapter.call(params, timeout_s)


async def failure(skill: Skill, params: Any = None, timeout_s: float = 60) -> ItemError:
    with pytest.raises(ItemError) as caught:
        await ask(skill, params, timeout_s)
    assert caught.value.latency_ms is not None
    return caught.value


async def test_the_body_is_exactly_id_version_and_input(http_skill: MakeSkill, server: Any) -> None:
    assert (await ask(http_skill("/echo"), {"q": "é"})).output == {"q": "é"}
    assert server.requests[0]["body"] == {"skillId": "probe", "version": "1.2.3", "input": {"q": "é"}}
    assert server.requests[0]["headers"]["content-type"] == "application/json"
    assert "authorization" not in server.requests[0]["headers"]


async def test_p22_base_url_and_entrypoint_are_joined(http_skill: MakeSkill, server: Any) -> None:
    assert (await ask(http_skill("/echo", baseUrl=f"{server.url}/api/v1"), 3)).output == 3
    assert server.requests[0]["path"] == "/api/v1/echo"


@pytest.mark.parametrize(
    ("config", "header", "value"),
    [
        pytest.param({"authType": "bearer"}, "authorization", "Bearer s3cret", id="bearer"),
        pytest.param({"authType": "api-key"}, "x-api-key", "s3cret", id="api-key"),
        pytest.param({"authType": "api-key", "authHeader": "X-Own"}, "x-own", "s3cret", id="api-key-own-header"),
        pytest.param({"authType": "bearer", "authHeader": "X-Auth"}, "x-auth", "Bearer s3cret", id="bearer-own-header"),
    ],
)
async def test_p22_the_secret_comes_from_its_variable(
    http_skill: MakeSkill, server: Any, monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], header: str, value: str
) -> None:
    monkeypatch.setenv("PROBE_TOKEN", "s3cret\n")
    skill = http_skill("/echo", authTokenEnvKey="PROBE_TOKEN", **config)
    HttpAdapter.check(skill)
    await ask(skill)
    assert server.requests[0]["headers"][header] == value


async def test_a_missing_secret_is_found_before_the_run_and_fails_each_call(http_skill: MakeSkill, server: Any) -> None:
    skill = http_skill("/echo", authType="bearer", authTokenEnvKey="PROBE_TOKEN_ABSENT")
    with pytest.raises(InputError, match="authTokenEnvKey: the environment variable PROBE_TOKEN_ABSENT is not set"):
        HttpAdapter.check(skill)
    error = await failure(skill)
    assert type(error) is InfraError
    assert server.requests == []


async def test_a_secret_that_no_header_may_hold_is_refused_without_quoting_it(
    http_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_TOKEN", "s3\ncret")
    error = await failure(http_skill("/echo", authType="bearer", authTokenEnvKey="PROBE_TOKEN"))
    assert type(error) is InfraError
    assert "cret" not in str(error)


async def test_static_headers_are_sent(http_skill: MakeSkill, server: Any) -> None:
    await ask(http_skill("/echo", headers={"X-Team": "search"}))
    assert server.requests[0]["headers"]["x-team"] == "search"


async def test_proxies_of_the_environment_are_ignored(http_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await ask(http_skill("/echo"), 1)).output == 1


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        pytest.param({"status": 429, "headers": {"Retry-After": "2"}}, SkillThrottled, "HTTP 429", id="p20-429"),
        pytest.param({"status": 503, "body": "busy"}, SkillUnavailable, "HTTP 503 .*: busy", id="p20-503"),
        pytest.param({"status": 404, "body": "<html>no"}, InfraError, "HTTP 404 .*: <html>no", id="p21-html-page"),
        pytest.param({"status": 422, "body": '{"detail": "q"}'}, SkillError, "HTTP 422", id="422"),
        pytest.param(
            {"status": 302, "headers": {"Location": "http://127.0.0.1:9/x"}}, InfraError, "redirected to", id="redirect"
        ),
        pytest.param({"status": 200, "body": "<html>"}, ContractError, "HTTP 200 .*not JSON.*it was: <html>", id="html"),
        pytest.param({"status": 200, "body": ""}, ContractError, "an empty body", id="empty"),
        pytest.param({"status": 204}, ContractError, "HTTP 204 .*an empty body", id="no-content"),
        pytest.param(
            {"status": 206, "body": "1", "headers": {"Content-Range": "bytes 0-0/9"}},
            ContractError,
            "HTTP 206 from .*a part of an answer .bytes 0-0/9., although all of it was asked for; .* it was: 1",
            id="part",
        ),
        pytest.param({"status": 200, "body": "NaN"}, ContractError, "NaN is not a JSON value", id="nan"),
        pytest.param({"status": 200, "body": "[" * 300 + "]" * 300}, ContractError, "deeper than 200", id="too-deep"),
        pytest.param({"status": 200, "body": '{"output": 1, "costUsd": -1}'}, ContractError, "malformed envelope", id="envelope"),
        pytest.param(
            {"status": 200, "body": "123456", "headers": {"Content-Encoding": "gzip"}},
            ContractError,
            "asked for identity",
            id="encoded",
        ),
        pytest.param(
            {"status": 503, "body": "x", "headers": {"Content-Encoding": "gzip"}}, SkillUnavailable, "503", id="p21-no-gzip"
        ),
    ],
)
async def test_a_response_that_is_no_answer(
    http_skill: MakeSkill, reply: dict[str, Any], kind: type[ItemError], message: str
) -> None:
    error = await failure(http_skill("/status"), reply)
    assert type(error) is kind
    with pytest.raises(kind, match=message):
        raise error


@pytest.mark.parametrize(
    "config", [{"headers": {"range": "bytes=0-0"}}, {"requestTemplate": {"headers": {"Range": "bytes=0-0"}}}]
)
async def test_a_part_is_the_answer_where_the_skill_asks_for_one(http_skill: MakeSkill, config: dict[str, Any]) -> None:
    template = config.get("requestTemplate", {}) | {"body": {"input": "{{input}}"}}
    skill = http_skill("/status", **config | {"requestTemplate": template})
    assert (await ask(skill, {"status": 206, "body": "1"})).output == 1


@pytest.mark.slow
async def test_p20_retry_after_is_kept(http_skill: MakeSkill) -> None:
    assert (await failure(http_skill("/status"), {"status": 429, "headers": {"Retry-After": "2"}})).retry_after_s == 2.0
    assert (await failure(http_skill("/past-date"))).retry_after_s == 0.0


@pytest.mark.parametrize("route", ["/reset", "/half", "/garbage"])
async def test_p19_a_broken_connection_is_transient(http_skill: MakeSkill, route: str) -> None:
    error = await failure(http_skill(route))
    assert type(error) is SkillUnavailable
    assert f"{route} failed: " in str(error)


async def test_p21_a_body_that_breaks_off_does_not_hide_the_status(http_skill: MakeSkill) -> None:
    assert "HTTP 503" in str(await failure(http_skill("/half-error")))


async def test_p19_a_refused_connection_is_transient_and_says_so(http_skill: MakeSkill) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        error = await failure(http_skill(f"http://user:pass@127.0.0.1:{port}/run?key=secret"))
    assert type(error) is SkillUnavailable
    assert "Connection refused" in str(error)
    assert "pass" not in str(error)
    assert "secret" not in str(error)


async def test_https_is_spoken_where_it_is_asked_for(http_skill: MakeSkill, server: Any) -> None:
    error = await failure(http_skill(server.url.replace("http://", "https://") + "/echo"))
    assert type(error) is InfraError
    assert "does not seem to speak TLS" in str(error)


@pytest.mark.parametrize(("size", "fits"), [(998, True), (999, False)])
async def test_a_body_over_max_output_bytes_is_a_contract_error(http_skill: MakeSkill, size: int, fits: bool) -> None:
    skill, reply = http_skill("/status", maxOutputBytes=1000), {"status": 200, "body": json.dumps("x" * size)}
    if fits:
        assert (await ask(skill, reply)).output == "x" * size
    else:
        assert "more than 1,000 bytes (maxOutputBytes)" in str(await failure(skill, reply))


async def test_an_endless_body_is_cut_off_while_it_streams(http_skill: MakeSkill) -> None:
    error = await failure(http_skill("/endless"), timeout_s=60)
    assert isinstance(error, ContractError)
    assert "more than 5,000,000 bytes" in str(error)


async def test_an_input_that_is_not_json_is_an_infra_error(http_skill: MakeSkill, server: Any) -> None:
    assert "cannot be sent" in str(await failure(http_skill("/echo"), float("inf")))
    assert server.requests == []


async def test_a_slow_skill_times_out_and_the_next_call_works(http_skill: MakeSkill) -> None:
    async with HttpAdapter(http_skill("/slow-if-told")) as adapter:
        began = time.perf_counter()
        with pytest.raises(SkillTimeout, match=r"no answer within 0\.2 s") as caught:
            await adapter.call("be slow", 0.2)
        took_ms = (time.perf_counter() - began) * 1000
        assert (await adapter.call(2, 60)).output == 2
    assert caught.value.latency_ms is not None
    assert 0 < caught.value.latency_ms <= took_ms


async def test_many_calls_at_once_share_one_client(http_skill: MakeSkill) -> None:
    async with HttpAdapter(http_skill("/echo")) as adapter:
        answers = await asyncio.gather(*(adapter.call(number, 60) for number in range(20)))
    assert [answer.output for answer in answers] == list(range(20))
    assert all(answer.latency_ms for answer in answers)


@pytest.mark.slow
def test_httpx_is_loaded_when_a_skill_opens_and_not_before() -> None:
    modules = "eval_skills.adapters.http.adapter, eval_skills.adapters.process.adapter"
    source = f"import sys, {modules}; print('httpx' in sys.modules, 'prefect' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


async def test_a_compressed_body_is_refused_before_it_unpacks(http_skill: MakeSkill) -> None:
    error = await failure(http_skill("/packed", maxOutputBytes=100_000), 1_000_000)
    assert "the body is encoded as 'gzip', although Accept-Encoding asked for identity" in str(error)
