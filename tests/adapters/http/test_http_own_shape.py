"""A service with a shape of its own: method, path, query, headers and body by template; the output by its path."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval_skills.adapters.http.adapter import HttpAdapter
from eval_skills.core.errors import ContractError, InfraError, InputError
from tests.adapters.wire import Ask, Wire, refused, skill
from tests.tables import each_row


async def test_without_options_every_byte_is_as_it_always_was(wire: Wire, ask: Ask) -> None:
    await ask("/run?x=1", {"q": "é"}, headers={"X-Team": "a"})
    assert wire.line() == "POST /run?x=1 HTTP/1.1"
    assert wire.headers() | {"user-agent": ""} == {
        "host": f"127.0.0.1:{wire.port}",
        "accept-encoding": "identity",
        "accept": "application/json",
        "connection": "keep-alive",
        "user-agent": "",
        "content-type": "application/json",
        "x-team": "a",
        "content-length": str(len(wire.body())),
    }
    assert wire.body() == b'{"skillId": "probe", "version": "1.2.3", "input": {"q": "\\u00e9"}}'


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
async def test_a_method_alone_sends_the_usual_body(wire: Wire, ask: Ask, method: str) -> None:
    await ask("/run/{id}", {"id": 7}, method=method)
    assert wire.line() == f"{method} /run/7 HTTP/1.1"
    assert json.loads(wire.body()) == {"skillId": "probe", "version": "1.2.3", "input": {"id": 7}}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_get_and_delete_send_the_input_as_the_query(wire: Wire, ask: Ask, method: str) -> None:
    await ask("/p/{id}?v=1", {"id": "a b", "tags": ["x", "y&z"], "on": True, "none": None, "f[a.b]": 1.5}, method=method)
    assert wire.line() == f"{method} /p/a%20b?v=1&tags=x&tags=y%26z&on=true&f%5Ba.b%5D=1.5 HTTP/1.1"
    assert wire.body() == b""
    assert "content-type" not in wire.headers()


async def test_a_template_by_hand(wire: Wire, ask: Ask) -> None:
    template = {
        "path": {"petId": "{{input.pet.id}}"},
        "query": {"q": "{{input.q}}", "page": "{{input.page}}", "all": True},
        "headers": {"X-Lang": "{{input.lang}}", "accept": "application/vnd.a+json", "X-No": "{{input.absent}}"},
        "body": {"text": "Say {{input.q}}", "n": "{{input.n}}", "tags": ["{{input.tag}}", "x"], "opt": "{{input.absent}}"},
    }
    given = {"pet": {"id": 7}, "q": "hi", "n": [1, {"a": None}], "lang": ["de", "en"], "tag": "t"}
    await ask("/pets/{petId}", given, method="PATCH", requestTemplate=template)
    assert wire.line() == "PATCH /pets/7?q=hi&all=true HTTP/1.1"
    assert json.loads(wire.body()) == {"text": "Say hi", "n": [1, {"a": None}], "tags": ["t", "x"]}
    assert wire.headers()["x-lang"] == "de,en"
    assert wire.headers()["accept"] == "application/vnd.a+json"
    assert "x-no" not in wire.headers()


@pytest.mark.parametrize(
    ("template", "given", "body", "kind"),
    [
        pytest.param(
            {"form": {"a": "{{input.a}}", "b": "{{input.b}}"}}, {"a": ["1", "ü &"]}, b"a=1&a=%C3%BC+%26", "form", id="form"
        ),
        pytest.param({"form": "{{input}}"}, {"x": 1}, b"x=1", "form", id="whole-form"),
        pytest.param({"body": "{{input.body}}"}, {}, b"", None, id="body-left-out"),
        pytest.param({"body": "{{input.body}}"}, {"body": None}, b"null", "json", id="body-null"),
        pytest.param({"body": None}, {}, b"null", "json", id="template-null"),
        pytest.param({"body": "{{input}}"}, 5, b"5", "json", id="bare-input"),
        pytest.param({}, {"x": 1}, b"", None, id="empty-template"),
    ],
)
async def test_bodies(wire: Wire, ask: Ask, template: dict[str, Any], given: Any, body: bytes, kind: str | None) -> None:
    await ask("/run", given, requestTemplate=template)
    assert wire.line() == "POST /run HTTP/1.1"
    assert wire.body() == body
    types = {"json": "application/json", "form": "application/x-www-form-urlencoded", None: None}
    assert wire.headers().get("content-type") == types[kind]


@pytest.mark.parametrize(
    ("answer", "path", "output"),
    [
        pytest.param(b'{"data": {"items": [1, 2]}}', "/data/items/1", 2, id="deep"),
        pytest.param(b'{"a/b": null}', "/a~1b", None, id="null"),
        pytest.param(b'{"output": 1}', "", {"output": 1}, id="whole-and-no-envelope"),
    ],
)
async def test_output_path(wire: Wire, ask: Ask, answer: bytes, path: str, output: Any) -> None:
    wire.answer = answer
    assert await ask("/run", {}, outputPath=path) == output
    assert json.loads(wire.body())["skillId"] == "probe"


async def test_an_answer_of_its_own_shape_is_never_an_envelope(wire: Wire, ask: Ask) -> None:
    wire.answer = b'{"output": [1], "usage": "high"}'
    assert await ask("/run", {}, method="GET") == {"output": [1], "usage": "high"}


@pytest.mark.parametrize(
    ("head", "answer", "output"),
    [
        pytest.param("HTTP/1.1 204 No Content", b"", None, id="204"),
        pytest.param("HTTP/1.1 201 Created", b"", None, id="201-empty"),
        pytest.param("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8", "é 5".encode(), "é 5", id="text"),
        pytest.param("HTTP/1.1 200 OK\r\nContent-Type: text/plain", "é 5".encode(), "é 5", id="text-without-a-charset"),
        pytest.param("HTTP/1.1 200 OK\r\nContent-Type: text/markdown; charset=utf-8", b"# 5", "# 5", id="markdown"),
        pytest.param(
            'HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset="ISO-8859-1"', "é 5".encode("latin-1"), "é 5", id="latin-1"
        ),
        pytest.param(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain;charset=iso-2022-jp", "ベルン".encode("iso-2022-jp"), "ベルン", id="jis"
        ),
    ],
)
async def test_answers_without_json(wire: Wire, ask: Ask, head: str, answer: bytes, output: Any) -> None:
    wire.head, wire.answer = head, answer
    assert await ask("/run", {}, method="DELETE") == output


async def test_a_charset_that_is_not_known_is_named(wire: Wire, ask: Ask) -> None:
    wire.head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=x-none"
    assert "the charset 'x-none' is not known" in str(await refused(ask, "/run", {}, method="GET"))


@pytest.mark.parametrize(
    ("answer", "path", "message"),
    [
        pytest.param(
            b'{"data": []}',
            "/data/0",
            "HTTP 200: nothing at outputPath /data/0 in the body: there is no '0'; it was",
            id="p23-not-there",
        ),
        pytest.param(b"<html>", "", "not JSON", id="html"),
        pytest.param(b"[" * 300 + b"]" * 300, "", "deeper than 200", id="too-deep"),
    ],
)
async def test_an_answer_that_cannot_be_read(wire: Wire, ask: Ask, answer: bytes, path: str, message: str) -> None:
    wire.answer = answer
    error = await refused(ask, "/run", {}, method="GET", outputPath=path)
    assert type(error) is ContractError
    assert message in str(error)


def test_what_is_no_pointer_is_said_in_words() -> None:
    with pytest.raises(InputError, match=r'outputPath: give a JSON pointer such as /data/0; got "data\.0"'):
        HttpAdapter.check(skill("http://127.0.0.1", outputPath="data.0"))


def test_a_header_that_cannot_be_sent_is_not_shown() -> None:
    with pytest.raises(InputError, match=r"headers\.X-Key: holds a line break") as caught:
        HttpAdapter.check(skill("http://127.0.0.1", headers={"X-Key": "s3crét"}))
    assert "crét" not in str(caught.value)


@each_row(
    ("schema", "template", "fills"),
    [
        pytest.param({}, {}, True, id="anything-goes"),
        pytest.param({"type": "object"}, {}, False, id="no-property"),
        pytest.param({"properties": {"petID": {}}, "additionalProperties": False}, {}, False, id="another-property"),
        pytest.param({"properties": {"petId": {}}}, {}, True, id="property"),
        pytest.param({"required": ["petId"]}, {}, True, id="required"),
        pytest.param({"properties": {"a": {}}, "additionalProperties": {}}, {}, True, id="other-properties"),
        pytest.param({"$ref": "#/$defs/pet"}, {}, True, id="elsewhere"),
        pytest.param({"type": "object"}, {"path": {"petId": "{{input.id}}"}}, True, id="template"),
    ],
)
def test_a_mark_that_nothing_can_fill_is_found_before_the_run(
    schema: dict[str, Any], template: dict[str, Any], fills: bool
) -> None:
    probe = skill("http://127.0.0.1/echo/{petId}", requestTemplate=template).model_copy(update={"input_schema": schema})
    if fills:
        HttpAdapter.check(probe)
        return
    with pytest.raises(InputError, match=r"entrypoint: nothing fills \{petId\} in the path; .*requestTemplate\.path\.petId"):
        HttpAdapter.check(probe)


@pytest.mark.parametrize(
    ("path", "given", "config", "message"),
    [
        pytest.param("/p/{id}", {}, {"method": "GET"}, "{id} in the path has no value", id="path-absent"),
        pytest.param("/p/{id}", {"id": None}, {"method": "GET"}, "{id} in the path has no value", id="path-null"),
        pytest.param("/p/{id}", {"id": ""}, {"method": "GET"}, "{id} in the path has no value", id="path-empty"),
        pytest.param("/p/{id}", {"id": ".."}, {"method": "GET"}, "would lead elsewhere", id="p72-climbing"),
        pytest.param("/p/{id}", "text", {}, "{id} in the path has no value", id="no-object"),
        pytest.param("/p", [1], {"method": "GET"}, "it is not an object", id="query-of-a-list"),
        pytest.param(
            "/p", {"a": 1}, {"requestTemplate": {"form": "{{input.a}}"}}, "form is not an object", id="form-of-a-number"
        ),
        pytest.param(
            "/p",
            {"a": "x\r\nX-Evil: 1"},
            {"requestTemplate": {"headers": {"X-A": "{{input.a}}"}}},
            "the header X-A would",
            id="injection",
        ),
        pytest.param(
            "/p", {"a": "x\ny"}, {"requestTemplate": {"headers": {"X-A": "b {{input.a}}"}}}, "the header X-A would", id="inside"
        ),
        pytest.param(
            "/p", {"a": "ü"}, {"requestTemplate": {"headers": {"X-A": "{{input.a}}"}}}, "the header X-A would", id="not-ascii"
        ),
        pytest.param("/p", {"a": "\ud800"}, {"method": "GET"}, "the input cannot be sent", id="surrogate"),
        pytest.param(
            "/p", {"a": [float("nan")]}, {"requestTemplate": {"query": {"a": "x{{input.a}}"}}}, "cannot be sent", id="nan"
        ),
    ],
)
async def test_an_input_that_cannot_be_sent(
    wire: Wire, ask: Ask, path: str, given: Any, config: dict[str, Any], message: str
) -> None:
    error = await refused(ask, path, given, **config)
    assert type(error) is InfraError
    assert message in str(error)
    assert wire.requests == []
