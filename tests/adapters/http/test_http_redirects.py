"""Redirects are followed within the host, and nothing of a request ever reaches another one."""

from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters.call import CALLED_NOTHING
from eval_skills.adapters.http.client import HttpClient, HttpReply
from eval_skills.adapters.http.redirects import redirected
from eval_skills.adapters.http.request import Request
from eval_skills.core.errors import InfraError, SkillUnavailable
from tests.adapters.wire import Wire, failure, response, skill
from tests.tables import each_row


def asked(url: str = "http://h:80/a?x=1", method: str = "POST") -> Request:
    return Request(method, url, {"Content-Type": "application/json", "Authorization": "Bearer s"}, b"{}")


@each_row(
    ("location", "target"),
    [
        pytest.param("/b", "http://h/b", id="path"),
        pytest.param("c/", "http://h/c/", id="relative"),
        pytest.param("?y=2", "http://h/a?y=2", id="query"),
        pytest.param("http://h/b#part", "http://h/b", id="whole"),
        pytest.param("HTTP://H:80/b", "http://h/b", id="same-in-other-words"),
        pytest.param("//h/b", "http://h/b", id="without-a-scheme"),
        pytest.param("http://user:pass@h/b", "http://h/b", id="foreign-credentials-are-dropped"),
        pytest.param("/b?key=leaked&z=3", "http://h/b?z=3", id="a-hidden-parameter-is-not-taken-over"),
    ],
)
def test_within_the_host(location: str, target: str) -> None:
    found = redirected(asked(), 307, location, ["key"])
    assert found is not None
    assert (found.url, found.method, found.body) == (target, "POST", b"{}")
    assert found.headers == asked().headers


@each_row(
    ("start", "location"),
    [
        pytest.param("http://h/a", "http://other/a", id="host"),
        pytest.param("http://h/a", "http://h.evil/a", id="longer-host"),
        pytest.param("http://h/a", "http://h:81/a", id="port"),
        pytest.param("http://h/a", "https://h/a", id="scheme"),
        pytest.param("https://h/a", "http://h/a", id="down"),
        pytest.param("http://h/a", "//other/a", id="without-a-scheme"),
        pytest.param("http://h/a", "http://h@other/a", id="host-as-user"),
        pytest.param("http://h/a", "http://h:80\\@other/a", id="confused"),
        pytest.param("http://h/a", "file:///etc/passwd", id="file"),
        pytest.param("http://h/a", "http://h:port/", id="no-url"),
        pytest.param("http://h/a", None, id="nowhere"),
    ],
)
def test_elsewhere(start: str, location: str | None) -> None:
    assert redirected(asked(start), 307, location, []) is None


@each_row(
    ("status", "method", "then"),
    [
        (303, "POST", "GET"), (303, "PUT", "GET"), (301, "PUT", "PUT"),
        (302, "DELETE", "DELETE"), (307, "POST", "POST"), (308, "PATCH", "PATCH"), (303, "GET", "GET"),
    ],
)  # fmt: skip
def test_the_method_and_the_body_stay_unless_the_answer_is_elsewhere(status: int, method: str, then: str) -> None:
    found = redirected(asked(method=method), status, "/b", [])
    assert found is not None
    assert found.method == then
    assert (found.body is None) is (then == "GET")
    assert ("Content-Type" in found.headers) is (then != "GET")
    assert "Authorization" in found.headers


@pytest.mark.parametrize("status", [301, 302])
async def test_a_post_never_becomes_a_get_that_has_lost_the_input(wire: Wire, status: int) -> None:
    wire.answers = {"/old": f"HTTP/1.1 {status} Moved\r\nLocation: /new?token=x"}
    error = await failure(skill(f"{wire.url}/old"), {"q": 1})
    assert type(error) is InfraError
    message = f"POST was redirected with {status} to {wire.url}/new, which drops the body; use the final address"
    assert str(error) == message
    assert len(wire.requests) == 1


@each_row("status", [200, 300, 304, 305, 306, 404])
def test_other_statuses_lead_nowhere(status: int) -> None:
    assert redirected(asked(), status, "/b", []) is None


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("PROBE_KEY", "s3cret")
    return {"authTokenEnvKey": "PROBE_KEY"}


async def test_a_redirect_within_the_host_is_followed_with_body_and_secret(wire: Wire, secret: dict[str, Any]) -> None:
    wire.answers = {"/old": "HTTP/1.1 308 Moved\r\nLocation: /new"}
    assert (await response(skill(f"{wire.url}/old", authType="bearer", **secret), {"q": 1})).output == {"ok": True}
    assert [request.split(b" ", 2)[1] for request in wire.requests] == [b"/old", b"/new"]
    assert wire.headers()["authorization"] == "Bearer s3cret"
    assert b'"q": 1' in wire.body()


async def test_a_key_in_the_query_is_sent_once_wherever_it_goes(wire: Wire, secret: dict[str, Any]) -> None:
    wire.answers = {"/old": "HTTP/1.1 307 Moved\r\nLocation: /new?key=s3cret&v=2"}
    await response(skill(f"{wire.url}/old", authType="api-key", authQuery="key", **secret), {})
    assert wire.line() == "POST /new?v=2&key=s3cret HTTP/1.1"


async def test_the_secret_never_goes_to_another_port(wire: Wire, other_wire: Wire, secret: dict[str, Any]) -> None:
    wire.answers = {"/old": f"HTTP/1.1 307 Moved\r\nLocation: {other_wire.url}/collect"}
    error = await failure(skill(f"{wire.url}/old", authType="bearer", **secret), {})
    assert type(error) is InfraError
    assert f"redirected to {other_wire.url}/collect, which is not followed; put the final address there" in str(error)
    assert other_wire.requests == []


async def test_an_error_after_a_redirect_tells_the_way(wire: Wire) -> None:
    wire.answers = {"/old": "HTTP/1.1 303 See Other\r\nLocation: /new", "/new": "HTTP/1.1 405 No"}
    error = await failure(skill(f"{wire.url}/old"), {})
    assert f"HTTP 405 from {wire.url}/new (redirected from {wire.url}/old to GET)" in str(error)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        pytest.param(
            "mailto:a@b.c", "redirected to mailto:a@b.c, which is not an address of HTTP; correct the service", id="mail"
        ),
        pytest.param(
            "localhost:80/b", "redirected to localhost:80/b, which is not an address of HTTP; correct the", id="host-as-scheme"
        ),
        pytest.param("http://[::1", r"redirected to http://\[::1, which is not followed", id="no-url"),
    ],
)
async def test_a_target_that_is_no_address_is_named(wire: Wire, location: str, message: str) -> None:
    wire.head = f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {location}"
    error = await failure(skill(f"{wire.url}/a"), {"q": 1})
    assert type(error) is InfraError
    assert error.known is None, "the request was sent, and who knows what was called"
    with pytest.raises(InfraError, match=f"^HTTP 307 from {wire.url}/a: {message}"):
        raise error


async def test_what_was_called_before_a_redirect_that_breaks_off_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    client, replies = HttpClient(secure=False), [HttpReply(303, {"location": "/b"}, b"", "")]

    async def exchange(*_: Any) -> HttpReply:
        if not replies:
            raise SkillUnavailable("connection refused", known=CALLED_NOTHING)
        return replies.pop()

    monkeypatch.setattr(client, "_exchange", exchange)
    with pytest.raises(SkillUnavailable) as caught:
        await client.send(asked(), 10, [], lambda _: False)
    await client.close()
    assert caught.value.known is None
