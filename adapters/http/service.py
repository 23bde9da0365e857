"""A service that runs for as long as its skill is evaluated."""

from __future__ import annotations

import asyncio
import shlex
from contextlib import suppress
from dataclasses import replace

from eval_skills.adapters.http.address import host_and_port, shown, sibling
from eval_skills.adapters.http.client import HttpClient
from eval_skills.adapters.http.config import ServeConfig
from eval_skills.adapters.process import guard
from eval_skills.adapters.process.child import Child
from eval_skills.adapters.process.launch import Launch, spawn
from eval_skills.adapters.process.streams import OutputTail, last_lines
from eval_skills.adapters.sandbox.limits import limit_reached
from eval_skills.core.errors import InfraError, SkillNotStarted, SkillUnavailable

_POLL_S = 0.02
_SETTLE_S = 0.5
_PROBE_S = 2.0
"""How long one probe may take: a service that accepts and then stays mute is asked again."""


class Service:
    """The process of `adapterConfig.serve`, started once and, should it die, again before the next call.

    A start that failed is not tried again: every later call gets the same error at once.
    """

    def __init__(self, serve: ServeConfig, launch: Launch, url: str) -> None:
        self._serve, self._launch, self._url = serve, launch, url
        self._output = OutputTail()
        self._child: Child | None = None
        self._starting: asyncio.Task[None] | None = None

    async def ensure_running(self, client: HttpClient) -> None:
        """Start the service if it does not run, and wait until it is ready. Callers at the same time share one start.

        Raises:
            InfraError: it cannot be started, or is not ready in time; with its last lines.
            SkillNotStarted: it ends at once; with them, too.
        """
        if self._starting is None or (_succeeded(self._starting) and self._describe_end()):
            self._starting = asyncio.create_task(self._start(client))
        try:
            await asyncio.shield(self._starting)
        except (InfraError, SkillNotStarted) as error:  # each caller gets an error of its own, to note its latency in
            raise type(error)(str(error)) from None

    async def describe_end(self) -> str:
        """How the service ended and its last lines; empty while it runs, unless it has just reached one of its limits.

        A connection breaks a moment before the system reports the end of its process, so that is waited for briefly.
        """
        if self._child is not None:
            await asyncio.wait([self._child.exited], timeout=_SETTLE_S)
        if end := self._describe_end():
            return end
        said = self._said()
        return f"the service is still running{said}" if limit_reached(self._launch.limits, said) else ""

    async def stop(self) -> None:
        """End the service and everything it started."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self._child is not None:
            await self._child.stop()

    async def _start(self, client: HttpClient) -> None:
        await self._refuse_taken_port()
        self._output = OutputTail()
        self._child = await spawn(replace(self._launch, argv=guard.guarded(self._launch.argv)), self._output.add)
        limit_s, last = self._serve.ready_timeout_ms / 1000, "nothing"
        try:
            async with asyncio.timeout(limit_s):
                while last := await self._why_not_ready(client):
                    await asyncio.wait([self._child.exited], timeout=_POLL_S)
                    self._refuse_dead()
        except TimeoutError:
            await self._child.stop()
            late = f"the service was not ready within {limit_s:g} s (serve.readyTimeoutMs)"
            raise InfraError(f"{late}; the last attempt: {last}{self._said() or '; it printed nothing'}") from None
        self._refuse_dead()

    async def _why_not_ready(self, client: HttpClient) -> str:
        try:
            async with asyncio.timeout(_PROBE_S):
                if self._serve.ready_path is None:
                    return "" if await _accepts(self._url) else "no connection"
                status = await client.status_of(sibling(self._url, self._serve.ready_path))
        except (TimeoutError, SkillUnavailable) as error:
            return str(error) or "nothing"
        return "" if 200 <= status < 300 else f"HTTP {status}"

    async def _refuse_taken_port(self) -> None:
        if await _accepts(self._url):
            where = shown(self._url)
            raise InfraError(
                f"another program already listens at {where}; stop it, or write {{port}} in the command and the address"
            )

    def _refuse_dead(self) -> None:
        if describe_end := self._describe_end():
            kind = InfraError if self._child is not None and self._child.was_not_found else SkillNotStarted
            raise kind(f"at its start {describe_end}")

    def _describe_end(self) -> str:
        if self._child is None or not self._child.exited.done():
            return ""
        return f"the service died ({self._child.how_it_ended()}){self._said() or ' without any output'}"

    def _said(self) -> str:
        stderr = self._child.stderr.text() if self._child is not None else ""
        said = last_lines(f"{self._output.text()}\n{stderr}")
        return self._launch.hidden_cause(f"; its last lines: {said}") if said else ""


def serve_words(serve: ServeConfig, port: int | None) -> tuple[str, ...]:
    """The words of the service's command, with the port filled in."""
    return tuple(word.replace("{port}", str(port)) if port is not None else word for word in shlex.split(serve.command))


def _succeeded(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


async def _accepts(url: str) -> bool:
    try:
        async with asyncio.timeout(_PROBE_S):
            _, writer = await asyncio.open_connection(*host_and_port(url))
    except OSError:
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
