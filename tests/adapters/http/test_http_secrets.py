"""What authenticates an http skill: in a header, in the query, from the environment, and in no message."""

from __future__ import annotations

import json
import logging
from base64 import b64decode
from typing import Any

import pytest

from eval_skills.adapters import secrets_of
from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.core.errors import InfraError, InputError
from eval_skills.core.redaction import Redaction
from tests.adapters.wire import Ask, Wire, failure, refused, response, skill
from tests.tables import each_row

SECRET = "k3y +/=s"


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("PROBE_KEY", SECRET)
    return {"method": "GET", "authType": "api-key", "authTokenEnvKey": "PROBE_KEY"}


async def test_a_key_in_the_query_is_sent_and_never_logged(
    wire: Wire, ask: Ask, keyed: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    # other libraries quieten httpx's own logger when they are imported
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="httpx"):
        await ask("/p?v=1", {"q": "ü"}, **keyed, authQuery="api key")
    assert wire.line() == "GET /p?v=1&q=%C3%BC&api%20key=k3y%20%2B%2F%3Ds HTTP/1.1"
    assert "HTTP Request: GET" in caplog.text
    assert "k3y" not in caplog.text


async def test_a_key_in_the_query_is_in_no_error(wire: Wire, ask: Ask, keyed: dict[str, Any]) -> None:
    wire.head, wire.answer = "HTTP/1.1 400 Bad", b"bad: ?key=k3y%20%2B%2F%3Ds or k3y+%2B%2F%3Ds"
    error = await refused(ask, "/p", {}, **keyed, authQuery="key")
    shown = Redaction(secrets_of(skill("http://h", **keyed, authQuery="key"))).text(str(error))
    assert shown.count("[redacted:PROBE_KEY]") == 2
    assert "k3y" not in shown


async def test_a_template_cannot_replace_the_secret(wire: Wire, ask: Ask, keyed: dict[str, Any]) -> None:
    template = {"headers": {"x-api-key": "{{input.key}}"}}
    await ask("/p", {"key": "other"}, **keyed, requestTemplate=template)
    assert wire.headers()["x-api-key"] == SECRET


