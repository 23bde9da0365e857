"""One connection to an MCP server: entered and left by one task, called from any."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from mcp import Client, MCPError
from mcp_types import PARSE_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from eval_skills.adapters.mcp.interceptors import Handshake, ServerRequests, ToolChanges, intercepted
from eval_skills.adapters.mcp.results import CLOSED, first_problem
from eval_skills.adapters.mcp.schemas import OutputSchemas
from eval_skills.adapters.mcp.scripted import ScriptedClient
from eval_skills.adapters.mcp.server import McpServer
from eval_skills.adapters.process.streams import last_lines
from eval_skills.core.errors import ContractError, InfraError, ItemError, SkillCrashed, SkillNotStarted, SkillUnavailable
from eval_skills.core.text import one_line

if TYPE_CHECKING:
    from mcp_types import LoggingMessageNotificationParams, Tool, ToolAnnotations

    from eval_skills.adapters.mcp.transport import Transport

MAX_PAGES = 100
"""A list of tools with more pages is refused: it may never end."""

_FOREIGN_VERSION = "Unsupported protocol version from the server: "
"""How the SDK begins what it says of a version that it does not know."""

_CLOSE_S = 3.0
"""How long closing may take before it is cut short."""

for _name in ("mcp", "client"):  # the SDK's loggers: what they say is said in our errors and in an item's logs
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False


class McpSession:
    """A session that begins when it is made. `ready` waits for the client that takes calls; `tools` lists the offers then,
    `ambiguous` names those that the list describes in several ways, `malformed` says what is wrong with those that are not as the
    protocol has it, and `client` answers what the server asks.

    The SDK binds a connection to the task that entered it, and cancels that task when the connection breaks: so a task of
    the session's own enters, waits and leaves, and the calls' own tasks only see errors.
    """

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())
        self.transport: Transport = server.transport()
        self.client = ScriptedClient(server.client, server.folder, server.max_output_bytes)
        self.server_requests, self.schemas = ServerRequests(self.client.methods), OutputSchemas()
        self._handshake, self._changes = Handshake(), ToolChanges()
        self._listing = asyncio.Lock()
        self.tools: dict[str, Tool] = {}
        self.ambiguous: frozenset[str] = frozenset()
        self.malformed: dict[str, str] = {}
        self.origin: dict[str, Any] = {}
        self.retired = False
        self._owner = asyncio.create_task(self._own())

    async def ready(self) -> Client:
        """The client to call.

        Raises:
            SkillUnavailable: the server refused or dropped the connection.
            SkillCrashed: the server, a program, ended.
            InfraError: it could not be started or reached, or was not ready in time.
            ContractError: it does not speak the protocol.
        """
        try:
            return await asyncio.shield(self._ready)
        except ItemError as error:  # each caller gets an error of its own, to note its latency in
            raise type(error)(str(error), retry_after_s=error.retry_after_s, logs=error.logs) from None

    @property
    def is_program(self) -> bool:
        """Whether the server is a program that was started for it."""
        return self._server.launch is not None

    @property
    def lost(self) -> bool:
        """Whether it can no longer be called."""
        return self.retired or self._owner.done() or self.transport.lost

    async def look_for(self, tool: str) -> None:
        """List the tools again if the server said that they changed, or if `tool` is not among them: many a server adds its
        tools one by one after its start. Where that fails, the list stays as it was, and the call shows what is wrong.
        """
        client = await self.ready()
        async with self._listing:
            if tool in self.tools and not self._changes.reported:
                return
            self._changes.reported = False
            with suppress(MCPError, ItemError, ValidationError, TimeoutError, RuntimeError, *CLOSED):
                async with asyncio.timeout(self._server.connect_timeout_s):
                    self.tools = await self._all_tools(client)

    async def answers(self, within_s: float) -> bool:
        """Whether the server answers anything at all."""
        try:
            async with asyncio.timeout(within_s):
                await (await self.ready()).list_tools()
        except (MCPError, ItemError, ValidationError):
            return not self.lost
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """End the session, and the server if it is a program of ours."""
        self.retired = True
        self._stop.set()
        await asyncio.wait([self._owner], timeout=_CLOSE_S)
        if not self._ready.done() or not self._owner.done():
            self._owner.cancel()
            await asyncio.wait([self._owner])

    async def _own(self) -> None:
        problem: ItemError = InfraError("the session was closed")
        for mode in self._modes():
            problem = await self._hold(mode)
            if self._ready.done() or self.retired or not self.transport.died:
                break
        if not self._ready.done() and not self.retired and self._handshake.step_back():
            problem = await self._hold("legacy")
        if not self._ready.done():
            self._ready.set_exception(problem)

    def _modes(self) -> tuple[Literal["auto", "legacy"], ...]:
        """How to begin. Some programs of before 2026 end at anything but the handshake: those get a second start."""
        if self._server.protocol == "legacy" or self._server.launch is None:
            return (self._server.protocol,)
        return ("auto", "legacy")

    async def _hold(self, mode: Literal["auto", "legacy"]) -> ItemError:
        """Connect, wait for the end, leave; what ended it."""
        self.transport = self._server.transport()
        limit = asyncio.timeout(self._server.connect_timeout_s)
        started = time.perf_counter()
        try:
            async with limit, self._client(mode) as client:
                self.tools = await self._all_tools(client)
                self.origin = _origin(client, time.perf_counter() - started)
                limit.reschedule(None)
                self.transport.broken = None
                self.transport.take_logs()  # a server from before 2026 logs many lines about a request for a later protocol
                if not self._ready.done():
                    self._ready.set_result(client)
                await self._stop.wait()
        except asyncio.CancelledError as error:
            if self.retired:
                raise
            return await self._why(error)
        except Exception as error:  # noqa: BLE001 - the SDK's errors, in groups: they become the callers' errors
            return await self._why(error, late=limit.expired())
        return InfraError("the session was closed")

    async def _all_tools(self, client: Client) -> dict[str, Tool]:
        """All pages. One whose next cursor was there before, and that adds nothing, is the last: it would come again for ever."""
        tools: dict[str, Tool] = {}
        self.schemas.protocol = client.protocol_version
        cursor: str | None = None
        cursors: set[str] = set()
        for _ in range(MAX_PAGES):
            page, before = await client.list_tools(cursor=cursor), len(tools)
            tools |= {tool.name: tool.model_copy(update={"output_schema": self.schemas.of(tool.name)}) for tool in page.tools}
            cursor = page.next_cursor
            if cursor is None or (cursor in cursors and len(tools) == before):
                self.ambiguous, self.malformed = frozenset(self.schemas.ambiguous), self.schemas.malformed
                return tools
            cursors.add(cursor)
        raise ContractError(f"its list of tools has more than {MAX_PAGES} pages; the last one has to leave out nextCursor")

    def _client(self, mode: Literal["auto", "legacy"]) -> Client:
        return Client(
            intercepted(self.transport.connect(), (self.server_requests, self.schemas, self._handshake, self._changes)),
            mode=mode,
            cache=None,
            log_level="info",
            logging_callback=self._on_log,
            **self.client.callbacks,
        )

    async def _on_log(self, params: LoggingMessageNotificationParams) -> None:
        self.transport.said.add(f"{params.level}: {params.data}\n".encode(errors="replace"))

    async def _why(self, error: BaseException, *, late: bool = False) -> ItemError:
        """What the failure to connect, or the end of the connection, is for an item."""
        if self.transport.broken is not None:
            return self.transport.broken
        causes = leaves(error)
        if (known := next((cause for cause in causes if isinstance(cause, ItemError)), None)) is not None:
            return known
        if late:
            limit = f"the server was not ready within {self._server.connect_timeout_s:g} s (connectTimeoutMs)"
            said = last_lines(self.transport.stderr())
            return InfraError("; ".join(filter(None, (limit, self.transport.seen(), said and f"stderr: {said}"))))
        if self.transport.died:
            ended = InfraError if self.transport.was_not_found else SkillNotStarted
            return ended(await self.transport.describe_end("at its start"))
        if invalid := next((cause for cause in causes if isinstance(cause, ValidationError)), None):
            return ContractError(f"the server does not follow the MCP version that it names: {first_problem(invalid)}")
        if foreign := next((cause for cause in causes if str(cause).startswith(_FOREIGN_VERSION)), None):
            version, valid = one_line(str(foreign).removeprefix(_FOREIGN_VERSION)), ", ".join(HANDSHAKE_PROTOCOL_VERSIONS)
            return ContractError(f"the server answers in protocol {version}, and the handshake is for one of {valid}")
        if refused := next((cause for cause in causes if isinstance(cause, MCPError)), None):
            is_strange = refused.code == PARSE_ERROR and not self.is_program
            said = one_line(refused.message)
            if is_strange:  # what follows the colon are words of a library on each kind of message that it may have been
                said = f"{said.partition(':')[0]}; is it the address of an MCP server?"
            return InfraError(f"the server refused to connect: error {refused.code}: {said}")
        described = "; ".join(f"{type(cause).__name__}: {cause}" for cause in causes)
        kind = SkillCrashed if self.is_program else SkillUnavailable
        return kind(f"{await self.transport.describe_end('at its start')}: {described}")


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as its server describes it; `title` and `description` may be empty, and so may the schema of its output.

    `open_world` is what its server says of whether it deals with things outside; None where it says nothing. `may_destroy` is
    whether a call may destroy something by the server's hints; False, too, where it gives no hints.
    """

    name: str
    title: str = ""
    description: str = ""
    input_schema: dict[str, Any] = field(default_factory=dict)
    output_schema: dict[str, Any] = field(default_factory=dict)
    open_world: bool | None = None
    may_destroy: bool = False


