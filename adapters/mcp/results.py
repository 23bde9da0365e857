"""What an MCP tool answered, as a skill's answer; and what its errors mean for an item."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

import mcp_types

from eval_skills.adapters.answer.envelope import parse_json, partial_response, write_json
from eval_skills.adapters.sandbox.limits import too_long
from eval_skills.core.errors import ContractError, ItemError, SkillError, SkillUnavailable
from eval_skills.core.text import one_line

if TYPE_CHECKING:
    from mcp import MCPError

    from eval_skills.core.models import SkillResponse

_EXCEPTION = re.compile(r"^\s*((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit): .*?)\s*$", re.MULTILINE)

CONNECTION_CLOSED = -32000
"""What the SDK says of a connection that ended, beside servers that use the number for something of their own."""


def output_of(result: mcp_types.CallToolResult, max_bytes: int) -> Any:
    """The structured content where there is some, else the text parts joined by line feeds, parsed where they are JSON.

    An answer without text is the list of its parts: type, media type and size of what is binary, the text of a resource.
    One without parts is None.

    Raises:
        ContractError: the answer is longer than `max_bytes` as JSON, or no JSON that can be kept.
    """
    value = _value_of(result)
    try:
        text = write_json(value)
        if len(text) > max_bytes:
            raise too_long("the answer", max_bytes)
        return parse_json(text)
    except ValueError as problem:
        raise ContractError(f"unreadable answer: {problem}") from None


def error_text(result: mcp_types.CallToolResult) -> str:
    """What an answer that is an error says, on one line."""
    texts = [part.text for part in result.content if isinstance(part, mcp_types.TextContent)]
    said = "\n".join(texts) or (str(result.structured_content) if result.structured_content is not None else "")
    return one_line(said) or "no text"


def partial_response_of(result: mcp_types.CallToolResult, max_bytes: int) -> SkillResponse | None:
    """What an error result reports of the run; None if it could not be kept."""
    try:
        return partial_response(output_of(result, max_bytes))
    except ContractError:
        return None


def exception_in(stderr: str) -> str:
    """The last exception that a server logged, as a phrase, or nothing; not the one that only says that a tool failed."""
    found = [line for line in _EXCEPTION.findall(stderr) if "Error executing" not in line]
    return f"stderr: {one_line(found[-1])}" if found else ""


def reply_error(error: MCPError, max_bytes: int) -> ItemError:
    """What a JSON-RPC error that came instead of a result is for an item; a lost connection is not among them."""
    said = f"error {error.code}: {one_line(error.message)}"
    if error.code == CONNECTION_CLOSED and error.message.startswith("SSE stream"):
        return too_long("the answer", max_bytes) if "byte limit" in error.message else SkillUnavailable(said)
    if error.code == mcp_types.PARSE_ERROR or error.message.startswith(("Unexpected content type", "server answered a request")):
        return ContractError(said)
    if error.data:
        said = f"{said} ({one_line(str(error.data))})"
    return SkillError(said, known=partial_response(error.data))


def is_closed(error: MCPError) -> bool:
    """Whether the SDK says that the connection is gone."""
    return error.code == CONNECTION_CLOSED and error.message == "Connection closed"


def _value_of(result: mcp_types.CallToolResult) -> Any:
    if result.structured_content is not None:
        return result.structured_content
    texts = [part.text for part in result.content if isinstance(part, mcp_types.TextContent)]
    if not texts:
        return [_described(part) for part in result.content] or None
    text = "\n".join(texts)
    try:
        return parse_json(text.encode())
    except ValueError:
        return text


def _described(part: mcp_types.ContentBlock) -> dict[str, Any]:
    if isinstance(part, mcp_types.EmbeddedResource):
        held = part.resource
        about: dict[str, Any] = {"type": part.type, "uri": str(held.uri), "mimeType": held.mime_type}
        if isinstance(held, mcp_types.TextResourceContents):
            return {**about, "text": held.text}
        return {**about, "bytes": _size(held.blob)}
    if isinstance(part, mcp_types.ImageContent | mcp_types.AudioContent):
        return {"type": part.type, "mimeType": part.mime_type, "bytes": _size(part.data)}
    return part.model_dump(mode="json", by_alias=True, exclude_none=True)


def _size(data: str) -> int | None:
    try:
        return len(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return None
