"""A line of a trace file: what it may say, and how it is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval_skills.adapters.recorded import read_recorded
from eval_skills.core.errors import ContractError, InfraError, InputError, SkillError, SkillTimeout
from eval_skills.core.models import SkillResponse, ToolCall, Usage
from eval_skills.scorers.tools.calls import known_calls, unknown_calls
from tests.tables import each_row

CALL = {"name": "search", "arguments": {"q": "Bern"}}
ANSWER = {
    "output": {"sum": 4}, "messages": [{"role": "assistant", "content": "4"}], "toolCalls": [CALL],
    "usage": {"promptTokens": 3, "completionTokens": 4}, "costUsd": 0.5, "latencyMs": 1200.5,
}  # fmt: skip
SNAKE = {
    "output": {"sum": 4}, "messages": [{"role": "assistant", "content": "4"}], "tool_calls": [CALL],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, "cost_usd": 0.5, "latency_ms": 1200.5,
}  # fmt: skip
READ = SkillResponse(
    output={"sum": 4},
    messages=[{"role": "assistant", "content": "4"}],
    tool_calls=[ToolCall(name="search", arguments={"q": "Bern"})],
    usage=Usage(prompt_tokens=3, completion_tokens=4),
    cost_usd=0.5,
    latency_ms=1200.5,
)


def line(**fields: Any) -> bytes:
    return json.dumps({"taskId": "a"} | fields).encode()


@each_row(
    "fields",
    [
        pytest.param(ANSWER, id="camel"),
        pytest.param(SNAKE, id="snake"),
        pytest.param({"response": ANSWER}, id="nested"),
        pytest.param({"response": {"output": {"sum": 4}}} | {k: v for k, v in SNAKE.items() if k != "output"}, id="half-nested"),
        pytest.param(ANSWER | {"runIndex": None, "skill": None, "error": None, "response": None}, id="null-is-unknown"),
    ],
)
def test_both_spellings_and_a_nested_envelope_say_the_same(fields: dict[str, Any]) -> None:
    read = read_recorded(line(**fields), "f:1")
    assert (read.task_id, read.run_index, read.skill_key, read.failure) == ("a", None, None, None)
    assert read.answer == READ


@each_row(
    ("usage", "tokens"),
    [
        pytest.param({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}, (5, 2), id="openai-chat"),
        pytest.param(
            {"input_tokens": 5, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}, (5, 2), id="openai-responses"
        ),
        pytest.param(
            {"input_tokens": 5, "output_tokens": 2, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100},
            (115, 2),
            id="anthropic",
        ),
        pytest.param({"inputTokens": 5, "outputTokens": 2}, (5, 2), id="vercel"),
        pytest.param({"promptTokens": 115, "input_tokens": 5, "cache_read_input_tokens": 110}, (115, None), id="ours-first"),
        pytest.param({"promptTokens": None, "input_tokens": 5}, (5, None), id="null-is-none"),
        pytest.param({"total_tokens": 7}, (None, None), id="a-total-tells-neither"),
    ],
)
def test_tokens_are_read_as_every_provider_writes_them(usage: dict[str, Any], tokens: tuple[int | None, int | None]) -> None:
    found = read_recorded(line(output=4, usage=usage), "f:1").answer.usage
    assert found is not None
    assert (found.prompt_tokens, found.completion_tokens) == tokens


@pytest.mark.parametrize("wrong", [{"input_tokens": "5"}, {"input_tokens": 5, "cache_read_input_tokens": -1}])
def test_tokens_that_are_no_number_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"f:1: usage\..*got (\"5\"|-1)"):
        read_recorded(line(output=4, usage=wrong), "f:1")


def test_a_null_output_is_an_answer() -> None:
    assert read_recorded(line(output=None), "f:1").answer == SkillResponse(output=None)


def test_without_an_output_the_models_last_message_is_the_answer() -> None:
    messages = [
        {"role": "assistant", "content": "let me see"},
        {"role": "assistant", "content": [{"type": "text", "text": "It is 4"}]},
        {"role": "tool", "content": "4"},
    ]
    assert read_recorded(line(messages=messages), "f:1").answer.output == "It is 4"
    assert read_recorded(line(messages=messages, output=7), "f:1").answer.output == 7


@each_row(
    ("fields", "key"),
    [
        pytest.param({"skill": "trip"}, "trip", id="id"),
        pytest.param({"skill": "trip@1.2.0"}, "trip@1.2.0", id="key"),
        pytest.param({"skillId": "trip"}, "trip", id="parts-id"),
        pytest.param({"skill_id": "trip", "skillVersion": "1.2.0"}, "trip@1.2.0", id="parts"),
    ],
)
def test_the_skill_has_a_key_or_parts(fields: dict[str, Any], key: str) -> None:
    assert read_recorded(line(output=1, **fields), "f:1").skill_key == key


@each_row(
    ("error", "kind"),
    [
        pytest.param("boom", SkillError, id="text"),
        pytest.param({"message": "boom"}, SkillError, id="object"),
        pytest.param({"kind": "contract", "message": "boom"}, ContractError, id="contract"),
        pytest.param({"kind": "infra", "message": "boom"}, InfraError, id="infra"),
        pytest.param({"kind": "timeout", "message": "boom"}, SkillTimeout, id="timeout"),
    ],
)
def test_p14_a_run_that_raised_is_recorded_as_one(error: Any, kind: type[Exception]) -> None:
    failure = read_recorded(line(error=error, latencyMs=50), "f:1").failure
    assert type(failure) is kind
    assert (str(failure), failure.latency_ms) == ("boom", 50)


@each_row(
    ("text", "says"),
    [
        pytest.param(b"{", "f:7: not JSON", id="bad-json"),
        pytest.param(b'{"taskId": "a", "output": NaN}', "f:7: not JSON: NaN", id="nan"),
        pytest.param(b'{"taskId": "a", "output": 1e999}', "f:7: number 1e999 is too large", id="overflow"),
        pytest.param(b'{"taskId": "a", "output": "\\ud800"}', "f:7: half of a surrogate pair", id="surrogate"),
        pytest.param(b'{"taskId": "a", "output": ' + b"[" * 300 + b"]" * 300 + b"}", "f:7: nested deeper than 200", id="deep"),
        pytest.param(b"\xff\xfe", "f:7: not UTF-8", id="utf-16"),
        pytest.param(b"[1]", "f:7: expected a JSON object with taskId and output", id="array"),
        pytest.param(b"null", "f:7: expected a JSON object", id="null"),
        pytest.param(b'{"output": 1}', "f:7: taskId: this key is required and missing", id="no-task"),
        pytest.param(line(), "f:7: there is no answer; give output, messages, or the error", id="no-answer"),
        pytest.param(line(response={}), "f:7: there is no answer", id="empty-response"),
        pytest.param(line(outptu=1), "f:7: unknown key 'outptu' (did you mean 'output'?)", id="unknown-key"),
        pytest.param(line(output=1, cost=1), "f:7: unknown key 'cost' (did you mean 'costUsd'?)", id="unknown-key-cost"),
        pytest.param(line(response={"ouput": 1}), "f:7: response: unknown key 'ouput' (did you mean 'output'?)", id="nested-key"),
        pytest.param(line(output=1, task_id="a"), "f:7: 'taskId' is given twice", id="two-spellings"),
        pytest.param(line(response={"output": 1, "costUsd": 1, "cost_usd": 2}), "f:7: 'costUsd' is given twice", id="two-nested"),
        pytest.param(line(output=1, response={"output": 2}), "f:7: 'output' stands beside response and in it", id="twice"),
        pytest.param(line(output=1, latencyMs=-1), "f:7: latencyMs: input should be greater than or equal to 0", id="latency"),
        pytest.param(line(output=1, costUsd="1"), "f:7: costUsd: give a number", id="cost-text"),
        pytest.param(line(output=1, runIndex=-1), "f:7: runIndex: input should be greater", id="negative-run"),
        pytest.param(line(output=1, runIndex=10**9), "f:7: runIndex: input should be less than 1000", id="huge-run"),
        pytest.param(line(output=1, runIndex=True), "f:7: runIndex: give a whole number", id="bool-run"),
        pytest.param(line(output=1, taskId=7), "f:7: taskId: give text", id="number-task"),
        pytest.param(line(output=1, taskId=" "), "f:7: taskId: blank text", id="blank-task"),
        pytest.param(line(output=1, messages="hi"), "f:7: messages: give a list", id="messages"),
        pytest.param(line(output=1, toolCalls=[{"id": "x"}]), "f:7: toolCalls[0].name: this key is required", id="call"),
        pytest.param(
            line(output=1, toolCalls=[{"name": "x", "toolCalls": [{"name": "pay"}]}]),
            "f:7: toolCalls[0]: a tool call has 'toolCalls' of its own",
            id="calls-of-a-call",
        ),
        pytest.param(line(output=1, error="boom"), "f:7: a run has an output or ended in an error; keep one", id="both"),
        pytest.param(line(error={"kind": "fun", "message": "x"}), "f:7: error.kind: input should be", id="error-kind"),
        pytest.param(line(error=""), "f:7: error.message: blank text", id="error-blank"),
        pytest.param(line(output=1, skill="a", skillId="a"), "f:7: skill and skillId name the skill twice", id="skill-twice"),
        pytest.param(line(output=1, skillVersion="1.0.0"), "f:7: skillVersion needs skillId", id="version-alone"),
    ],
)
def test_p60_what_cannot_be_used_is_refused_with_file_and_line(text: bytes, says: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_recorded(text, "f:7")
    assert str(refusal.value).startswith(says)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        pytest.param([{"role": "user", "content": "4"}], "none of the messages is the assistant's", id="only-the-user"),
        pytest.param([], "none of the messages is the assistant's", id="none"),
        pytest.param(
            [{"role": "assistant", "content": "4"}, {"role": "human", "content": "sure?"}],
            "messages[1], the last one, is the user's",
            id="ends-at-the-users-turn",
        ),
    ],
)
def test_only_the_models_message_is_an_answer(messages: list[dict[str, Any]], says: str) -> None:
    failure = read_recorded(line(messages=messages, latencyMs=50), "f:1").failure
    assert type(failure) is ContractError
    assert says in str(failure)
    assert failure.latency_ms == 50
    assert read_recorded(line(messages=messages, output=4), "f:1").failure is None


@each_row(
    "message",
    [
        pytest.param({"role": "assistant", "content": None, "refusal": "I cannot."}, id="chat"),
        pytest.param(
            {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]}, id="responses"
        ),
        pytest.param({"type": "ai", "content": "", "additional_kwargs": {"refusal": "I cannot."}}, id="langchain"),
        pytest.param(
            {
                "type": "ai",
                "content": [{"type": "refusal", "refusal": "I cannot."}],
                "additional_kwargs": {"refusal": "I cannot."},
            },
            id="langchain-says-it-twice",
        ),
        pytest.param({"role": "assistant", "content": "I cannot.", "refusal": "No."}, id="content-first"),
        pytest.param({"role": "assistant", "content": "I cannot.", "refusal": None}, id="null"),
    ],
)
def test_a_refusal_is_the_answer(message: dict[str, Any]) -> None:
    assert read_recorded(line(messages=[{"role": "user", "content": "?"}, message]), "f:1").answer.output == "I cannot."


def test_a_tools_turn_at_the_end_leaves_the_answer() -> None:
    results = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]}
    read = read_recorded(line(messages=[{"role": "assistant", "content": "4"}, results]), "f:1")
    assert (read.answer.output, read.failure) == ("4", None)


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(
            [
                {"role": "user", "content": "2 + 2?"},
                {"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "4"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 4"}]},
            ],
            id="responses-api",
        ),
        pytest.param(
            [
                {"role": "model", "parts": [{"text": "It is "}, {"text": "4"}, {"functionCall": {"name": "log"}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "log", "response": {}}}]},
            ],
            id="gemini",
        ),
        pytest.param(
            [
                {"role": "assistant", "content": [{"text": "It is 4"}, {"toolUse": {"name": "log"}}]},
                {"role": "user", "content": [{"toolResult": {"content": []}}]},
            ],
            id="bedrock",
        ),
    ],
)
def test_the_answer_is_read_from_every_notation(messages: list[dict[str, Any]]) -> None:
    read = read_recorded(line(messages=messages), "f:1")
    assert (read.answer.output, read.failure) == ("It is 4", None)


@pytest.mark.parametrize("nested", [False, True])
def test_an_unknown_role_is_refused_with_the_nearest(nested: bool) -> None:
    messages = {"messages": [{"role": "user"}, {"role": "asistant", "content": "4"}]}
    with pytest.raises(InputError, match=r"f:7: .*messages\[1\]: unknown role \"asistant\" \(did you mean 'assistant'\?\)"):
        read_recorded(line(**({"response": messages} if nested else messages)), "f:7")


@pytest.mark.parametrize("kind", ["item_reference", "compaction"])
def test_an_item_that_stands_for_others_leaves_unknown_what_was_called(kind: str) -> None:
    read = read_recorded(line(messages=[{"type": kind, "id": "i"}, {"role": "assistant", "content": "It is 4"}]), "f:1")
    assert read.answer.output == "It is 4"
    assert unknown_calls(read.answer) is not None


def test_a_key_twice_in_a_line_is_refused() -> None:
    for text in (b'{"taskId": "a", "output": 1, "output": 2}', b'{"taskId": "a", "output": {"x": 1, "x": 2}}'):
        with pytest.raises(InputError, match=r"f:7: key '(output|x)' is given twice"):
            read_recorded(text, "f:7")


FIRST: list[dict[str, Any]] = [
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "p1", "type": "function", "function": {"name": "search"}}]},
    {"role": "tool", "tool_call_id": "p1", "content": "ok"},
    {"role": "assistant", "content": "x"},
]
THEN: list[dict[str, Any]] = [{"role": "user", "content": "b"}, {"role": "assistant", "content": "done"}]


@pytest.mark.parametrize("given", [{}, {"input": "a"}], ids=["without-input", "with-input"])
def test_messages_that_repeat_a_conversation_count_in_the_turn_in_which_they_came(given: dict[str, Any]) -> None:
    said = [FIRST, [*FIRST, *THEN], [*FIRST, *THEN, *FIRST]]
    turns = read_recorded(line(turns=[{**given, "output": "x", "messages": each} for each in said]), "f:1").answer.turns
    assert [turn.messages for turn in turns or ()] == [FIRST, THEN, FIRST]


def test_what_a_run_recorded_are_the_messages_of_each_turn() -> None:
    said = [FIRST, [*FIRST, *THEN]]
    turns = [{"output": "x", "messages": each} for each in said]
    read = read_recorded(line(turns=turns, inputDigest="d"), "f:1").answer
    assert [turn.messages for turn in read.turns or ()] == said


def chunk(content: Any = "", identity: str = "r", **fields: Any) -> dict[str, Any]:
    return {"type": "AIMessageChunk", "id": identity, "content": content, "tool_calls": [], "tool_call_chunks": [], **fields}


def of_a_call(name: str | None, args: str, index: int = 0) -> dict[str, Any]:
    early: dict[str, Any] = {
        "name": name or "",
        "args": {},
        "id": name,
        "type": "tool_call",
    }  # as LangChain reads it out of a part
    return chunk(tool_calls=[early], tool_call_chunks=[{"name": name, "args": args, "id": name, "index": index}])


@pytest.mark.parametrize("wrap", [lambda each: each, lambda each: {"lc": 1, "type": "constructor", "kwargs": each}])
def test_chunks_of_a_message_are_that_message(wrap: Any) -> None:
    asks = [of_a_call("search", ""), of_a_call(None, '{"q": '), of_a_call("pay", "{}", 1), of_a_call(None, "1}")]
    says = [chunk("Three ", "s"), chunk([{"type": "text", "text": "hotels"}], "s"), chunk(".", "s", response_metadata={"n": 1})]
    asked = {"role": "user", "content": "?"}
    answer = read_recorded(line(taskId="t", messages=[asked, *map(wrap, [*asks, *says])]), "f:1").answer
    assert (answer.output, len(answer.messages or [])) == ("Three hotels.", 3)
    called = known_calls(answer) or []
    assert [(call.name, call.arguments) for call in called] == [("search", '{"q": 1}'), ("pay", "{}")]
    kept = read_recorded(line(taskId="t", messages=says, output="x", inputDigest="d"), "f:1").answer
    assert kept.messages == says, "what a run recorded is replayed as it was"


def test_a_call_of_which_only_a_chunk_is_there_is_one() -> None:
    said = {"type": "AIMessageChunk", "content": "", "tool_call_chunks": [{"name": "pay", "args": "", "index": 0}]}
    answer = SkillResponse(messages=[said])
    assert [call.name for call in known_calls(answer) or []] == ["pay"]


def test_chunks_are_told_apart_by_their_messages_and_calls_by_their_ids() -> None:
    def piece(name: str | None, args: str, identity: str | None) -> dict[str, Any]:
        return {"name": name, "args": args, "id": identity, "index": 0}

    pieces = [piece("pa", "", "a"), piece("y", "{}", None), piece("search", "{", "b"), piece("search", "}", "b")]
    asks = [chunk(tool_call_chunks=[each]) for each in pieces]
    says = [chunk("Three ", "s"), chunk("hotels", "s")]
    answer = read_recorded(line(taskId="t", messages=[asks[0], says[0], *asks[1:3], says[1], asks[3]]), "f:1").answer
    assert [(call.name, call.arguments) for call in known_calls(answer) or []] == [("pay", "{}"), ("search", "{}")]
    assert (answer.output, len(answer.messages or [])) == ("Three hotels", 2)
    nameless = [{**each, "id": None} for each in says]
    assert read_recorded(line(taskId="t", messages=nameless), "f:1").answer.output == "Three hotels"


def test_a_message_takes_the_place_of_its_chunks() -> None:
    whole = {"type": "ai", "id": "r", "content": "", "tool_calls": [{"name": "pay", "args": {}, "id": "a"}]}
    answer = read_recorded(line(taskId="t", messages=[of_a_call("pay", ""), whole, chunk("Done", "s")]), "f:1").answer
    assert answer.messages == [whole, chunk("Done", "s")]
