"""A key that an object of an answer gives twice: the last value counts, as most parsers have it, and the answer says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from eval_skills.adapters.answer.envelope import parse_json
from eval_skills.core.models import Skill
from tests.adapters.answer.test_json_text import JSON
from tests.adapters.mcp_probe import ask as ask_tool
from tests.adapters.mcp_probe import by_hand, mcp_skill
from tests.adapters.mcp_probe import failure as tool_failure
from tests.adapters.programs import ask as ask_program
from tests.adapters.programs import failure as program_failure
from tests.adapters.wire import Wire
from tests.adapters.wire import failure as service_failure
from tests.adapters.wire import response as of_service
from tests.adapters.wire import skill as service_skill
from tests.tables import each_row

MakeSkill = Callable[..., Skill]

TWICE = '{"output": 1, "toolCalls": [{"name": "pay"}], "toolCalls": []}'


def duplicates(text: str) -> tuple[Any, list[str]]:
    found: list[str] = []
    return parse_json(text.encode(), found.append), found


@each_row(
    ("text", "value", "keys"),
    [
        pytest.param('{"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]}', None, [], id="the-same-key-in-other-objects"),
        pytest.param('{"a": 1, "a": 1}', {"a": 1}, ["a"], id="equal-values-too"),
        pytest.param(r'{"a": 1, "\u0061": 2}', {"a": 2}, ["a"], id="spelled-otherwise"),
        pytest.param('[{"x": {"b": 1, "c": 0, "b": 2}, "x": 3}]', [{"x": 3}], ["b", "x"], id="at-any-depth"),
        pytest.param('{"a": 1, "A": 2}', {"a": 1, "A": 2}, [], id="case-counts"),
    ],
)
def test_the_last_value_counts_and_the_keys_are_named(text: str, value: Any, keys: list[str]) -> None:
    assert duplicates(text) == (json.loads(text) if value is None else value, keys)
    assert parse_json(text.encode()) == duplicates(text)[0], "whether anybody asks makes no difference to the value"


@pytest.mark.slow
@settings(max_examples=30)
@given(JSON)
def test_what_a_writer_of_json_writes_gives_no_key_twice(value: Any) -> None:
    assert duplicates(json.dumps(value)) == (value, [])


@pytest.mark.parametrize("text", ['{"a": 1, "a": NaN}', '{"a": 1, "a": 1e999}', '{"a": 1, "a": }'])
def test_what_is_refused_stays_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|too large"):
        duplicates(text)


PROGRAM = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(request["params"].replace("ID", str(request["id"])), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("persistent", [False, True])
async def test_of_a_program(program_skill: MakeSkill, persistent: bool) -> None:
    skill = program_skill(PROGRAM, persistent=persistent)
    reply = '{"jsonrpc": "2.0", "id": ID, "result": %s}'
    response = await ask_program(skill, reply % TWICE)
    assert (response.output, response.tool_calls, response.duplicate_keys) == (1, [], ["toolCalls"])
    assert (await ask_program(skill, reply % '{"a": 1}')).duplicate_keys == []
    error = await program_failure(skill, '{"jsonrpc": "2.0", "id": ID, "error": {"code": 1, "code": 2, "message": "no"}}')
    assert (str(error), error.duplicate_keys) == ("error 2: no", ["code"])
    report = '{"jsonrpc": "2.0", "method": "progress", "params": {"toolCalls": [{"name": "a"}], "toolCalls": []}}\n'
    assert (await ask_program(skill, report + reply % "1")).duplicate_keys == ["toolCalls"]


async def test_a_log_line_is_no_answer(program_skill: MakeSkill) -> None:
    log = '{"level": "info", "level": "warning"}\n'
    assert (await ask_program(program_skill(PROGRAM), log + '{"jsonrpc": "2.0", "id": ID, "result": 1}')).duplicate_keys == []


@pytest.mark.parametrize(
    ("answer", "config"),
    [
        pytest.param(TWICE, {}, id="envelope"),
        pytest.param(TWICE, {"method": "POST", "outputPath": "/output"}, id="own-shape"),
        pytest.param(f"data: {TWICE}\n\n", {"stream": {}}, id="stream"),
        pytest.param(
            '{"choices": [{"message": {"content": "x", "content": "y"}, "finish_reason": "stop"}]}',
            {"responseShape": "openai-chat"},
            id="shape",
        ),
    ],
)
async def test_of_a_service(wire: Wire, answer: str, config: dict[str, Any]) -> None:
    wire.answer = answer.encode()
    response = await of_service(service_skill(wire.url, **config))
    assert response.duplicate_keys == (["content"] if "choices" in answer else ["toolCalls"])


async def test_of_the_error_of_a_service(wire: Wire) -> None:
    wire.head, wire.answer = "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json", TWICE.encode()
    assert (await service_failure(service_skill(wire.url))).duplicate_keys == ["toolCalls"]


@pytest.mark.slow
async def test_of_a_tool_whose_text_is_read_as_json(tmp_path: Path) -> None:
    parts = {"parts": [{"type": "text", "text": TWICE}]}
    as_json = mcp_skill(tmp_path, by_hand(), "parts", resultFrom="json")
    assert (await ask_tool(as_json, parts)).duplicate_keys == ["toolCalls"]
    as_text = mcp_skill(tmp_path, by_hand(), "parts", resultFrom="text")
    assert (await ask_tool(as_text, parts)).duplicate_keys == [], "a text is a text"
    wrong = {"parts": [{"type": "text", "text": '{"a": 1, "a": NaN}'}]}
    assert "NaN" in str(await tool_failure(as_json, wrong))


async def test_a_foreign_text_of_many_such_keys_is_named_in_part(wire: Wire) -> None:
    wire.answer = ("{" + ", ".join(f'"k{number % 5000}": {number}' for number in range(10_000)) + "}").encode()
    assert (await of_service(service_skill(wire.url))).duplicate_keys == [f"k{number}" for number in range(10)]
