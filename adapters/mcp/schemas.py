"""The tools that a server lists: which of them follow the protocol, their output schemas, and whether answers keep to these."""

from __future__ import annotations

import asyncio
import json
import math
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp_types import methods
from pydantic import ValidationError

from eval_skills.adapters.answer.envelope import parse_json, write_json
from eval_skills.adapters.mcp.interceptors import MessageInterceptor
from eval_skills.core.documents.json_schema import BoundedSchema
from eval_skills.core.errors import ContractError, InputError

if TYPE_CHECKING:
    from eval_skills.core.models import Reason

MAX_SCHEMA_BYTES = 200_000
"""How long a tool's output schema may be: preparing one takes time that grows with it, and only its server knows why."""

LIMIT_S = 2.0
"""How long one answer may be checked."""

_QUICK_S = 0.005
"""How long a check may hold up the event loop before it is begun anew in a thread."""

_LONG_BYTES = 4_096
"""A schema or an answer beyond this is checked off the event loop from the start."""

_UNREADABLE = "eval-skills/unreadable"
"""What is wrong with a tool that `readable_listing` put a mark in the place of."""

_MAX_DIGITS = 4_300
"""Python reads no longer whole number, and the SDK none of a message that has one."""


def readable_listing(answer: bytes) -> bytes:
    """`answer`, which lists tools, as the SDK can read it: a mark stands for each tool that no parser of strict JSON takes.

    The SDK refuses a whole message for half of a surrogate pair, a byte that is not UTF-8, a number that is too long or levels
    that are too many, wherever in it they are; what it takes although it is not JSON (NaN, infinities) breaks what keeps it. An
    answer that is not a list of tools, or that Python cannot read, either, is left as it is.
    """
    try:
        parse_json(answer)
        return answer
    except ValueError:
        pass
    try:
        message = json.loads(answer.decode("utf-8-sig", "surrogateescape"), parse_int=_whole_number)
        message["result"]["tools"] = [_marked(tool) for tool in message["result"]["tools"]]
        return json.dumps(message).encode()
    except (ValueError, RecursionError, TypeError, KeyError):
        return answer


def _whole_number(digits: str) -> float:
    return int(digits) if len(digits) <= _MAX_DIGITS else math.inf


def _marked(tool: Any) -> Any:
    if (problem := _not_strict(tool)) is None:
        return tool
    name = tool.get("name") if isinstance(tool, dict) else None
    return {_UNREADABLE: problem} if name is None or _not_strict(name) else {"name": name, _UNREADABLE: problem}


def _not_strict(part: Any) -> str | None:
    try:
        written = json.dumps(part, ensure_ascii=False, allow_nan=False).encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return "half of a surrogate pair in a text"
    except ValueError:
        return "NaN, an infinity or a number that is too large"
    try:
        parse_json(written)
    except ValueError as problem:
        return str(problem)
    return None


class OutputSchemas(MessageInterceptor):
    """Takes the output schemas out of the listings that pass, and checks answers by them.

    The SDK, which then knows of none, would check on the event loop without any limit: a pattern that backtracks or references
    that double, which the server is free to declare, would hold up the whole run for ever. ``format`` counts as a remark.

    `ambiguous` names the tools that the last list has more than once, in different ways: nobody knows which one is called.
    `malformed` says by name what is wrong with those that are not as `protocol` has it: they are left out, for the SDK would
    refuse the whole list.
    """

    def __init__(self) -> None:
        self._declared: dict[str, dict[str, Any]] = {}
        self._listings: set[str | int] = set()
        self._ready: dict[str, _Schema] = {}
        self._preparing = asyncio.Lock()
        self._listed: dict[str, Any] = {}
        self.ambiguous: set[str] = set()
        self.malformed: dict[str, str] = {}
        self.protocol = ""

    def on_sent(self, message: mcp_types.JSONRPCMessage) -> None:
        """Remember a request for a listing."""
        if isinstance(message, mcp_types.JSONRPCRequest) and message.method == "tools/list":
            self._listings.add(message.id)
            if (message.params or {}).get("cursor") is None:  # the first page of a new list
                self._listed, self.ambiguous, self.malformed = {}, set(), {}

    def on_received(self, message: mcp_types.JSONRPCMessage) -> None:
        """Take the schemas out of a listing, and then the tools that are not as the protocol has it."""
        if not isinstance(message, mcp_types.JSONRPCResponse) or message.id not in self._listings:
            return
        self._listings.discard(message.id)
        tools = message.result.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                if self._listed.setdefault(tool["name"], known := dict(tool)) != known:
                    self.ambiguous.add(tool["name"])
                self._declare(tool["name"], tool.pop("outputSchema") if isinstance(tool.get("outputSchema"), dict) else None)
        if isinstance(tools, list) and (wrong := _malformed(message.result, self.protocol)):
            for number, problem in wrong.items():
                self.malformed[_name(tools[number], number)] = problem
            message.result["tools"] = [tool for number, tool in enumerate(tools) if number not in wrong]

    def _declare(self, tool: str, schema: dict[str, Any] | None) -> None:
        if schema != self._declared.get(tool):
            self._ready.pop(tool, None)
        if schema is None:
            self._declared.pop(tool, None)
        else:
            self._declared[tool] = schema

    def of(self, tool: str) -> dict[str, Any] | None:
        """The output schema that was last declared for a tool; None where there is none."""
        return self._declared.get(tool)

    async def check(self, tool: str, result: mcp_types.CallToolResult) -> None:
        """Check an answer that is not an error against the schema of its tool.

        Raises:
            ContractError: it has no structured content or other content than declared, or the check takes longer than `LIMIT_S`.
        """
        declared = self.of(tool)
        if declared is None:
            return
        if result.structured_content is None and "structured_content" not in result.model_fields_set:
            raise ContractError(f"{tool} declares an output schema and did not return structured content")
        schema = await self._prepared(tool, declared)
        if (reason := await schema.judge(result.structured_content)) is not None:
            raise ContractError(f"the structured content does not match the output schema of {tool}: {reason.message}")

    async def _prepared(self, tool: str, declared: dict[str, Any]) -> _Schema:
        async with self._preparing:
            if (known := self._ready.get(tool)) is None:
                known = await asyncio.to_thread(_Schema.of, tool, declared)
                if self.of(tool) is declared:
                    self._ready[tool] = known
            return known


