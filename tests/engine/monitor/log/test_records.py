"""One record of a log as an interaction, and what is none."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from eval_skills.engine.monitor.log.records import BadRecord, Interaction, LogFields, RecordReader
from tests.tables import each_row


def read(record: Any, **fields: str) -> Interaction:
    return RecordReader(LogFields(**fields)).interaction(record, "log:1")


def test_the_usual_keys_need_no_naming() -> None:
    found = read(
        {"id": 7, "query": "q", "output": {"a": 1}, "toolCalls": [{"name": "search"}], "latencyMs": 3, "cost_usd": 0.5,
         "time": "2026-01-31T10:00:00+01:00", "agentId": "support", "expected": "x"}
    )  # fmt: skip
    assert (found.id, found.query, found.response.output, found.skill) == ("7", "q", {"a": 1}, "support")
    assert (found.response.latency_ms, found.response.cost_usd) == (3, 0.5)
    assert found.response.tool_calls is not None
    assert found.response.tool_calls[0].name == "search"
    assert found.timestamp == datetime(2026, 1, 31, 9, tzinfo=UTC)
    assert found.expected is not None
    assert found.expected.value == "x"


def test_p59_every_field_can_be_read_from_another_key() -> None:
    record = {
        "meta": {"trace": "t1", "who": "s", "when": 1_769_853_600, "took": 12.5, "usd": 0.1, "why": "stop"},
        "in.put": "dots in a key", "reply": [1], "chat": [{"role": "user", "content": "hi"}],
        "calls": [], "gold": [1], "oops": None,
    }  # fmt: skip
    fields = {
        "id": "meta.trace", "skill": "meta.who", "timestamp": "meta.when", "latency_ms": "meta.took", "cost_usd": "meta.usd",
        "input": "in.put", "output": "reply", "messages": "chat", "tool_calls": "calls", "expected": "gold", "error": "oops",
        "finish_reason": "meta.why",
    }  # fmt: skip
    assert set(fields) == set(LogFields.model_fields)
    reader = RecordReader(LogFields(**fields))
    found = reader.interaction(record, "log:1")
    assert (found.id, found.skill, found.query, found.response.output) == ("t1", "s", "dots in a key", [1])
    assert (found.response.latency_ms, found.response.cost_usd, found.response.tool_calls) == (12.5, 0.1, [])
    assert found.response.finish_reason == "stop"
    assert found.timestamp == datetime(2026, 1, 31, 10, tzinfo=UTC)
    assert reader.unseen == {}


def test_keys_with_dots_are_found_within_others_as_in_a_span_of_opentelemetry() -> None:
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "on its way"}]}]
    span = {"spanId": "a1", "attributes": {"gen_ai.output.messages": said, "gen_ai": {"agent": 7}, "gen_ai.agent": {"name": "s"}}}
    fields = {"id": "spanId", "messages": "attributes.gen_ai.output.messages", "skill": "attributes.gen_ai.agent.name"}
    found = read(span, **fields)
    assert (found.id, found.response.output, found.skill) == ("a1", "on its way", "s")
    with pytest.raises(BadRecord, match=r"^no answer: there is no key 'attributes\.gen_ai\.output\.messages'"):
        read({"spanId": "a2", "attributes": {"gen_ai.tool.name": "search"}}, **fields)


def test_a_named_key_that_no_record_has_is_remembered() -> None:
    reader = RecordReader(LogFields(latency_ms="took"))
    reader.interaction({"output": 1, "latencyMs": 5}, "log:1")
    assert reader.unseen == {"latency_ms": "took"}


def test_without_an_output_the_last_message_of_the_agent_is_the_answer() -> None:
    messages = [
        {"role": "user", "content": "first"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "second"},
        {"role": "assistant", "content": "b"}, {"role": "tool", "content": "c"},
    ]  # fmt: skip
    found = read({"messages": messages})
    assert (found.query, found.response.output) == ("second", "b")


def test_messages_that_end_at_the_user_s_turn_hold_no_answer_to_it() -> None:
    messages = [
        {"role": "user", "content": "Where is order 5?"}, {"role": "assistant", "content": "Order 5 is on its way."},
        {"role": "user", "content": "And order 6?"},
    ]  # fmt: skip
    found = read({"messages": messages})
    assert (found.query, found.error) == (
        "And order 6?", "there is no answer: messages[2], the last one, is the user's, and output is not given"
    )  # fmt: skip
    assert read({"messages": messages, "output": "Order 6, too."}).error is None
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "c"}]}
    assert read({"messages": [*messages[:2], result]}).error is None


def test_a_record_of_an_error_needs_no_message_of_the_agent() -> None:
    found = read({"messages": [{"role": "user", "content": "q"}], "error": "broke"})
    assert (found.error, found.query, found.response.output) == ("broke", "q", None)


def test_what_tools_brought_back_in_the_user_s_name_is_no_question() -> None:
    result = {"type": "tool_result", "tool_use_id": "1", "content": "c"}
    asked = [{"role": "user", "parts": [{"text": "first"}]}, {"role": "assistant", "content": "a"}]
    assert read({"messages": [*asked, {"role": "user", "content": [result]}]}).query == "first"


def test_lists_that_a_table_holds_as_text_are_read() -> None:
    found = read({"output": 1, "messages": '[{"role": "user", "content": "q"}]', "tool_calls": '[{"name": "t"}]'})
    assert found.query == "q"
    assert found.response.tool_calls is not None


def test_without_an_id_equal_records_have_equal_ids_whatever_the_order_of_their_keys() -> None:
    one, same, other = read({"output": 1, "ts": 5}), read({"ts": 5, "output": 1}), read({"output": 1, "ts": 6})
    assert one.id == same.id != other.id


def test_an_endless_id_is_kept_as_its_digest() -> None:
    assert read({"id": "x" * 10_000, "output": 1}).id.startswith("sha256:")
    assert len(read({"id": "x" * 10_000, "output": 1}).id) < 50


@each_row("nothing", [None, "", " \n", [], {}, b"", float("nan"), Decimal("nan")])
def test_an_empty_id_is_none(nothing: Any) -> None:
    reader = RecordReader(LogFields())
    record = {"id": nothing, "output": 1}
    one, again, other = (reader.interaction(record, "log:1", place) for place in ("log:1", "log:1", "log:2"))
    assert one.id == again.id != other.id
    assert (one.has_id, one.content()) == (False, "")


@pytest.mark.parametrize("nothing", [None, ""])
def test_where_the_key_of_ids_was_named_an_empty_one_is_none_either(nothing: Any) -> None:
    assert not read({"trace": nothing, "output": 1}, id="trace").has_id


@each_row(
    ("value", "text"),
    [
        pytest.param(0, "0", id="zero"),
        pytest.param(7, "7", id="number"),
        pytest.param(1.5, "1.5", id="decimals"),
        pytest.param(False, "false", id="false"),
        pytest.param("NaN", "NaN", id="a-text"),
        pytest.param({"b": 1, "a": 2}, '{"a": 2, "b": 1}', id="object"),
        pytest.param([1, None], "[1, null]", id="list"),
        pytest.param(b"x", "\"b'x'\"", id="bytes"),
        pytest.param({b"k": 1}, "{\"b'k'\": 1}", id="a-table-s-map"),
        pytest.param("\ud83d", "\ufffd", id="half-an-emoji"),
    ],
)
def test_ids_of_any_type(value: Any, text: str) -> None:
    assert read({"id": value, "output": 1}).id == text


def test_a_map_of_a_table_has_keys_of_any_type() -> None:
    record = {"output": 1, "input": {datetime(2026, 1, 31): "x", b"k": 1}}
    assert read(record).id.startswith("sha256:")
    assert len(read({"id": 1, **record}).content()) == 16


def test_the_content_is_all_that_is_read_and_nothing_else() -> None:
    record = {"id": 1, "output": {"a": 1, "b": 2}, "toolCalls": [{"name": "t"}], "time": "2026-01-31T10:00:00+01:00"}
    same = {"host": "x", "time": "2026-01-31T09:00:00Z", "toolCalls": '[{"name": "t"}]', "output": {"b": 2, "a": 1}, "id": 2}
    assert read(record).content() == read(same).content()


def test_the_content_of_a_deep_answer_has_a_digest() -> None:
    output: Any = "end"
    for _ in range(300):
        output = [output]
    assert len(read({"id": 1, "output": output, "messages": [{"role": "assistant", "content": output}]}).content()) == 16


@each_row("nothing", [None, False, "", [], {}])
def test_an_empty_error_is_none(nothing: Any) -> None:
    assert read({"output": 1, "error": nothing}).error is None


def test_p14_an_interaction_that_ended_in_an_error_is_one() -> None:
    found = read({"id": "a", "error": {"code": 500}})
    assert (found.error, found.response.output) == ('{"code": 500}', None)


@each_row(
    ("said", "expected"),
    [
        pytest.param({"keywords": ["a"]}, {"keywords": ["a"]}, id="an-expectation"),
        pytest.param({"total": 3}, {"value": {"total": 3}}, id="an-object-is-a-value"),
        pytest.param({"value": 1, "type": "custom"}, {"value": {"value": 1, "type": "custom"}}, id="a-log-names-no-scorer"),
        pytest.param({"customScorerPath": "x.py"}, {"value": {"customScorerPath": "x.py"}}, id="a-log-names-no-code"),
        pytest.param({}, {"value": {}}, id="empty"),
        pytest.param(False, {"value": False}, id="false"),
    ],
)
def test_what_a_log_may_expect(said: Any, expected: dict[str, Any]) -> None:
    found = read({"output": 1, "expected": said}).expected
    assert found is not None
    assert found.model_dump(by_alias=True, exclude_unset=True) == expected


@each_row(
    ("record", "fields", "says"),
    [
        pytest.param([], {}, "expected an object with an answer, got a list", id="list"),
        pytest.param("text", {}, 'got "text"', id="text"),
        pytest.param({"outptu": 1}, {}, "no answer: there is no key 'output' or 'response' (did you mean 'outptu'?)", id="typo"),
        pytest.param({"output": 1}, {"output": "reply"}, "there is no key 'reply'", id="named-output"),
        pytest.param({"output": 1}, {"id": "trace"}, "no id: there is no key 'trace'", id="named-id"),
        pytest.param({"messages": []}, {}, "no answer", id="no-message"),
        pytest.param({"messages": [{"role": "user", "content": "q"}]}, {}, "no answer: no message is", id="only-the-user-s"),
        pytest.param({"output": 1, "messages": "no list"}, {}, "messages: give a list; got", id="messages"),
        pytest.param({"output": 1, "toolCalls": [{}]}, {}, "tool_calls[0].name: this key is required", id="tool-call"),
        pytest.param({"output": 1, "costUsd": -1}, {}, "cost_usd: input should be greater than or equal to 0; got -1", id="cost"),
        pytest.param({"output": 1, "latencyMs": "5"}, {}, 'latency_ms: give a number; got "5"', id="latency"),
        pytest.param({"output": 1, "expected": {"keywords": 3}}, {}, "expected.keywords: give a list; got 3", id="expectation"),
    ],
)
def test_what_is_no_interaction_says_why(record: Any, fields: dict[str, str], says: str) -> None:
    with pytest.raises(BadRecord) as caught:
        read(record, **fields)
    assert says in str(caught.value)


@each_row(
    ("value", "moment"),
    [
        pytest.param("2026-01-31T10:00:00", datetime(2026, 1, 31, 10, tzinfo=UTC), id="no-zone-is-utc"),
        pytest.param(1_769_853_600_000, datetime(2026, 1, 31, 10, tzinfo=UTC), id="milliseconds"),
        pytest.param(1_769_853_600_000_000, datetime(2026, 1, 31, 10, tzinfo=UTC), id="microseconds"),
        pytest.param(1_769_853_600_000_000_000, datetime(2026, 1, 31, 10, tzinfo=UTC), id="nanoseconds"),
        pytest.param("1769853600.5", datetime(2026, 1, 31, 10, 0, 0, 500_000, tzinfo=UTC), id="seconds-as-text"),
        pytest.param("1769853600000000000", datetime(2026, 1, 31, 10, tzinfo=UTC), id="nanoseconds-as-text"),
        pytest.param("20260131", datetime(2026, 1, 31, tzinfo=UTC), id="a-day-without-dashes"),
        pytest.param(datetime(2026, 1, 31, 10), datetime(2026, 1, 31, 10, tzinfo=UTC), id="of-parquet"),
        pytest.param("yesterday", None, id="unreadable"),
        pytest.param(1e300, None, id="beyond-time"),
        pytest.param(True, None, id="true"),
    ],
)
def test_moments(value: Any, moment: datetime | None) -> None:
    assert read({"output": 1, "timestamp": value}).timestamp == moment


def test_what_json_does_not_know_becomes_what_can_be_written() -> None:
    found = read({"output": ["\ud83d", float("nan"), Decimal("1.5"), b"x"], "costUsd": Decimal("0.5"), "latencyMs": float("inf")})
    assert found.response.output == ["\ufffd", None, "1.5", "b'x'"]
    assert (found.response.cost_usd, found.response.latency_ms) == (0.5, None)


def test_chunks_of_a_message_are_that_message() -> None:
    pieces = [{"type": "AIMessageChunk", "id": "r", "content": each} for each in ("Three ", "hotels")]
    found = read({"messages": pieces})
    assert found.response.output == "Three hotels"
    assert [message["content"] for message in found.response.messages or []] == ["Three hotels"]
