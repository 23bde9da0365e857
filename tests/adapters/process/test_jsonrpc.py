from __future__ import annotations

import json
from typing import Any

import pytest

from eval_skills.adapters.process.jsonrpc import Reply, read_progress, read_reply, request_line, why_not_reply
from eval_skills.core.errors import ContractError, InfraError, SkillError
from tests.tables import each_row


def test_a_request_is_one_line_with_method_params_and_id() -> None:
    line = request_line(7, {"text": "two\nlines é"})
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"jsonrpc": "2.0", "method": "invoke", "params": {"text": "two\nlines é"}, "id": 7}


def test_an_input_that_is_not_json_is_an_infra_error() -> None:
    with pytest.raises(InfraError, match="cannot be sent"):
        request_line(1, float("nan"))


@each_row(
    ("message", "reply"),
    [
        pytest.param({"jsonrpc": "2.0", "id": 3, "result": [1]}, Reply([1], False), id="result"),
        pytest.param({"jsonrpc": "2.0", "id": 3, "result": None}, Reply(None, False), id="null-is-a-result"),
        pytest.param({"jsonrpc": "2.0", "id": None, "result": 1}, None, id="null-may-be-to-an-earlier-request"),
        pytest.param({"jsonrpc": "2.0", "id": 3.0, "result": 1}, Reply(1, False), id="the-same-json-number"),
        pytest.param({"jsonrpc": "2.0", "id": 3, "error": {"code": 1}}, Reply({"code": 1}, True), id="error"),
        pytest.param({"jsonrpc": "2.0", "id": 3, "result": 1, "error": None}, Reply(1, False), id="null-error-is-none"),
        pytest.param({"jsonrpc": "2.0", "id": "3", "result": 1}, None, id="text-id"),
        pytest.param({"jsonrpc": "2.0", "id": True, "result": 1}, None, id="true-is-not-a-number"),
        pytest.param({"jsonrpc": "2.0", "id": 4, "result": 1}, None, id="other-id"),
        pytest.param({"jsonrpc": "2.0", "result": 1}, None, id="no-id"),
        pytest.param({"id": 3, "result": 1}, None, id="no-version"),
        pytest.param({"jsonrpc": "2.0", "id": 3}, None, id="neither-result-nor-error"),
        pytest.param({"jsonrpc": "2.0", "method": "log", "params": {}}, None, id="notification"),
        pytest.param([1], None, id="a-list"),
    ],
)
def test_p23_a_reply_is_known_by_its_id(message: Any, reply: Reply | None) -> None:
    assert read_reply(json.dumps(message).encode(), 3) == reply


