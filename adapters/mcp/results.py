"""What an MCP tool answered, as a skill's answer; and what its errors mean for an item."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types

from eval_skills.adapters.answer.envelope import parse_json, partial_response, write_json
from eval_skills.adapters.sandbox.limits import too_long
from eval_skills.core.errors import ContractError, ItemError, SkillError, SkillUnavailable
from eval_skills.core.models import SkillResponse
from eval_skills.core.text import one_line

if TYPE_CHECKING:
    from mcp import MCPError
    from pydantic import ValidationError

    from eval_skills.adapters.mcp.server import ResultFrom

_EXCEPTION = re.compile(r"^\s*((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit): .*?)\s*$", re.MULTILINE)

CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError)
"""What the streams raise under a call when the session ends."""

CONNECTION_CLOSED = -32000
"""What the SDK says of a connection that ended, beside servers that use the number for something of their own."""


STRUCTURED = "structured"
"""The type of the block that holds the structured content, as `value`."""


@dataclass(frozen=True, slots=True)
class OutputChoice:
    """Which part of an answer is the output: what `result_from` names, or by default the first that is there of the structured
    content, the texts (joined by line feeds), and the list of all blocks.

    `is_json`: the skill's output schema describes something other than text, so a text that is JSON stands for its value.
    """

    result_from: ResultFrom | None = None
    is_json: bool = False
    max_bytes: int = sys.maxsize

    @classmethod
    def of(cls, result_from: ResultFrom | None, output_schema: dict[str, Any], max_bytes: int) -> OutputChoice:
        """The choice of a skill with this output schema, whose answers have at most `max_bytes` as JSON."""
        kinds = output_schema.get("type", "string")
        return cls(result_from, "string" not in (kinds if isinstance(kinds, list) else [kinds]), max_bytes)

    def output(self, content: list[dict[str, Any]], twice: Callable[[str], None] | None = None) -> Any:
        """The output among the blocks of `content`; `twice` is called with each key that an object in a text gives twice.

        Raises:
            ContractError: the answer does not have what `result_from` names, or it is longer than `max_bytes`.
        """
        output = self._named(content, twice) if self.result_from is not None else self._first(content, twice)
        if len(write_json(output)) > self.max_bytes:
            raise too_long("the answer", self.max_bytes)
        return output

    def _named(self, content: list[dict[str, Any]], twice: Callable[[str], None] | None) -> Any:
        if self.result_from == "content":
            return content
        wanted = STRUCTURED if self.result_from == STRUCTURED else "text"
        if not any(block["type"] == wanted for block in content):
            kinds = ", ".join(dict.fromkeys(block["type"] for block in content)) or "nothing"
            what = "structured content" if wanted == STRUCTURED else "text"
            message = (
                f"resultFrom is {self.result_from} and the answer has no {what}, only {kinds}; leave resultFrom out, or name"
            )
            raise ContractError(f"{message} another part")
        if wanted == STRUCTURED:
            return _structured(content)
        text = _text(content)
        return _json(text, twice) if self.result_from == "json" else text

    def _first(self, content: list[dict[str, Any]], twice: Callable[[str], None] | None) -> Any:
        texts = [block["text"] for block in content if block["type"] == "text"]
        structured = _structured(content)
        if structured is not None and (self.is_json or structured != {"result": "\n".join(texts)} or not texts):
            return structured
        if not texts:
            return content or None
        try:
            return parse_json(_text(content).encode(), twice) if self.is_json else _text(content)
        except ValueError:
            return _text(content)


def content_of(result: mcp_types.CallToolResult) -> list[dict[str, Any]]:
    """All blocks of an answer, its structured content as the last one.

    Of what is binary (images, audio, resources) the size and the SHA-256 stand for the bytes, None for those that are not base64.

    Raises:
        ContractError: they are not JSON that can be kept (too deep, NaN).
    """
    blocks = [_described(part) for part in result.content]
    if result.structured_content is not None:
        blocks.append({"type": STRUCTURED, "value": result.structured_content})
    try:
        kept: list[dict[str, Any]] = parse_json(write_json(blocks))
    except ValueError as problem:
        raise ContractError(f"unreadable answer: {problem}") from None
    return kept


def error_text(result: mcp_types.CallToolResult) -> str:
    """What an answer that is an error says, on one line."""
    texts = [part.text for part in result.content if isinstance(part, mcp_types.TextContent)]
    said = "\n".join(texts) or (str(result.structured_content) if result.structured_content is not None else "")
    return one_line(said) or "no text"


def partial_response_of(
    result: mcp_types.CallToolResult, max_bytes: int, asked: list[dict[str, Any]], twice: Callable[[str], None]
) -> SkillResponse | None:
    """What an error result reports of the run, with its blocks and what was `asked`; None if it could not be kept.

    `twice` as in `OutputChoice.output`.
    """
    try:
        content = content_of(result)
        reported = OutputChoice(is_json=True, max_bytes=max_bytes).output(content, twice)
    except ContractError:
        return None
    return (partial_response(reported) or SkillResponse()).model_copy(update={"content": [*content, *asked]})


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


def first_problem(error: ValidationError) -> str:
    """The first part of a message that is not as the protocol has it, as a phrase."""
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def is_closed(error: MCPError) -> bool:
    """Whether the SDK says that the connection is gone."""
    return error.code == CONNECTION_CLOSED and error.message == "Connection closed"


def _structured(content: list[dict[str, Any]]) -> Any:
    return next((block["value"] for block in content if block["type"] == STRUCTURED), None)


def _text(content: list[dict[str, Any]]) -> str:
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def _json(text: str, twice: Callable[[str], None] | None) -> Any:
    try:
        return parse_json(text.encode(), twice)
    except ValueError as problem:
        raise ContractError(f"resultFrom is json and the text is {problem}; it was: {one_line(text) or 'empty'}") from None


def _described(part: mcp_types.ContentBlock) -> dict[str, Any]:
    block = part.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(part, mcp_types.EmbeddedResource):
        block |= block.pop("resource")
    binary = next((block.pop(key) for key in ("data", "blob") if key in block), None)
    return block if binary is None else {**block, **fingerprint(binary)}


def fingerprint(data: str) -> dict[str, Any]:
    """The size and the SHA-256 of what `data` is in base64; None where it is not."""
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return {"bytes": None, "sha256": None}
    return {"bytes": len(decoded), "sha256": hashlib.sha256(decoded).hexdigest()}
