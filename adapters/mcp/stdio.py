"""An MCP server that is a program: JSON-RPC messages, one a line, on its standard input and output."""

from __future__ import annotations

import asyncio
import codecs
import json
import re
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from eval_skills.adapters.answer.envelope import parse_json
from eval_skills.adapters.call import shield_cleanup
from eval_skills.adapters.mcp.results import exception_in
from eval_skills.adapters.mcp.schemas import readable_listing
from eval_skills.adapters.mcp.transport import Transport, message_limit
from eval_skills.adapters.process import guard
from eval_skills.adapters.process.child import Child, Receipt
from eval_skills.adapters.process.jsonrpc import whole_number
from eval_skills.adapters.process.launch import Launch, spawn
from eval_skills.adapters.process.streams import LineSplitter, LongLine, last_lines
from eval_skills.adapters.sandbox.limits import too_long
from eval_skills.core.errors import ContractError, ItemError
from eval_skills.core.text import one_line

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

EXIT_WAIT_S = 1.0
"""How long a server may take to end by itself when its standard input closes."""

_SETTLE_S = 0.3
_QUEUED = 100
"""So many messages may wait for the session; then the server has to wait."""

_FIRST_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,')
_LAST_ID = re.compile(rb',\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')
_ANSWERS = re.compile(rb'"(?:result|error)"\s*:')
_EDGE_BYTES = 200
"""Where a message has its method, if it is not an answer."""


