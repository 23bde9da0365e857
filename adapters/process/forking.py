"""Fresh processes of a Python script from a server that has done its imports: what ``"startMethod": "forkserver"`` means."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, SIGXCPU
from typing import IO, Any

from eval_skills.adapters.call import shield_cleanup
from eval_skills.adapters.config import SubprocessConfig, source_of
from eval_skills.adapters.process.child import GRACE_S, Child
from eval_skills.adapters.process.launch import PYTHON_MARK, Launch, launch_of, spawn, started_whole
from eval_skills.adapters.process.streams import OutputTail
from eval_skills.core.errors import InputError, SkillUnavailable
from eval_skills.core.models import Skill

PROGRAM = Path(__file__).resolve().with_name("forkserver.py")
"""What a server runs. It is not imported: it takes its interpreter for its own."""

MODULE = "-m"

IMPORTS_S = 60.0
"""How long the imports of a server may take."""

FORK_S = 10.0
"""How long a server may take to fork once."""

MOST_DEATHS = 2
"""From so many servers on that ended by themselves, no further one is started."""

OnStdout = Callable[[bytes], None]


def forked_launch(skill: Skill, words: Sequence[str], config: SubprocessConfig) -> Launch:
    """How the server is started that forks the processes of the command `words`.

    Raises:
        InputError: they cannot be forked so that each is as fresh, and as confined, as one that is started by itself.
    """
    if problem := why_not_forked(words, config):
        raise InputError(f'"forkserver" {problem}', source=source_of(skill), path="adapterConfig.startMethod")
    return launch_of(skill, (PYTHON_MARK, str(PROGRAM), *words[1:]), config)


def why_not_forked(words: Sequence[str], config: SubprocessConfig) -> str:
    """Why no server can fork the processes of a command, and what can be done, as the rest of a sentence; "" if it can."""
    if not sys.platform.startswith("linux"):
        return 'works on Linux only; leave startMethod out, or write "spawn"'
    if config.persistent:
        return "is for processes that serve one item, and a persistent one serves many; remove persistent, or startMethod"
    if config.sandbox.type != "none":
        return "would put all items into one sandbox, and each has its own; remove startMethod, or run without the sandbox"
    if list(words[:1]) != [PYTHON_MARK] or not _is_python(words[1:]):
        return f'forks Python only: a command "{PYTHON_MARK} script.py" or "{PYTHON_MARK} -m module", with arguments behind that'
    return ""


def _is_python(words: Sequence[str]) -> bool:
    if list(words[:1]) == [MODULE]:
        return len(words) > 1
    return bool(words) and words[0].endswith(".py") and not words[0].startswith("-")


class Forking:
    """Starts the processes of one skill from a server, which is replaced when it ends or has used up its CPU time.

    Where processes cannot share what the script imports (a thread that it left, a connection), and after `MOST_DEATHS` servers
    that ended by themselves, each process gets an interpreter of its own; `remark` then says so.
    """

    def __init__(self, server: Launch) -> None:
        self._launch = server
        self._servers: list[ForkServer] = []
        self._deaths = 0
        self._turn = asyncio.Lock()
        self._closed = False
        self.remark = ""

    async def prepare(self) -> None:
        """Have a server ready, if there is to be one: the time that this takes counts for no item.

        Raises:
            InfraError: it cannot be started.
        """
        async with self._turn:
            while not (self._current() or self.remark or self._closed):
                await self._start_server()

    async def start(self, launch: Launch, on_stdout: OnStdout) -> Child:
        """A process of the skill, as `spawn` starts it by `launch`.

        Raises:
            InfraError: as `spawn` does.
            SkillUnavailable: the server has ended, or the machine is short of processes, files or memory.
        """
        server = self._current()
        if server is None:
            return await spawn(launch, on_stdout)
        return await server.fork(launch, on_stdout)

    async def close(self) -> None:
        """End all servers."""
        self._closed = True
        await asyncio.gather(*(server.stop() for server in self._servers))

    def _current(self) -> ForkServer | None:
        """The server that forks next; those that have ended are counted and forgotten."""
        for server in [each for each in self._servers if each.ended]:
            self._servers.remove(server)
            if not server.worn:
                self._deaths += 1
            if self._deaths >= MOST_DEATHS:
                self._give_up(f"its server ended {self._deaths} times (the last time: {server.ended})")
        fit = [server for server in self._servers if not server.worn]
        return fit[-1] if fit and not self.remark else None

    async def _start_server(self) -> None:
        for worn in [server for server in self._servers if not server.busy]:
            self._servers.remove(worn)
            await worn.stop()
        server = ForkServer(self._launch)
        problem = await server.start()
        if problem or self._closed:
            await server.stop()
        else:
            self._servers.append(server)
        if problem:
            self._give_up(problem)

    def _give_up(self, reason: str) -> None:
        self.remark = f'"startMethod": "forkserver" was given up, and items start an interpreter each: {reason}'


class ForkServer:
    """One server: `ended` says how it ended, once it has; `worn` that it is to fork no more."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._processes: dict[int, ForkedProcess] = {}
        self._turn = asyncio.Lock()
        self._said = OutputTail()
        self._of_imports = b"", b""
        self._ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._next: tuple[ForkedProcess, asyncio.Future[str]] | None = None
        self.ended, self.worn = "", False

    @property
    def busy(self) -> bool:
        """Whether it has processes, or is asked for one."""
        return bool(self._processes or self._next) or self._turn.locked()

    async def start(self) -> str:
        """Start it and wait for its imports; why processes cannot share them, or "".

        One that ends meanwhile has `ended`, which is not an error here.

        Raises:
            InfraError: it cannot be started.
        """
        self._control, theirs = socket.socketpair()
        reader, self._writer = await asyncio.open_unix_connection(sock=self._control)
        try:
            self._child = await spawn(self._launch, self._said.add, stdin=theirs)
        except BaseException:
            self._writer.close()
            raise
        finally:
            theirs.close()
        self._listening = asyncio.ensure_future(self._listen(reader))
        try:
            done, _ = await asyncio.wait([self._ready], timeout=IMPORTS_S)
        except asyncio.CancelledError:
            await shield_cleanup(self.stop())
            raise
        # All that was printed before the message was there to be read together with it.
        self._of_imports = self._said.text().encode(), self._child.stderr.text().encode()
        return self._ready.result() if done else f"its imports took more than {IMPORTS_S:g} s"

    async def fork(self, launch: Launch, on_stdout: OnStdout) -> Child:
        """A process that has all that one started by `launch` has."""
        child = await started_whole(self._fork(on_stdout))
        if launch.limits.cpu_seconds is not None and not child.exited.done():
            child.watch_cpu(launch.limits.cpu_seconds)
        return child

    async def stop(self) -> None:
        """End it, and everything below it. A fork that is under way is waited for: nobody would know of its process."""
        self.ended, self.worn = self.ended or "it was stopped", True  # it forks no more
        async with self._turn:
            self._writer.close()
        await self._listening

    async def _fork(self, on_stdout: OnStdout) -> Child:
        async with self._turn:
            child = Child(on_stdout)
            process = ForkedProcess(child)
            for add, printed in zip((on_stdout, child.stderr.add), self._of_imports, strict=True):
                add(printed)  # as in every process that does the imports itself
            try:
                theirs = await process.connect()
            except OSError as error:
                raise SkillUnavailable(f"cannot start a process now: {error.strerror}") from None
            try:
                problem = await self._asked(process, theirs)
            except BaseException:
                process.close()
                raise
            finally:
                for end in theirs:
                    os.close(end)
            if problem:
                process.close()
                raise SkillUnavailable(problem)
            return child

    async def _asked(self, process: ForkedProcess, streams: Sequence[int]) -> str:
        """Ask for a process with these streams; "", or why there is none."""
        if self.ended:
            return self._lost()
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._next = process, answer
        try:
            socket.send_fds(self._control, [b"f"], streams)
            done, _ = await asyncio.wait([answer], timeout=FORK_S)
            if not done:
                await self._child.stop()
                await asyncio.wait([answer], timeout=GRACE_S)
        except OSError as error:
            return f"the server of the skill's processes cannot be asked: {error.strerror}"
        finally:
            self._next = None
        return answer.result() if answer.done() else f"no process was forked within {FORK_S:g} s"

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        with suppress(OSError, ValueError, KeyError, TypeError):  # it is gone, or something else than the server writes there
            async for line in reader:
                self._on_message(json.loads(line))
        self._writer.close()
        await asyncio.wait([self._child.exited], timeout=GRACE_S)
        await self._child.stop()
        self.ended = self._how_it_ended()
        if not self._ready.done():
            self._ready.set_result("")
        self._answer(self._lost())
        for process in list(self._processes.values()):
            process.lose(self._lost())

    def _how_it_ended(self) -> str:
        if not self._child.exited.done():
            return "it hung up"
        if self._ready.done() and self._child.exited.result() == -SIGXCPU:
            self.worn = True
            return "its own CPU time was used up"  # not that of an item, whose error names its limit
        return self._child.how_it_ended()

    def _on_message(self, message: dict[str, Any]) -> None:
        if "ready" in message and not self._ready.done():
            self._ready.set_result(message["ready"])
        elif "started" in message and self._next is not None:
            process, _ = self._next
            self._processes[message["started"]] = process
            process.begin(message["started"])
            self._answer("")
        elif "refused" in message:
            self._answer(f"cannot start a process now: {message['refused']}")
        elif "ended" in message:
            self._on_end(message["ended"], message["code"])
        elif "worn" in message:
            self.worn = True

    def _on_end(self, pid: int, code: int) -> None:
        if (process := self._processes.pop(pid, None)) is not None:
            process.end(code)
        else:  # before it was one of the skill's
            self._answer(f"a process ended as soon as it was forked (exit code {code})")

    def _answer(self, problem: str) -> None:
        if self._next is not None and not self._next[1].done():
            self._next[1].set_result(problem)

    def _lost(self) -> str:
        return f"the server of the skill's processes has ended ({self.ended})"