@dataclass(frozen=True, slots=True)
class ToolListing:
    """The tools of a server in its own order, and what it says of itself; the names may be empty.

    `ambiguous` names the tools that it lists more than once, in different ways; the last one is among `tools`. `malformed` says
    what is wrong with those that are not as the protocol has it, which are not.
    """

    tools: list[ServerTool]
    name: str = ""
    version: str = ""
    protocol: str = ""
    ambiguous: frozenset[str] = frozenset()
    malformed: dict[str, str] = field(default_factory=dict)


async def list_tools(server: McpServer) -> ToolListing:
    """Connect, list, and leave.

    Raises:
        ItemError: the server cannot be started, reached or understood.
    """
    session = McpSession(server)
    try:
        client = await session.ready()
        info = client.server_info
        tools = [
            ServerTool(
                tool.name,
                tool.title or "",
                tool.description or "",
                tool.input_schema,
                tool.output_schema or {},
                tool.annotations.open_world_hint if tool.annotations is not None else None,
                _may_destroy(tool.annotations),
            )
            for tool in session.tools.values()
        ]
        name, version = (info.name, info.version) if info is not None else ("", "")
        return ToolListing(tools, name, version, client.protocol_version, session.ambiguous, session.malformed)
    finally:
        await session.close()


def _may_destroy(hints: ToolAnnotations | None) -> bool:
    """By MCP, `destructiveHint` counts where a tool is not read-only, and is true where only `readOnlyHint` is said."""
    if hints is None or hints.read_only_hint:
        return False
    return hints.destructive_hint or (hints.destructive_hint is None and hints.read_only_hint is False)


def leaves(error: BaseException) -> list[BaseException]:
    """The errors that a group of groups holds."""
    return [leaf for part in error.exceptions for leaf in leaves(part)] if isinstance(error, BaseExceptionGroup) else [error]


def _origin(client: Client, connect_s: float) -> dict[str, Any]:
    info = client.server_info
    server = f"{info.name} {info.version}" if info is not None else None
    return {"server": server, "protocol": client.protocol_version, "connectMs": round(connect_s * 1000, 3)}