def _name(tool: Any, number: int) -> str:
    named = tool.get("name") if isinstance(tool, dict) else None
    return named if isinstance(named, str) else f"tools[{number}]"


def _malformed(result: dict[str, Any], protocol: str) -> dict[int, str]:
    """What is wrong with tools of a page, by position: as JSON, by the version, and by the type that the SDK makes of them."""
    marks = ((number, tool.get(_UNREADABLE)) for number, tool in enumerate(result["tools"]) if isinstance(tool, dict))
    found = {number: problem for number, problem in marks if isinstance(problem, str)}
    for check in (_by_the_version, _by_the_type):
        try:
            check(result, protocol)
        except ValidationError as error:
            for each in error.errors(include_url=False):
                place = each["loc"][each["loc"].index("tools") + 1 :] if "tools" in each["loc"] else ()
                if place and isinstance(place[0], int):
                    found.setdefault(place[0], ": ".join(filter(None, (".".join(map(str, place[1:])), each["msg"]))))
    return found


def _by_the_version(result: dict[str, Any], protocol: str) -> None:
    if ("tools/list", protocol) in methods.SERVER_RESULTS:
        methods.validate_server_result("tools/list", protocol, result)


def _by_the_type(result: dict[str, Any], _: str) -> None:
    mcp_types.ListToolsResult.model_validate(result, by_name=False)


class _Schema:
    """A schema made ready, or what is wrong with it."""

    def __init__(self, tool: str, *, bounded: BoundedSchema | None = None, problem: str = "", is_long: bool = False) -> None:
        self._tool, self._bounded, self._problem, self._is_long = tool, bounded, problem, is_long

    @classmethod
    def of(cls, tool: str, declared: dict[str, Any]) -> _Schema:
        try:
            size = len(write_json(declared))
            if size > MAX_SCHEMA_BYTES:
                return cls(tool, problem=f"it has more than {MAX_SCHEMA_BYTES:,} bytes")
            return cls(tool, bounded=BoundedSchema(declared, formats=False), is_long=size > _LONG_BYTES)
        except InputError as error:
            return cls(tool, problem=f"{error.path}: {error.message}" if error.path else error.message)
        except ValueError as error:
            return cls(tool, problem=str(error))

    async def judge(self, content: Any) -> Reason | None:
        if self._bounded is None:
            raise ContractError(f"the output schema of {self._tool} cannot be used: {self._problem}")
        if not self._is_long and len(write_json(content)) <= _LONG_BYTES:
            try:
                return self._bounded.reason(content, _QUICK_S)
            except TimeoutError:
                pass  # begun anew below, in a thread, where it does not block the event loop
        try:
            return await asyncio.to_thread(self._bounded.reason, content, LIMIT_S)
        except TimeoutError:
            message = f"whether the structured content matches the output schema of {self._tool} could not be checked within"
            raise ContractError(f"{message} {LIMIT_S:g} s; the schema has patterns or references that take too long") from None
