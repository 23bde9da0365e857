from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from eval_skills.core.redaction import Redaction, short_secrets
from tests.tables import each_row

NESTED = json.dumps(json.dumps({"k": "[redacted:A]"}))
KEY = "sk-Live_9aB8c7D6"
OBJECT = json.dumps(json.dumps({"a": "[redacted:A]"}))
LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"


@each_row(
    ("secrets", "text", "kept"),
    [
        pytest.param({"A": "hunter2"}, "x hunter2 y hunter2", "x [redacted:A] y [redacted:A]", id="every-hit"),
        pytest.param({"A": "abc"}, "abc", "abc", id="too-short"),
        pytest.param({"A": ""}, "abc", "abc", id="empty"),
        pytest.param({}, "abc", "abc", id="no-secrets"),
        pytest.param({"A": "hunter2", "B": "hunter2"}, "hunter2", "[redacted:A]", id="first-of-equals"),
        pytest.param({"A": "hunter", "B": "hunter2"}, "hunter2 hunter", "[redacted:B] [redacted:A]", id="longest-first"),
        pytest.param({"A": "redacted", "B": "hunter2"}, "hunter2", "[redacted:B]", id="marks-are-not-redacted"),
        pytest.param({"A": "a.*b"}, "a.*b axxb", "[redacted:A] axxb", id="no-pattern"),
        pytest.param({"A": "Hunter2"}, "hunter2", "hunter2", id="case-counts"),
        pytest.param({"A": "hunter2\n"}, "x hunter2", "x [redacted:A]", id="blanks-around-are-no-part"),
        pytest.param({"A": "a<b&c"}, "<p>a&lt;b&amp;c", "<p>[redacted:A]", id="in-a-web-page"),
        pytest.param({"A": "pass word"}, "?p=pass%20word&q=pass+word", "?p=[redacted:A]&q=[redacted:A]", id="in-an-address"),
        pytest.param({"A": 'a"b\\c'}, json.dumps(json.dumps({"k": 'a"b\\c'})), NESTED, id="quoted-twice"),
        pytest.param({"A": "a'b\\c\"d"}, repr({"k": "a'b\\c\"d"}), "{'k': '[redacted:A]'}", id="quoted-by-python"),
        pytest.param({"A": "one\n  two"}, "said one two", "said [redacted:A]", id="on-one-line-though-it-has-two"),
        pytest.param({"A": f"{LINE}\nend"}, f"at | {LINE} | end", "at | [redacted:A] | end", id="a-line-of-several"),
        pytest.param({"A": "hunter2"}, "got hunte…", "got [redacted:A]…", id="cut-at-its-end"),
        pytest.param({"A": "hunter2"}, "…nter2 | x", "…[redacted:A] | x", id="cut-at-its-beginning"),
        pytest.param({"A": "hunter2"}, "hun…er2", "hun…er2", id="too-short-a-piece"),
        pytest.param({"A": "hunter2", "B": "hunters"}, "hunter… hunte…", "[redacted:B]… [redacted:B]…", id="a-piece-of-two"),
        pytest.param({"A": "hunter2"}, "hunter2… hunt", "[redacted:A]… hunt", id="whole-before-a-cut"),
        pytest.param({"A": KEY}, f"x {KEY.upper()} {KEY.lower()}", "x [redacted:A] [redacted:A]", id="other-cases"),
        pytest.param({"A": "Straße 12/x"}, "STRAßE 12/X stra%c3%9fe%2012%2fx", "[redacted:A] [redacted:A]", id="both"),
        pytest.param({"A": KEY}, f"{KEY.encode().hex()}", "[redacted:A]", id="hexadecimal"),
        pytest.param({"A": KEY}, f'["{KEY[:7]}", "{KEY[7:]}"]', '["[redacted:A]"]', id="split-in-a-quoted-list"),
        pytest.param({"A": KEY}, json.dumps(json.dumps({"a": KEY[:4], "b": KEY[4:]})), OBJECT, id="split-in-a-quoted-object"),
    ],
)
def test_text(secrets: dict[str, str], text: str, kept: str) -> None:
    assert Redaction(secrets).text(text) == kept


def test_data_keeps_its_shape() -> None:
    data = {"n": 1, "f": 1.5, "t": True, "none": None, "list": ["true", {"k": "hunter2"}]}
    redaction = Redaction({"A": "hunter2", "B": "True"})
    assert redaction.data(data) == {**data, "list": ["true", {"k": "[redacted:A]"}]}
    assert Redaction().data(data) is data


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("before", ["", "?", "??", "user:"])
@pytest.mark.parametrize("after", ["", "&", "&&", " and more"])
def test_a_secret_in_base64_whatever_stands_around_it(encode: Callable[[bytes], bytes], before: str, after: str) -> None:
    secret = "~~>>??9aB8c7"
    text = encode(f"{before}{secret}{after}".encode()).decode()
    clean = Redaction({"A": secret}).text(f"got {text} back")
    assert "[redacted:A]" in clean
    left = clean.replace("[redacted:A]", "").replace("got ", "").replace(" back", "")
    assert len(left) <= len(encode(before.encode())) + len(encode(after.encode()))
    assert Redaction({"A": secret}).touches(json.dumps({"k": text}))


@each_row(
    ("data", "kept"),
    [
        ([KEY[:5], KEY[5:]], ["[redacted:A]", "[redacted:A]"]),
        ({"a": f"x {KEY[:9]}", "n": 1, "b": f"{KEY[9:]} y"}, {"a": "x [redacted:A]", "n": 1, "b": "[redacted:A] y"}),
        ([{"k": KEY[:12].upper()}, [KEY[12:].upper(), "z"]], [{"k": "[redacted:A]"}, ["[redacted:A]", "z"]]),
        ([KEY, KEY[:5]], ["[redacted:A]", KEY[:5]]),
        ([KEY[:5], "between", KEY[5:]], [KEY[:5], "between", KEY[5:]]),
    ],
)
def test_a_secret_that_is_split_over_two_texts(data: Any, kept: Any) -> None:
    redaction = Redaction({"A": KEY})
    assert redaction.touches(json.dumps(data))
    assert redaction.data(data) == kept


@each_row(
    ("text", "touched"),
    [("all is well", False), ("hunter2", True), ("hunte…", True), ("a cut…", True)],
)
def test_what_may_hold_a_secret_is_looked_at(text: str, touched: bool) -> None:
    assert Redaction({"A": "hunter2"}).touches(text) is touched
    assert not Redaction().touches(text)


def test_a_secret_that_is_too_short_is_named_and_not_shown() -> None:
    assert short_secrets({"A": "long", "B": "", "C": "xyz\n", "D": " "}) == [
        "the secret C has fewer than 4 characters, so it is not redacted"
    ]


def test_the_secrets_of_variables_are_those_that_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPTY_SECRET", "")
    monkeypatch.setenv("HELD_SECRET", "hunter2")
    redaction = Redaction.of_variables(["EMPTY_SECRET", None, "HELD_SECRET", "UNSET_SECRET"])
    assert redaction.text("hunter2 and nothing") == "[redacted:HELD_SECRET] and nothing"