def test_a_byte_order_mark_is_let_through() -> None:
    assert read_reply(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":3,"result":1}', 3) == Reply(1, False)
    with pytest.raises(ContractError, match="NaN is not a JSON value"):
        read_reply(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":3,"result":NaN}', 3)


@pytest.mark.parametrize(
    ("the_id", "report"),
    [('"id":null,', {"costUsd": 1}), ("", {"costUsd": 1}), ('"id":3,', None)],
    ids=["null", "none", "request"],
)
def test_a_report_has_no_id_or_one_that_is_null(the_id: str, report: dict[str, Any] | None) -> None:
    line = f'{{"jsonrpc":"2.0","method":"progress",{the_id}"params":{{"costUsd":1}}}}'
    assert read_progress(line.encode(), 3) == report


@pytest.mark.parametrize("or_null", [True, False])
def test_the_id_null_says_enough_where_requests_are_not_named(or_null: bool) -> None:
    reply = read_reply(b'{"jsonrpc":"2.0","id":null,"result":1}', 3, or_null=or_null)
    assert reply == (Reply(1, False) if or_null else None)


@pytest.mark.parametrize("content", [b"NaN", b"[" * 100_000 + b"]" * 100_000], ids=["no-json", "too-deep"])
def test_what_cannot_be_read_with_the_id_null_is_a_log_where_requests_are_named(content: bytes) -> None:
    text = b'{"jsonrpc":"2.0","id":null,"result":%b}' % content
    assert read_reply(text, 3) is None
    with pytest.raises(ContractError, match="unreadable answer"):
        read_reply(text, 3, or_null=True)


def test_true_is_no_id_one() -> None:
    assert read_reply(b'{"jsonrpc":"2.0","id":true,"result":1}', 1) is None


@each_row("text", [b"{not json", b"", b"working ...", b"{}"])
def test_a_log_line_is_no_reply(text: bytes) -> None:
    assert read_reply(text, 1) is None


def test_a_reply_that_holds_nan_is_a_contract_error_and_not_a_log() -> None:
    with pytest.raises(ContractError, match=r"NaN is not a JSON value; it was: \{.*NaN"):
        read_reply(b'{"jsonrpc":"2.0","id":1,"result":NaN}', 1)


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("result", "why"),
    [
        pytest.param(b'"\xff"', r"not UTF-8 \(byte \d+\)", id="wrong-bytes"),
        pytest.param(DEEP.encode(), "nested deeper than 200 levels", id="too-deep-for-any-parser"),
        pytest.param(b"9" * 100_000, "digits", id="an-endless-number"),
        pytest.param(b'{"a": }', "not JSON: Expecting value", id="misspelt"),
    ],
)
@pytest.mark.parametrize("last", [b"", b' , "jsonrpc": "2.0",\n "id" : 3'], ids=["id-first", "id-last"])
def test_a_reply_that_cannot_be_read_says_why_and_is_no_log(result: bytes, why: str, last: bytes) -> None:
    first = b"" if last else b'"jsonrpc": "2.0", "id": 3, '
    with pytest.raises(ContractError, match=f"unreadable answer: .*{why}"):
        read_reply(b"{" + first + b'"result": ' + result + last + b"}", 3)


@each_row(
    "text",
    [
        pytest.param('{"jsonrpc": "2.0", "id": 3, "method": "invoke", "params": ' + DEEP + "}", id="a-request"),
        pytest.param('{"jsonrpc": "2.0", "id": 33, "result": ' + DEEP + "}", id="to-another"),
        pytest.param('{"jsonrpc": "2.0", "id": 3, "result": "hal', id="half"),
        pytest.param('{"id": 3, "result": ' + DEEP + "}", id="no-version"),
    ],
)
def test_what_cannot_be_read_and_is_no_reply_is_a_log(text: str) -> None:
    assert read_reply(text.encode(), 3) is None


@pytest.mark.parametrize(
    ("error", "message"),
    [
        pytest.param({"code": -32601, "message": "no such method"}, r"^error -32601: no such method$", id="plain"),
        pytest.param({"code": 5, "message": "bad", "data": {"why": "x"}}, r'^error 5: bad \(\{"why": "x"\}\)$', id="with-data"),
        pytest.param("it broke", r'^error reply: "it broke"$', id="not-as-specified"),
    ],
)
def test_an_error_reply_is_a_skill_error_with_its_message(error: Any, message: str) -> None:
    with pytest.raises(SkillError, match=message):
        Reply(error, True).result()


@each_row(
    ("text", "why"),
    [
        pytest.param("hello", "not a JSON object: hello", id="prose"),
        pytest.param("{\0", "not a JSON object (it has zero bytes, as UTF-16 has them; write UTF-8): {", id="utf-16"),
        pytest.param('{"id":1,"result":2}', 'without "jsonrpc": "2.0"', id="version"),
        pytest.param('{"jsonrpc":"2.0","id":"1","result":2}', 'its id is "1" and 1 was asked', id="text-id"),
        pytest.param('{"jsonrpc":"2.0","id":1,"result":2}', "it does not end with a line feed: {", id="unfinished"),
        pytest.param('{"jsonrpc":"2.0","id":1}', "neither result nor error", id="empty"),
    ],
)
def test_what_was_seen_instead_is_said(text: str, why: str) -> None:
    assert why in why_not_reply(text, 1)
