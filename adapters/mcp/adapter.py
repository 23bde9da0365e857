"""A skill that is a tool of an MCP server."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from eval_skills.adapters.call import Call, shield_cleanup
from eval_skills.adapters.config import read_config, source_of
from eval_skills.adapters.http.auth import refuse_unusable_secrets
from eval_skills.adapters.http.tls import tls_warnings
from eval_skills.adapters.mcp.server import McpConfig, is_url, server_of
from eval_skills.adapters.probing import ProbeResult, schema_differences
from eval_skills.adapters.process.adapter import ProcessAdapter
from eval_skills.adapters.throttling import in_turn
from eval_skills.core.errors import ContractError, InfraError, InputError, SkillCrashed, SkillError, SkillUnavailable
from eval_skills.core.models import Skill, SkillResponse
from eval_skills.core.text import nearest

if TYPE_CHECKING:
    from mcp_types import Tool

    from eval_skills.adapters.mcp.session import McpSession

PROBE_S = 0.5
"""How long a server may take to answer anything at all after a call that it did not answer."""

_TURNS = 3
"""How often a call is made again after the session went away through no fault of its own."""

_LISTED = 12
"""How many tools a message names."""


class McpAdapter(ProcessAdapter):
    """Calls one tool of a server: a program on standard input and output, or a URL. All calls share one session.

    A session that is lost is replaced before the next call. A call that is not answered in time is cancelled; if the server
    then answers nothing else either, it is ended too, and other calls that were waiting for it are made again on the next.
    A conversation has a session of its own.
    """

    config_model = McpConfig

    def __init__(self, skill: Skill) -> None:
        super().__init__(skill)
        self._config = read_config(McpConfig, skill)
        server = server_of(skill, self._config, secrets=False)
        self.limits = server.launch.limits if server.launch is not None else self.limits
        self._tool = self._config.tool or skill.id
        self._session: McpSession | None = None
        self._leaving: set[asyncio.Task[None]] = set()
        self._closed = False
        self._offered: dict[str, Tool] = {}
        self._has_changed = False

    @property
    def remarks(self) -> list[str]:
        if not self._has_changed:
            return super().remarks
        changed = (
            f"{self.skill.key}: the server changed its tool {self._tool} during the run, so not all answers are of the same tool"
        )
        return [*super().remarks, changed]

    @property
    def own_conversations(self) -> bool:
        return True

    @classmethod
    def check(cls, skill: Skill) -> None:
        """The configuration, the command or URL, the folder it runs in, the roots, and that the secret's variable is set."""
        cls(skill)
        config = read_config(McpConfig, skill)
        _refuse_missing_roots(skill, config)
        refuse_unusable_secrets(skill, config)

    @classmethod
    def warnings(cls, skill: Skill) -> list[str]:
        """That a certificate is not checked; and what a program gets as it is written."""
        return super().warnings(skill) + tls_warnings(skill, read_config(McpConfig, skill))

    async def _open(self) -> None:
        with suppress(SkillUnavailable, SkillCrashed):  # each call tries again, and says so
            await self._connected(self._tool)

    async def _close(self) -> None:
        self._closed = True
        if self._session is not None:
            self._retire(self._session)
        await asyncio.gather(*self._leaving)

    async def _probe(self, call: Call) -> ProbeResult:
        """The server is connected and offers the tool; no tool is called."""
        session = await self._connected(self._tool)
        offered = session.tools[self._tool]
        warnings = schema_differences(self.skill.input_schema, offered.input_schema)
        server = session.origin["server"] or "the server"
        return ProbeResult(f"{server} offers {self._tool}, 1 of {len(session.tools)}", tuple(warnings))

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        if not is_url(url := self._config.command or self.skill.entrypoint):
            return await self._asked(input_data, call)
        async with in_turn(self.services.caller(url.strip(), self.skill.key), call) as turn:
            try:
                response = await self._asked(input_data, call)
            except (SkillError, ContractError):
                turn.answered()
                raise
            turn.answered()
            return response

    async def _asked(self, input_data: Any, call: Call) -> SkillResponse:
        from eval_skills.adapters.mcp.calls import CallInterrupted, ServerEnded, ServerLost, ask
        from eval_skills.adapters.mcp.results import OutputChoice

        choice = OutputChoice.of(self._config.result_from, self.skill.output_schema, self._config.max_output_bytes)
        tool, arguments = self._tool, _arguments(input_data)
        for attempt in range(_TURNS):
            call.suspend()  # connecting has a limit of its own
            session = await self._connected(tool)
            try:
                response = await ask(session, tool, arguments, call, choice)
            except (ServerEnded, ServerLost):
                self._retire(session)
                raise
            except CallInterrupted:
                self._retire(session)
                if attempt == _TURNS - 1:
                    raise
            except asyncio.CancelledError:
                await shield_cleanup(self._settle(session, call))
                raise
            else:
                return response.model_copy(update={"metadata": {**response.metadata, "mcp": session.origin}})
        raise AssertionError("unreachable")

    async def _connected(self, tool: str) -> McpSession:
        from eval_skills.adapters.mcp.session import McpSession

        if self._closed:
            raise InfraError("the adapter was closed during the call")
        if self._session is None or self._session.lost:
            if self._session is not None:
                self._retire(self._session)
            self._session = McpSession(server_of(self.skill, self._config))
        session = self._session
        await session.look_for(tool)
        if tool not in session.tools and (problem := session.malformed.get(tool)) is not None:
            raise ContractError(f"the server lists the tool {tool!r} against the MCP version that it names: {problem}")
        if tool not in session.tools:
            raise InfraError(_no_such_tool(tool, list(session.tools)))
        if tool in session.ambiguous:
            message = (
                f"the server lists the tool {tool!r} more than once, in different ways, so which of them is called is unknown"
            )
            raise InfraError(f"{message}; give each tool of the server a name of its own")
        self._has_changed |= self._offered.setdefault(tool, session.tools[tool]) != session.tools[tool]
        return session

    def _retire(self, session: McpSession) -> None:
        if self._session is session:
            self._session = None
        if not session.retired:
            session.retired = True
            leaving = asyncio.create_task(session.close())
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    async def _settle(self, session: McpSession, call: Call) -> None:
        """After a call that was given up: keep the session if the server still works."""
        call.stop()
        if session.lost or await session.answers(PROBE_S):
            call.seen = call.seen or "the server still answers other requests"
            return
        call.seen = "; ".join(filter(None, ("the server does not answer other requests either and is replaced", call.seen)))
        self._retire(session)
        await asyncio.gather(*self._leaving)


def _refuse_missing_roots(skill: Skill, config: McpConfig) -> None:
    """A root that is a path is on this machine and must be there, unless a hook may make it; a URI may be the server's own."""
    if config.setup.run or config.setup.item:
        return
    for number, root in enumerate(config.client.roots or ()):
        if (place := root.place(skill.folder)) is not None and not os.path.exists(place):
            message = f"{place} does not exist; make it, or correct the path, which begins at the skill's folder"
            raise InputError(message, source=source_of(skill), path=f"adapterConfig.client.roots[{number}]")


def _arguments(input_data: Any) -> dict[str, Any]:
    if input_data is None:
        return {}
    if not isinstance(input_data, dict):
        raise InfraError(f"a tool's arguments are an object, and the task's inputData is a {type(input_data).__name__}")
    return input_data


def _no_such_tool(tool: str, offered: list[str]) -> str:
    if not offered:
        return f"the server offers no tools; {tool!r} was asked for"
    more = f" and {len(offered) - _LISTED} more" if len(offered) > _LISTED else ""
    return f"the server offers no tool {tool!r}{nearest(tool, offered)}; it offers {', '.join(offered[:_LISTED])}{more}"
