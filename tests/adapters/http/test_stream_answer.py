from __future__ import annotations

from typing import Any

import pytest

from eval_skills.adapters.http.config import StreamConfig
from eval_skills.adapters.http.streaming import StreamedAnswer
from eval_skills.core.errors import ContractError, SkillUnavailable
from tests.tables import each_row

OPENAI = (
    b'data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}\n\n'
    b'data: {"choices": [{"delta": {"content": "4"}}]}\n\n'
    b": keep-alive\n\n"
    b'data: {"choices": [{"delta": {"content": "2 \xc3\xa9"}}]}\n\n'
    b'data: {"choices": [{"delta": {"content": null}}]}\n\n'
    b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
    b'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}\n\n'
    b"data: [DONE]\n\n"
)
OPENAI_STREAM = {"mode": "concat", "path": "/choices/0/delta/content", "done": "[DONE]"}

ANTHROPIC = b"".join(
    b"event: %s\ndata: %s\n\n" % (name, data)
    for name, data in [
        (b"message_start", b'{"message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}'),
        (b"content_block_delta", b'{"delta": {"type": "text_delta", "text": "He"}}'),
        (b"ping", b'{"type": "ping"}'),
        (b"content_block_delta", b'{"delta": {"type": "text_delta", "text": "y"}}'),
        (b"message_delta", b'{"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}'),
        (b"message_stop", b'{"type": "message_stop"}'),
    ]
)


class Read:
    """What a stream came to, and what was noticed on the way."""

    def __init__(self, config: dict[str, Any], text: bytes, size: int = 1) -> None:
        self.bodies: list[Any] = []
        self.first_at: list[int] = []
        self.answer = StreamedAnswer(StreamConfig(**config), see=self.bodies.append, first=self.first)
        self.ended = False
        for start in range(0, len(text), size):
            if self.answer.feed(text[start : start + size]):
                self.ended = True
                break
        self.output = self.answer.finish()

    def first(self) -> None:
        self.first_at.append(self.answer.bytes)


def broken(config: dict[str, Any], text: bytes) -> str:
    with pytest.raises(ContractError) as caught:
        Read(config, text)
    return str(caught.value)


@each_row(
    ("config", "text", "output"),
    [
        pytest.param(OPENAI_STREAM, OPENAI, "42 é", id="openai"),
        pytest.param({"mode": "concat", "path": "/delta/text", "done": "message_stop"}, ANTHROPIC, "Hey", id="anthropic"),
        pytest.param({"mode": "concat"}, b"data: 4\n\ndata:  2\n\n", "4 2", id="texts-as-they-are"),
        pytest.param({}, b'data: 1\n\ndata: {"a": [2]}\n\n', {"a": [2]}, id="last"),
        pytest.param({"path": "/a"}, b'data: {"a": 1}\n\ndata: {"b": 2}\n\n', 1, id="last-that-has-it"),
        pytest.param({"path": "/a"}, b'data: {"a": 1}\n\ndata: {"a": null}\n\n', None, id="last-null"),
        pytest.param({}, b"data:\n\ndata: 7\n\n", 7, id="empty-data-says-nothing"),
        pytest.param({"format": "jsonl"}, b'{"a": 1}\n\n{"a": 2}\r\n', {"a": 2}, id="jsonl"),
        pytest.param({"format": "jsonl"}, b"1\n2", 2, id="jsonl-without-a-last-line-end"),
        pytest.param({"format": "jsonl", "mode": "concat", "path": "/r"}, b'{"r": "a"}\n{"r": "b"}\n', "ab", id="jsonl-concat"),
        pytest.param({"format": "jsonl", "done": "end"}, b"1\nend\n2\n", 1, id="jsonl-done"),
        pytest.param({"done": "[DONE]"}, b"data: 1\n\ndata: [DONE]\n\ndata: <html>\n\n", 1, id="what-follows-the-end-is-unread"),
    ],
)
@each_row("size", [1, 7, 10_000])
def test_outputs(config: dict[str, Any], text: bytes, output: Any, size: int) -> None:
    assert Read(config, text, size).output == output


