"""Server-sent events by the HTML standard, however the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_skills.adapters.http.sse import Event, EventStream
from tests.tables import each_row


def events(*chunks: bytes) -> list[tuple[str, str]]:
    stream = EventStream()
    return [(event.name, event.data.decode()) for chunk in chunks for event in stream.feed(chunk)]


@each_row(
    ("text", "expected"),
    [
        pytest.param(b"data: a\n\n", [("message", "a")], id="one"),
        pytest.param(b"data: YHOO\ndata: +2\ndata: 10\n\n", [("message", "YHOO\n+2\n10")], id="lines-are-joined"),
        pytest.param(b": hi\n\ndata: a\n: there\n\n:\n\n", [("message", "a")], id="comments"),
        pytest.param(b"data:a\n\ndata:  b\n\n", [("message", "a"), ("message", " b")], id="one-blank-is-taken"),
        pytest.param(b"data\n\ndata\ndata\n\n", [("message", ""), ("message", "\n")], id="field-without-value"),
        pytest.param(b"event: delta\ndata: a\n\ndata: b\n\n", [("delta", "a"), ("message", "b")], id="a-name-lasts-for-one"),
        pytest.param(b"event: ping\n\ndata: a\n\n", [("message", "a")], id="a-name-without-data-is-none"),
        pytest.param(b"id: 7\nretry: 10\nfoo: bar\ndata: a\n\n", [("message", "a")], id="other-fields"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [("message", "a"), ("message", "b"), ("message", "c")], id="ends"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [("message", "a")], id="byte-order-mark"),
        pytest.param(b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [("message", "a")], id="a-mark-counts-at-the-beginning-only"),
        pytest.param(b"data: a\n\ndata: b\n", [("message", "a")], id="an-unfinished-event-is-none"),
        pytest.param("data: a\x85b\u2028c\x0bd\n\n".encode(), [("message", "a\x85b\u2028c\x0bd")], id="other-breaks-are-text"),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_by_the_standard(text: bytes, expected: list[tuple[str, str]]) -> None:
    assert events(text) == expected
    assert events(*(bytes([byte]) for byte in text)) == expected


@each_row(
    ("text", "unfinished"),
    [
        pytest.param(b"data: a\n\n", False, id="whole"),
        pytest.param(b"data: a\n", True, id="no-blank-line"),
        pytest.param(b"data: a\n\ndat", True, id="half-a-field"),
        pytest.param(b"data: a\r\n\r", False, id="half-a-line-end"),
        pytest.param(b": bye\n", False, id="a-comment"),
        pytest.param(b"", False, id="nothing"),
    ],
)
def test_an_event_without_an_end_is_known(text: bytes, unfinished: bool) -> None:
    stream = EventStream()
    list(stream.feed(text))
    assert stream.unfinished is unfinished


LINES = st.lists(st.sampled_from([b"data: x", b"data:", b"data: y: z", b"event: e", b": c", b"", b"", b"other"]), max_size=12)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(LINES, ENDS, st.lists(st.integers(0, 200), max_size=6))
def test_where_the_bytes_are_cut_changes_nothing(lines: list[bytes], end: bytes, cuts: list[int]) -> None:
    text = b"".join(line + end for line in lines)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    assert events(*(text[start:stop] for start, stop in pairwise(places))) == events(text)


def read_by_httpx2(text: bytes) -> list[Event]:
    headers = {"Content-Type": "text/event-stream"}
    response = httpx2.Response(200, headers=headers, content=text, request=httpx2.Request("GET", "http://h/"))
    return [Event(each.event, each.data.encode()) for each in httpx2.EventSource(response)]


@settings(max_examples=60, deadline=None)
@given(LINES.map(lambda lines: [line for line in lines if line != b"data:"]), ENDS)
def test_another_parser_reads_the_same(lines: list[bytes], end: bytes) -> None:
    text = b"".join(line + end for line in lines) + end
    # it also tells of names without data, which by the standard are no events
    assert list(EventStream().feed(text)) == [event for event in read_by_httpx2(text) if event.data]