class ForkedProcess(asyncio.SubprocessTransport):
    """A forked process as the event loop shows one that it has started itself, to the `Child` that is its protocol."""

    def __init__(self, child: Child) -> None:
        super().__init__()
        self._child = child
        self._pid = 0
        self._code: int | None = None
        self._pipes: dict[int, asyncio.BaseTransport] = {}
        self._open: set[int] = set()

    async def connect(self) -> list[int]:
        """Make its pipes; their other ends, in the order of descriptors.

        Raises:
            OSError: there are no more descriptors.
        """
        loop = asyncio.get_running_loop()
        theirs: list[int] = []
        try:
            for number in range(3):
                readable, writable = os.pipe()
                theirs.append(writable if number else readable)
                ours: IO[bytes] = os.fdopen(readable if number else writable, "rb" if number else "wb", buffering=0)
                connect: Any = loop.connect_read_pipe if number else loop.connect_write_pipe
                self._pipes[number], _ = await connect(lambda number=number: Pipe(self, number), ours)
                self._open.add(number)
        except BaseException:
            self.close()
            for end in theirs:
                os.close(end)
            raise
        return theirs

    def begin(self, pid: int) -> None:
        """It runs."""
        self._pid = pid
        self._child.connection_made(self)

    def end(self, code: int) -> None:
        """It has ended."""
        self._code = code
        self._child.process_exited()
        self._finish()

    def lose(self, reason: str) -> None:
        """Nobody will know how it ends: it is killed now, and all that it has started."""
        self._child.lost = reason
        self._child.remember_family()
        self.end(-SIGKILL)

    def received(self, number: int, data: bytes) -> None:
        """What it wrote to a descriptor."""
        self._child.pipe_data_received(number, data)

    def disconnected(self, number: int) -> None:
        """A pipe was closed, from either end."""
        self._open.discard(number)
        self._finish()

    def _finish(self) -> None:
        if self._code is not None and not self._open and not self._child.ended.done():
            self._child.connection_lost(None)

    def get_pid(self) -> int:
        return self._pid

    def get_returncode(self) -> int | None:
        return self._code

    def get_pipe_transport(self, fd: int) -> asyncio.BaseTransport | None:
        return self._pipes.get(fd)

    def close(self) -> None:
        for pipe in self._pipes.values():
            pipe.close()


class Pipe(asyncio.Protocol):
    """One end of a pipe of a forked process."""

    def __init__(self, process: ForkedProcess, number: int) -> None:
        self._process, self._number = process, number

    def data_received(self, data: bytes) -> None:
        self._process.received(self._number, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._process.disconnected(self._number)
