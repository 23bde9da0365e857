"""Output schemas never reach the SDK, and answers are held to them all the same."""

from __future__ import annotations

import copy
import json
from typing import Any

import mcp_types
import pytest

from eval_skills.adapters.mcp.schemas import MAX_SCHEMA_BYTES, OutputSchemas, readable_listing
from eval_skills.core.errors import ContractError
from tests.tables import each_row

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def listing(schemas: OutputSchemas, tools: Any, request_id: int = 1, method: str = "tools/list") -> Any:
    """What is left of a listing that passes."""
    schemas.on_sent(mcp_types.JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method))
    response = mcp_types.JSONRPCResponse(jsonrpc="2.0", id=request_id, result={"tools": tools})
    schemas.on_received(response)
    return response.result["tools"]


async def checked(schemas: OutputSchemas, content: Any, tool: str = "t") -> str:
    """Why an answer is refused; nothing where it is not."""
    try:
        await schemas.check(tool, mcp_types.CallToolResult(content=[], structured_content=content))
    except ContractError as error:
        return str(error)
    return ""


TOOL = {"name": "t", "inputSchema": {"type": "object"}}


@each_row(
    ("tools", "left", "malformed"),
    [
        pytest.param([{**TOOL, "outputSchema": NUMBER}], [TOOL], [], id="taken"),
        pytest.param([{**TOOL, "name": "u", "outputSchema": 7}, TOOL], [TOOL], ["u"], id="no-schema"),
        pytest.param([7, TOOL, {"outputSchema": NUMBER}], [TOOL], ["tools[0]", "tools[2]"], id="no-tool"),
        pytest.param("none", "none", [], id="no-list-is-left-to-the-sdk"),
    ],
)
def test_schemas_and_malformed_tools_are_taken_out_of_listings(tools: Any, left: Any, malformed: list[str]) -> None:
    schemas = OutputSchemas()
    assert listing(schemas, copy.deepcopy(tools)) == left
    assert list(schemas.malformed) == malformed
    assert schemas.of("t") == (NUMBER if tools[0] == {**TOOL, "outputSchema": NUMBER} else None)


def test_other_answers_pass_as_they_are() -> None:
    schemas, tools = OutputSchemas(), [{"name": "t", "outputSchema": NUMBER}]
    assert listing(schemas, copy.deepcopy(tools), method="tools/call") == tools
    assert schemas.of("t") is None


@each_row(
    ("inside", "problem"),
    [
        (b'{"maximum": Infinity}', "NaN, an infinity or a number that is too large"),
        (b'{"maximum": 1e999}', "NaN, an infinity or a number that is too large"),
        (b'{"maximum": 1' + b"0" * 5_000 + b"}", "NaN, an infinity or a number that is too large"),
        (b'{"title": "\\ud800"}', "half of a surrogate pair in a text"),
        (b'{"title": "\xff"}', "not UTF-8 (byte "),
        (b"[" * 250 + b"]" * 250, "nested deeper than 200 levels"),
    ],
)
def test_a_tool_that_is_not_strict_json_is_named_and_costs_no_other_one(inside: bytes, problem: str) -> None:
    schemas = OutputSchemas()
    answer = (
        b'{"result": {"tools": [{"name": "bad", "inputSchema": '
        + inside
        + b'}, {"name": "t", "inputSchema": {"type": "object"}}]}}'
    )
    readable = json.loads(readable_listing(answer))
    assert listing(schemas, readable["result"]["tools"]) == [TOOL]
    assert schemas.malformed["bad"].startswith(problem)


@each_row("answer", [b'{"result": {"tools": []}}', b'{"result": NaN}', b"{", b"[" * 100_000, b'{"result": {"tools": NaN}}'])
def test_what_is_no_list_of_tools_or_strict_json_stays_as_it_is(answer: bytes) -> None:
    assert readable_listing(answer) is answer


async def test_the_schema_that_was_listed_last_counts() -> None:
    schemas = OutputSchemas()
    assert await checked(schemas, {"n": "x"}) == ""
    listing(schemas, [{"name": "t", "outputSchema": dict(NUMBER)}])
    assert await checked(schemas, {"n": 1}) == ""
    assert 'at $.n: expected type "integer", got "x"' in await checked(schemas, {"n": "x"})
    assert 'expected required ["n"]' in await checked(schemas, {})
    listing(schemas, [{"name": "t", "outputSchema": {"type": "object"}}], 2)
    assert await checked(schemas, {"n": "x"}) == ""
    listing(schemas, [{"name": "t"}], 3)
    assert schemas.of("t") is None


@each_row(
    ("schema", "message"),
    [
        pytest.param({"description": "x" * MAX_SCHEMA_BYTES}, "it has more than 200,000 bytes", id="too-long"),
        pytest.param({"type": "strin"}, "not a valid schema", id="invalid"),
        pytest.param({"$ref": "file:///etc/passwd"}, "nothing is fetched", id="leads-elsewhere"),
        pytest.param({"pattern": "("}, "schema", id="no-pattern"),
    ],
)
async def test_a_schema_that_cannot_be_used_is_the_tools_fault(schema: dict[str, Any], message: str) -> None:
    schemas = OutputSchemas()
    listing(schemas, [{"name": "t", "outputSchema": schema}])
    for _ in range(2):
        refusal = await checked(schemas, {})
        assert refusal.startswith("the output schema of t cannot be used: ")
        assert message in refusal


async def test_long_answers_and_long_schemas_are_checked_too() -> None:
    schemas = OutputSchemas()
    listing(schemas, [{"name": "t", "outputSchema": {**NUMBER, "description": "x" * 10_000}}])
    assert "integer" in await checked(schemas, {"n": "x"})
    listing(schemas, [{"name": "t", "outputSchema": NUMBER}], 2)
    assert "integer" in await checked(schemas, {"n": "x", "more": "y" * 10_000})
    assert await checked(schemas, {"n": 1, "more": "y" * 10_000}) == ""


async def test_declared_and_missing_is_told_from_declared_and_null() -> None:
    schemas = OutputSchemas()
    listing(schemas, [{"name": "t", "outputSchema": {}}])
    with pytest.raises(ContractError, match="did not return structured content"):
        await schemas.check("t", mcp_types.CallToolResult(content=[]))
    assert await checked(schemas, None) == ""


async def test_what_does_not_match_is_told_with_the_tool_and_the_place() -> None:
    schemas = OutputSchemas()
    listing(schemas, [{"name": "t", "outputSchema": {"properties": {"n": {"type": "integer"}}}}])
    refusal = await checked(schemas, {"n": "x"})
    assert refusal.startswith("the structured content does not match the output schema of t: at $.n: expected type")