class StdioTransport(Transport):
    """A server process under the guard, so that it ends with us; the whole tree of what it started is ended with it.

    Not the SDK's own transport: that one adds variables of ours to the child's environment, has no limit for a line, waits
    for seconds before it kills, and leaves the server behind when we are killed.
    """

    def __init__(self, launch: Launch, max_output_bytes: int) -> None:
        super().__init__()
        self._launch = replace(launch, argv=guard.guarded(launch.argv, shared_input=True))
        self._max_output_bytes = max_output_bytes
        self._lines = LineSplitter(message_limit(max_output_bytes))
        self._queue: deque[bytes | LongLine] = deque()
        self._arrived = asyncio.Event()
        self._child: Child | None = None
        self._last_stray_line = ""
        self._over = self._died = False
        self._last_stderr = ""
        self._receipt: Receipt | None = None
        self._waiting: dict[mcp_types.RequestId, str] = {}
        self._answered_calls = 0
        self._left_call = False

    @property
    def lost(self) -> bool:
        return self._over

    @property
    def died(self) -> bool:
        return self._died

    @property
    def left_call(self) -> bool:
        return self._left_call

    @property
    def was_not_found(self) -> bool:
        return self._child is not None and self._child.exited.done() and self._child.was_not_found

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[TransportStreams]:
        """Start the server; leaving ends it."""
        child = self._child = await spawn(self._launch, self._on_stdout)
        child.ended.add_done_callback(lambda _: self._arrived.set())
        self._receipt = Receipt(child.standard_input)
        to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        async with incoming, outgoing, anyio.create_task_group() as pumps:
            pumps.start_soon(self._read, child, to_session)
            pumps.start_soon(self._write, child, from_session)
            try:
                yield incoming, outgoing
            finally:
                with anyio.CancelScope(shield=True):
                    await shield_cleanup(self._end(child))
                pumps.cancel_scope.cancel()

    async def describe_end(self, when: str) -> str:
        if self._child is None:
            return "the server was not started"
        await asyncio.wait([self._child.ended], timeout=_SETTLE_S)
        self._last_stderr = self._last_stderr or last_lines(self.stderr())
        said = self._launch.hidden_cause(f"; stderr: {self._last_stderr}") if self._last_stderr else ""
        if not self._child.exited.done():
            return f"the server closed its connection {when}{said}"
        return f"the server ended {when} ({self._child.how_it_ended()}){said}"

    def take_logs(self) -> str:
        stderr = self._child.stderr.take() if self._child is not None else ""
        if exception := exception_in(stderr):
            self.taken = (exception, time.perf_counter())
        return "\n".join(text.rstrip("\n") for text in (super().take_logs(), stderr) if text.strip())

    def seen(self) -> str:
        return f"the last line on stdout is not an MCP message: {self._last_stray_line}" if self._last_stray_line else ""

    def stderr(self) -> str:
        return self._child.stderr.text() if self._child is not None else ""

    async def _end(self, child: Child) -> None:
        self._over = True
        if self._receipt is not None:
            self._receipt.close()  # it would keep the input open
        child.listen()  # a server that cannot write its remaining output does not end
        child.close_stdin()
        await asyncio.wait([child.ended], timeout=EXIT_WAIT_S)
        await child.stop()

    def _on_stdout(self, data: bytes) -> None:
        if self._over:
            return
        self._queue.extend(self._lines.feed_skipping(data))
        self._arrived.set()
        if len(self._queue) > _QUEUED and self._child is not None:
            self._child.mute()

    async def _read(self, child: Child, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with to_session:
            while not self._over:
                await self._arrived.wait()
                self._arrived.clear()
                await self._deliver(to_session)
                child.listen()
                if child.ended.done() and not self._queue and not self._over:
                    self._over = self._died = True
                    self._left_call = self._is_call_unread()

    def _is_call_unread(self) -> bool:
        """Of several requests that wait nobody knows which one was read; a server that answered no call may never read one."""
        waiting, was_read = list(self._waiting.values()), self._receipt is None or not self._receipt.is_unread
        return self._answered_calls > 0 and (not waiting or (waiting == ["tools/call"] and not was_read))

    async def _deliver(self, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        while self._queue and not self._over:
            message = self._message(self._queue.popleft())
            if message is None:
                continue
            if isinstance(message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError) and message.id is not None:
                self._answered_calls += self._waiting.pop(message.id, "") == "tools/call"
            try:
                await to_session.send(SessionMessage(message))
            except anyio.BrokenResourceError:
                self._over = True

    async def _write(self, child: Child, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_session:
            async for message in from_session:
                if isinstance(message.message, mcp_types.JSONRPCRequest):
                    self._waiting[message.message.id] = message.message.method
                child.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                if self._receipt is not None:
                    self._receipt.note_written()

    def _message(self, line: bytes | LongLine) -> mcp_types.JSONRPCMessage | None:
        if isinstance(line, LongLine):
            return self._too_long(line)
        line = line.removeprefix(codecs.BOM_UTF8)
        if "tools/list" in self._waiting.values():
            line = readable_listing(line)
        try:
            return mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            return self._unreadable(line)

    def _too_long(self, line: LongLine) -> mcp_types.JSONRPCMessage | None:
        error = too_long("the answer", self._max_output_bytes)
        found = _FIRST_ID.match(line.first) or _LAST_ID.search(line.last)
        if found is None:
            self.broken, self._over = error, True
            return None
        return self._failed(int(found.group(1)), error)

    def _unreadable(self, line: bytes) -> mcp_types.JSONRPCMessage | None:
        """A line that was meant as an answer fails its request; any other is a log."""
        text = line.decode(errors="replace")
        request_id = _answered_id(line)
        if request_id is not None:
            message = f"an answer that is not a JSON-RPC message{_why_unread(line)}: {one_line(text)}"
            return self._failed(request_id, ContractError(message))
        if text.strip():
            self._last_stray_line = one_line(text)
            self.said.add(line + b"\n")
        return None

    def _failed(self, request_id: int, error: ItemError) -> mcp_types.JSONRPCMessage:
        data = mcp_types.ErrorData(code=mcp_types.PARSE_ERROR, message=str(error), data=self.keep(error))
        return mcp_types.JSONRPCError(jsonrpc="2.0", id=request_id, error=data)


def _answered_id(line: bytes) -> int | None:
    """The id of the request that a line was meant to answer; of one that no parser reads, its first and last keys decide."""
    try:
        message: Any = json.loads(line.decode(errors="replace"), parse_int=whole_number)
    except (ValueError, RecursionError):
        found = _FIRST_ID.match(line) or _LAST_ID.search(line)
        is_answer = _ANSWERS.search(line) is not None and b'"method"' not in line[:_EDGE_BYTES]
        return int(found.group(1)) if found is not None and is_answer else None
    if not isinstance(message, dict) or not {"result", "error"} & message.keys():
        return None
    request_id = message.get("id")
    return request_id if isinstance(request_id, int) and not isinstance(request_id, bool) else None


def _why_unread(line: bytes) -> str:
    try:
        parse_json(line)
    except ValueError as problem:
        return f" ({problem})"
    return ""