@each_row(
    ("config", "text", "message"),
    [
        pytest.param(OPENAI_STREAM, OPENAI.replace(b"data: [DONE]\n\n", b""), "ended without '[DONE]' (stream.done)", id="early"),
        pytest.param({}, b"data: 1\n\ndata: 2\n", "ended in the middle of an event (after 1 events in 17 bytes)", id="half"),
        pytest.param({}, b"", "held no output (after 0 events in 0 bytes)", id="empty"),
        pytest.param({"path": "/a"}, b'data: {"b": 1}\n\n', "held no output at '/a' (stream.path)", id="nothing-there"),
        pytest.param(
            {}, b'event: error\ndata: {"type": "refused"}\n\n', 'reported an error: {"type": "refused"}', id="error-event"
        ),
        pytest.param({}, b"event: error\ndata:\n\n", "reported an error: without a message", id="mute-error-event"),
        pytest.param(
            OPENAI_STREAM, b'data: {"error": {"message": "no"}}\n\n', 'reported an error: {"error": {"message"', id="error-object"
        ),
        pytest.param(
            {"path": "/a"}, b"data: [DONE]\n\n", "cannot be read: not JSON: Expecting value at character 2; it was: [DONE]",
            id="an-end-that-is-not-configured",
        ),
        pytest.param({}, b'data: {"a\n\n', "has an event that cannot be read: not JSON", id="half-json"),
        pytest.param({}, b'data: "\xff"\n\n', "cannot be read: not UTF-8 (byte 1)", id="not-utf-8"),
        pytest.param({"mode": "concat"}, b"data: \xff\n\n", "cannot be read: not UTF-8 (byte 0)", id="text-not-utf-8"),
        pytest.param({}, b"data: " + b"[" * 300 + b"]" * 300 + b"\n\n", "nested deeper than 200 levels", id="deep"),
        pytest.param(
            {"mode": "concat", "path": "/a"}, b'data: {"a": 1}\n\n', "has a int where a text was to be joined", id="number"
        ),
        pytest.param({"format": "jsonl"}, b"<html>\n</html>", "cannot be read: not JSON", id="jsonl-html"),
        pytest.param({"format": "jsonl", "done": "end"}, b"1\n", "ended without 'end'", id="jsonl-early"),
        pytest.param({"format": "jsonl"}, b'1\n{"a', "ended in the middle of a line, or with one that cannot be read: not JSON: "
                     'Unterminated string starting at character 2; it was: {"a (after 1 events in 5 bytes)', id="jsonl-half"),
    ],
)  # fmt: skip
def test_a_stream_that_is_no_answer(config: dict[str, Any], text: bytes, message: str) -> None:
    assert message in broken(config, text)


@each_row(
    ("said", "passing"),
    [
        pytest.param(b'{"message":"overloaded"}', True, id="overloaded"),
        pytest.param(b'{"type": "error", "error": {"type": "overloaded_error", "message": "x"}}', True, id="anthropic"),
        pytest.param(b'{"error": {"type": "rate_limit_exceeded"}}', True, id="rate-limit"),
        pytest.param(b'{"error": {"type": "server_error", "code": null}}', True, id="openai"),
        pytest.param(b'{"error": {"code": 503, "status": "UNAVAILABLE"}}', True, id="google"),
        pytest.param(b'{"error": {"code": "500"}}', True, id="status-as-text"),
        pytest.param(b'{"error": {"code": 429}}', True, id="429"),
        pytest.param(b'{"error": "Rate limit reached"}', True, id="text-in-error"),
        pytest.param(b"too many requests", True, id="plain-text"),
        pytest.param(b'{"error": {"code": 400, "message": "bad input"}}', False, id="400"),
        pytest.param(b'{"error": {"code": true}, "tokens": 503}', False, id="other-numbers"),
        pytest.param(b'["overloaded"]', False, id="no-report"),
        pytest.param(b"no such model", False, id="other-text"),
        pytest.param(b"", False, id="mute"),
    ],
)
def test_an_error_that_may_be_gone_at_the_next_attempt_is_known(said: bytes, passing: bool) -> None:
    with pytest.raises(SkillUnavailable if passing else ContractError, match="the stream reported an error"):
        Read({}, b"event: error\ndata: " + said + b"\n\n")


def test_an_error_in_a_line_of_json_is_known_too() -> None:
    with pytest.raises(SkillUnavailable, match="reported an error"):
        Read({"format": "jsonl", "path": "/r"}, b'{"r": "a"}\n{"error": {"type": "overloaded_error"}}\n')


def test_every_body_is_seen_and_the_first_output_is_noticed() -> None:
    read = Read(OPENAI_STREAM, OPENAI)
    assert read.bodies[-1]["usage"] == {"prompt_tokens": 5, "completion_tokens": 2}
    assert read.ended
    # the empty text of the role is no output
    assert read.first_at[0] == OPENAI.index(b'"4"') + len(b'"4"}}]}\n\n')


def test_what_came_is_told() -> None:
    assert Read({}, b"data: 1\n\n").answer.seen == "1 events in 9 bytes had come"