async def test_basic_credentials_come_as_they_are(wire: Wire, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_KEY", "Basic dTpw")
    await ask("/p", {}, method="GET", authType="api-key", authTokenEnvKey="PROBE_KEY", authHeader="Authorization")
    assert wire.headers()["authorization"] == "Basic dTpw"


async def test_a_password_in_the_address_is_in_nothing_that_is_written_down_though_the_service_repeats_it(wire: Wire) -> None:
    probe = skill(wire.url.replace("//", "//user:pw-hunter2x%40@"))
    await response(probe, {})
    sent = wire.headers()["authorization"]
    assert b64decode(sent.removeprefix("Basic ")) == b"user:pw-hunter2x@"
    wire.answer = json.dumps({"output": {"headers": {"Authorization": sent}, "said": f"who is {sent.rstrip('=')}?"}}).encode()
    echoed = await response(probe, {})
    wire.head = "HTTP/1.1 400 Bad"
    written = Redaction(secrets_of(probe)).data([echoed.to_json(), str(await failure(probe, {}))])
    assert "Basic [redacted:password in the address (Basic)]" in str(written)
    assert sent.removeprefix("Basic ").rstrip("=") not in str(written)
    assert "hunter2x" not in str(written)


REFERS = {"headers": {"X-Org": "${PROBE_ORG}", "X-Both": "a ${PROBE_ORG}/${PROBE_KEY} $${HOME} $5"}}


async def test_a_header_may_refer_to_variables(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_ORG", "org-7\n")
    monkeypatch.setenv("PROBE_KEY", "k3y")
    probe = skill(wire.url, **REFERS)
    HttpAdapter.check(probe)
    await response(probe)
    assert wire.headers()["x-org"] == "org-7"
    assert wire.headers()["x-both"] == "a org-7/k3y ${HOME} $5"
    assert secrets_of(probe).items() >= {"PROBE_ORG": "org-7", "PROBE_KEY": "k3y"}.items()


async def test_what_a_header_refers_to_is_read_when_it_is_sent_and_kept_nowhere(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_ORG", "org-secret")
    monkeypatch.setenv("PROBE_KEY", "k3y")
    probe = skill(wire.url, **REFERS)
    await response(probe)
    assert "org-secret" not in probe.model_dump_json()
    assert "org-secret" not in str(HttpAdapter(probe).__dict__)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(None, "headers.X-Org: the environment variable PROBE_ORG is not set; the header needs it", id="absent"),
        pytest.param(" ", "headers.X-Org: the environment variable PROBE_ORG is empty; the header needs it", id="blank"),
        pytest.param(
            "a\nX-Evil: 1", "headers.X-Org: the value of PROBE_ORG holds characters that an HTTP header", id="injection"
        ),
    ],
)
async def test_a_variable_that_cannot_be_sent_is_found_before_the_run_and_fails_each_call(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, value: str | None, message: str
) -> None:
    if value is None:
        monkeypatch.delenv("PROBE_ORG", raising=False)
    else:
        monkeypatch.setenv("PROBE_ORG", value)
    probe = skill(wire.url, headers={"X-Org": "${PROBE_ORG}"})
    with pytest.raises(InputError, match=message) as caught:
        HttpAdapter.check(probe)
    assert "Evil" not in str(caught.value)
    assert type(await failure(probe)) is InfraError
    assert wire.requests == []


PASTED = ["sk-live-abcdef0123456789", "sk_live_abcdef0123456789", "AKIA0123456789ABCDEF", "Bearer abcdefgh"]


@each_row(
    ("place", "pasted"),
    # a variable of passEnv that is not there is passed on to nobody, and no message names it
    [(place, pasted) for place in ("authTokenEnvKey", "headers") for pasted in PASTED] + [("passEnv", PASTED[0])],
)
def test_a_secret_in_place_of_a_name_is_not_shown(place: str, pasted: str) -> None:
    configs: dict[str, dict[str, Any]] = {
        "authTokenEnvKey": {"authType": "bearer", "authTokenEnvKey": pasted},
        "headers": {"headers": {"X-Key": f"${{{pasted}}}"}},
        "passEnv": {"passEnv": ["HOME", pasted]},
    }
    with pytest.raises(InputError, match=rf"adapterConfig\.{place}.*did you paste the secret itself") as caught:
        HttpAdapter.check(skill("http://127.0.0.1", **configs[place]))
    assert pasted not in str(caught.value)


@each_row("text", ["${}", "${A-B}", "${1A}", "a ${", "${A${B}}"])
def test_a_reference_that_names_no_variable_is_refused(text: str) -> None:
    with pytest.raises(
        InputError, match=r"adapterConfig.headers.X: .*\$\{ that is not followed by a variable's name and \}; write \$\{NAME\}"
    ):
        HttpAdapter.check(skill("http://127.0.0.1", headers={"X": text}))


async def test_of_two_spellings_of_a_header_one_is_sent(wire: Wire, keyed: dict[str, Any]) -> None:
    await response(skill(wire.url, **keyed | {"method": "POST"}, headers={"content-type": "a/b", "X-API-KEY": "other"}), {})
    assert wire.headers()["content-type"] == "a/b"
    assert wire.headers()["x-api-key"] == SECRET


async def test_several_secrets_in_headers_and_in_the_query(
    wire: Wire, ask: Ask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PROBE_KEY", SECRET)
    monkeypatch.setenv("PROBE_USER", "us3r")
    config: dict[str, Any] = {
        "method": "GET",
        "headers": {"X-App": "${PROBE_KEY}"},
        "query": {"u": "${PROBE_USER}", "v": "1", "k": "a${PROBE_KEY}"},
    }
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="httpx"):
        await ask("/p", {"q": "x"}, **config)
    assert wire.line() == "GET /p?q=x&u=us3r&v=1&k=ak3y%20%2B%2F%3Ds HTTP/1.1"
    assert wire.headers()["x-app"] == SECRET
    assert "k3y" not in caplog.text
    assert "us3r" not in caplog.text
    assert secrets_of(skill("http://h", **config)) == {"PROBE_KEY": SECRET, "PROBE_USER": "us3r"}


def test_a_variable_of_the_query_must_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROBE_USER", raising=False)
    with pytest.raises(InputError, match=r"adapterConfig\.query\.u: .* PROBE_USER is not set; the query needs it"):
        HttpAdapter.check(skill("http://h", query={"u": "${PROBE_USER}"}))
    twice = {"authType": "api-key", "authTokenEnvKey": "PATH", "authQuery": "u", "query": {"u": "1"}}
    with pytest.raises(InputError, match="authQuery and query both give 'u'"):
        HttpAdapter.check(skill("http://h", **twice))
