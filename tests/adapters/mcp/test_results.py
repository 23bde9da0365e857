"""What an MCP tool answered: every block is kept, and what is the output of it is said by `resultFrom`."""

from __future__ import annotations

from typing import Any

import mcp_types
import pytest

from eval_skills.adapters.mcp.results import OutputChoice, content_of
from eval_skills.adapters.mcp.server import ResultFrom
from eval_skills.core.errors import ContractError
from tests.tables import each_row

PNG = "iVBO"
SHA = "449ba17f2a44989a58050282f82fec8663b84f57a6a443d3750033a0c02f8be9"
NUMBER = {"type": "text", "text": "1.0"}
OBJECT = {"type": "text", "text": '{"city": "Bern"}'}
IMAGE = {"type": "image", "mimeType": "image/png", "data": PNG}
KEPT_IMAGE = {"type": "image", "mimeType": "image/png", "bytes": 3, "sha256": SHA}
CITY = {"city": "Bern"}


def blocks(content: list[dict[str, Any]], structured: Any = None) -> list[dict[str, Any]]:
    given = {"content": content} | ({"structuredContent": structured} if structured is not None else {})
    return content_of(mcp_types.CallToolResult.model_validate(given))


@each_row(
    ("block", "kept"),
    [
        pytest.param({**OBJECT, "annotations": {"priority": 1.0}, "_meta": {"x": 1}}, None, id="text"),
        pytest.param(IMAGE, KEPT_IMAGE, id="image"),
        pytest.param(
            {**IMAGE, "type": "audio", "mimeType": "audio/wav", "data": "???"},
            {"type": "audio", "mimeType": "audio/wav", "bytes": None, "sha256": None},
            id="not-base64",
        ),
        pytest.param({"type": "resource_link", "uri": "memo://1", "name": "memo", "size": 7}, None, id="link"),
        pytest.param(
            {"type": "resource", "resource": {"uri": "memo://1", "text": "held"}},
            {"type": "resource", "uri": "memo://1", "text": "held"},
            id="embedded-text",
        ),
        pytest.param(
            {"type": "resource", "resource": {"uri": "memo://1", "blob": PNG, "mimeType": "image/png"}},
            {"type": "resource", "uri": "memo://1", "mimeType": "image/png", "bytes": 3, "sha256": SHA},
            id="embedded-bytes",
        ),
    ],
)
def test_nothing_of_an_answer_is_lost(block: dict[str, Any], kept: dict[str, Any] | None) -> None:
    assert blocks([NUMBER, block, block], CITY) == [NUMBER, *[kept or block] * 2, {"type": "structured", "value": CITY}]


@each_row(
    ("result_from", "content", "structured", "output"),
    [
        pytest.param(None, [OBJECT], {"n": 1}, {"n": 1}, id="structured-content-first"),
        pytest.param(None, [OBJECT], None, OBJECT["text"], id="text-stays-text"),
        pytest.param(None, [NUMBER, IMAGE, NUMBER], None, "1.0\n1.0", id="texts-are-lines"),
        pytest.param(None, [IMAGE], None, [KEPT_IMAGE], id="blocks-without-text"),
        pytest.param(None, [], None, None, id="nothing"),
        pytest.param(None, [NUMBER], {"result": "1.0"}, "1.0", id="text-that-the-sdk-wrapped"),
        pytest.param(None, [NUMBER], {"result": 1.0}, {"result": 1.0}, id="a-number-is-structured"),
        pytest.param("structured", [NUMBER], {"result": "1.0"}, {"result": "1.0"}, id="structured"),
        pytest.param("text", [OBJECT], {"n": 1}, OBJECT["text"], id="text"),
        pytest.param("json", [OBJECT], {"n": 1}, CITY, id="json"),
        pytest.param("content", [IMAGE], {"n": 1}, [KEPT_IMAGE, {"type": "structured", "value": {"n": 1}}], id="content"),
    ],
)
def test_the_output_is_what_result_from_names(
    result_from: ResultFrom | None, content: list[dict[str, Any]], structured: Any, output: Any
) -> None:
    assert OutputChoice(result_from).output(blocks(content, structured)) == output


@each_row(
    ("kind", "output"),
    [
        pytest.param("object", CITY, id="object"),
        pytest.param(["array", "object"], CITY, id="several"),
        pytest.param("string", OBJECT["text"], id="text"),
        pytest.param(["object", "string"], OBJECT["text"], id="may-be-text"),
    ],
)
def test_a_text_is_read_as_json_where_the_output_schema_says_so(kind: Any, output: Any) -> None:
    choice = OutputChoice.of(None, {"type": kind}, 1000)
    assert choice.output(blocks([OBJECT])) == output
    assert choice.output(blocks([{"type": "text", "text": "no JSON"}])) == "no JSON"
    assert OutputChoice.of(None, {}, 1000).output(blocks([OBJECT])) == OBJECT["text"]


@each_row(
    ("result_from", "content", "message"),
    [
        pytest.param("structured", [NUMBER, IMAGE], "has no structured content, only text, image; ", id="structured"),
        pytest.param("text", [IMAGE], "resultFrom is text and the answer has no text, only image", id="no-text"),
        pytest.param("json", [], "resultFrom is json and the answer has no text, only nothing", id="nothing"),
        pytest.param("json", [{"type": "text", "text": "{"}], "json and the text is not JSON: .*it was: \\{", id="no-json"),
    ],
)
def test_an_answer_without_what_is_named_is_a_contract_error(
    result_from: ResultFrom, content: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(ContractError, match=message):
        OutputChoice(result_from).output(blocks(content))
