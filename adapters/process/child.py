"""A running program: its streams, its CPU time, its end, and the end of all that it started."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import signal
import socket
import stat
import termios
from array import array
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from eval_skills.adapters.process.streams import OutputTail

if TYPE_CHECKING:
    from psutil import Process


GRACE_S = 0.3
"""How long a process may tidy up between SIGTERM and SIGKILL."""

KILL_GRACE_S = 2.0
"""How long the system may take to end a process after SIGKILL; a busy machine takes its time."""

_POLL_S = 0.01


def family(leader: int) -> list[Process]:
    """Every running process of the session that `leader` leads, and every one below it by parentage, whatever its session.

    `leader` itself is among them; zombies are not.
    """
    import psutil

    session = [pid for pid in psutil.pids() if _session(pid) == leader]
    return _running({*session, *(process.pid for process in below(leader))})


def below(pid: int) -> list[Process]:
    """Every running process below `pid` by parentage, whatever its session.

    Empty once it has ended, for then its children have another parent.
    """
    if _kernel_lists_children():
        # psutil looks at every process of the machine: 2.2 ms of CPU with 110 of them, against 0.07 ms, twice per fresh process.
        return _running(_listed_below(pid))
    import psutil

    with suppress(psutil.Error):
        return _alive(psutil.Process(pid).children(recursive=True))
    return []


def longest_cpu_s(pid: int) -> float:
    """How long that one of a process and those below it has computed, in all its threads, which did so longest; in s."""
    import psutil

    used = [0.0]
    for process in (*_running([pid]), *below(pid)):
        with suppress(psutil.Error):
            times = process.cpu_times()
            used.append(times.user + times.system)
    return max(used)


def kill_leftovers(known: Collection[Process]) -> None:
    """SIGKILL to those that are still the processes they were, and to all below them."""
    for process in _alive(known) if known else ():
        _signal([*below(process.pid), process], signal.SIGKILL)


async def kill_tree(leader: int, gone: asyncio.Future[int]) -> None:
    """SIGTERM to the leader's process group and family; SIGKILL to what is left of them after `GRACE_S`.

    `gone` is done when the leader has been reaped. The leader must be the first of its own session. What had left both
    the session and the parentage before (a daemon) is out of reach.
    """
    known = family(leader)
    for number, grace_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, KILL_GRACE_S)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)
        _signal(_alive(known), number)
        if await _ended(leader, known, gone, grace_s):
            return


async def _ended(leader: int, known: Iterable[Process], gone: asyncio.Future[int], grace_s: float) -> bool:
    # Not psutil.wait_procs: it blocks, and waits for zombies, which may never be reaped.
    end = asyncio.get_running_loop().time() + grace_s
    await asyncio.wait([gone], timeout=grace_s)
    while alive := bool(_alive(known) or family(leader)):
        if asyncio.get_running_loop().time() >= end:
            break
        await asyncio.sleep(_POLL_S)
    return not alive


def _signal(processes: Iterable[Process], number: signal.Signals) -> None:
    import psutil

    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)


def _alive(known: Iterable[Process]) -> list[Process]:
    """Those that are still the processes they were, and no zombies."""
    import psutil

    found = []
    for process in known:
        with suppress(psutil.Error):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _running(pids: Iterable[int]) -> list[Process]:
    """The processes with these ids that run, so noted that a later process with the same id is not mistaken for one of them."""
    if not (pids := list(pids)):
        return []
    import psutil

    known = []
    for pid in pids:
        with suppress(psutil.Error):
            known.append(psutil.Process(pid))
    return _alive(known)


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return None


@cache
def _kernel_lists_children() -> bool:
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _listed_below(pid: int) -> list[int]:
    try:
        lists = [thread.joinpath("children").read_text() for thread in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:  # it has ended meanwhile
        return []
    children = [int(child) for listed in lists for child in listed.split()]
    return children + [each for child in children for each in _listed_below(child)]


CPU_TIME_USED = " after all of its CPU time"
_NOT_FOUND = frozenset({126, 127})
"""Exit codes by which `env` and shells say that the program is missing or may not be run."""

_KILLED = frozenset({-signal.SIGKILL, 128 + signal.SIGKILL})
"""The signal itself, or as a program passes it on that waited for the one that got it."""

_LAST_WAIT_S = 2.0
"""How long the system may take to report the end of a killed process."""


class Child(asyncio.SubprocessProtocol):
    """A running program. `exited` gets its exit code (negative: a signal); `ended` follows when its output is read too.

    What it left running in its own process group when it ended is killed at that moment, and so is what it had started elsewhere
    when `remember_family` was last called. `lost` says why it was killed because nobody would have known of its end.
    """

    def __init__(self, on_stdout: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.stderr = OutputTail()
        self.lost = ""
        self._on_stdout = on_stdout
        self._stopping = False
        self._family: set[Process] = set()
        self._cpu: CpuWatch | None = None
        self._hanging_up: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int:
        """The process id, which is the id of its session and group as well."""
        return self._transport.get_pid()

    @property
    def standard_input(self) -> asyncio.WriteTransport | None:
        """Where it is written to; None: it has no standard input."""
        return cast(asyncio.WriteTransport | None, self._transport.get_pipe_transport(0))

    def write(self, data: bytes) -> None:
        """Send `data` to its standard input; nothing is raised if that is closed, for the exit explains more."""
        cast(asyncio.WriteTransport, self.standard_input).write(data)

    def has_read_its_input(self) -> bool:
        """Whether nothing that was written to it waits any more; True where the system does not report it."""
        pipe = self.standard_input
        return pipe is None or pipe.is_closing() or unread_bytes(pipe.get_extra_info("pipe")) == 0

    def close_stdin(self) -> None:
        """End its standard input, once all that was written is sent."""
        if (pipe := self.standard_input) is not None:
            pipe.close()

    def mute(self) -> None:
        """Read no more of its standard output, so that memory stays bounded."""
        cast(asyncio.ReadTransport, self._transport.get_pipe_transport(1)).pause_reading()

    def listen(self) -> None:
        """Read its standard output again after `mute`."""
        if (pipe := self._transport.get_pipe_transport(1)) is not None:
            cast(asyncio.ReadTransport, pipe).resume_reading()

    def watch_cpu(self, limit_s: int) -> None:
        """Find out whether it computes for `limit_s`, after which the system may kill it."""
        self._cpu = CpuWatch(self.pid, limit_s)

    @property
    def was_stopped(self) -> bool:
        """Whether it ended because `stop` ended it."""
        return self._stopping

    @property
    def was_not_found(self) -> bool:
        """Whether one that has ended never was the program: it is missing, or may not be run."""
        return self.exited.result() in _NOT_FOUND

    def how_it_ended(self) -> str:
        """`describe_exit` of one that has ended, and whether the limit of its CPU time explains that it was killed."""
        code = self.exited.result()
        explained = code in _KILLED and self._cpu is not None and self._cpu.reached
        return f"{describe_exit(code)}{CPU_TIME_USED if explained else ''}"

    def remember_family(self) -> None:
        """Note what it has started by now: once it has ended, nothing shows whose those are that left its session."""
        if not self.exited.done():
            self._family.update(below(self.pid))

    async def stop(self) -> None:
        """End it and everything it started: SIGTERM, `GRACE_S`, SIGKILL. Nothing happens if it has ended."""
        if not self.exited.done():
            self._stopping = True
            await kill_tree(self.pid, self.exited)
            await asyncio.wait([self.exited], timeout=_LAST_WAIT_S)
        if not self.ended.done():
            await asyncio.wait([self.ended], timeout=GRACE_S)
            self._transport.close()

    # What follows is called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._on_stdout(data)
        else:
            self.stderr.add(data)

    def process_exited(self) -> None:
        self.exited.set_result(self._transport.get_returncode() or 0)
        if self._cpu is not None:
            self._cpu.end()
        if not self._stopping:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            kill_leftovers(self._family)
        # A process that moved to a session of its own may hold the pipes open for ever.
        self._hanging_up = asyncio.get_running_loop().call_later(GRACE_S, self._transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._hanging_up is not None:
            self._hanging_up.cancel()
        self._transport.close()
        self.ended.set_result(None)


class Receipt:
    """Of what is written to `pipe` from now on, the standard input of a program: whether that ended and never read it whole.

    It looks through a descriptor of its own, until `close`: the event loop closes the pipe as soon as the other end is gone.
    """

    def __init__(self, pipe: asyncio.WriteTransport | None) -> None:
        self._pipe, self._was_refused = pipe, False
        self._own = None if pipe is None or pipe.is_closing() else os.dup(pipe.get_extra_info("pipe").fileno())

    def note_written(self) -> None:
        """To be called when it has been written: a pipe whose other end is closed has taken nothing of it."""
        self._was_refused = self._own is None or self._pipe is None or self._pipe.is_closing()
        if self._was_refused:
            self.close()  # or the program would never learn that nothing more comes

    @property
    def is_unread(self) -> bool:
        """Whether what was written was not taken, or some of it was left behind by a program that has ended."""
        if self._was_refused or self._own is None:
            return self._was_refused
        if not stat.S_ISSOCK(os.fstat(self._own).st_mode):
            return _waiting_in(self._own, termios.FIONREAD) > 0
        with socket.socket(fileno=os.dup(self._own)) as end:  # of a socket the system forgets what is left, but says so
            return end.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNRESET

    def close(self) -> None:
        """Look no more."""
        if self._own is not None:
            os.close(self._own)
            self._own = None


def unread_bytes(pipe: Any) -> int:
    """How much of what was written to a pipe or socket its other end has not read yet; 0 where the system does not report it."""
    try:
        # asyncio gives a child a socket or a pipe for its input, by the version of Python; each has its own question.
        request = termios.TIOCOUTQ if stat.S_ISSOCK(os.fstat(pipe.fileno()).st_mode) else termios.FIONREAD
        return _waiting_in(pipe.fileno(), request)
    except (OSError, ValueError):
        return 0


def _waiting_in(descriptor: int, request: int) -> int:
    count = array("i", [0])
    fcntl.ioctl(descriptor, request, count)
    return count[0]


def describe_exit(code: int) -> str:
    """``exit code 3``, or the signal's name: ``killed by SIGKILL``."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


_OFTEN_S = 0.05


class CpuWatch:
    """Finds out whether a process, or one below it, used up its CPU time, for when the system kills it without saying why.

    It looks as seldom as it can without missing the limit, which holds for each of them. One that ignores the signal at the
    limit computes for another second before it is killed: in that second `reached` becomes true.
    """

    def __init__(self, pid: int, limit_s: int) -> None:
        self.reached = False
        self._pid, self._limit_s = pid, limit_s
        self._next = self._wait(limit_s)

    def end(self) -> None:
        """Look no more."""
        self._next.cancel()

    def _wait(self, left_s: float) -> asyncio.TimerHandle:
        soonest_s = left_s / (os.cpu_count() or 1)  # if it uses every processor
        return asyncio.get_running_loop().call_later(max(soonest_s, _OFTEN_S), self._look)

    def _look(self) -> None:
        used_s = longest_cpu_s(self._pid)
        if used_s >= self._limit_s:
            self.reached = True
        else:
            self._next = self._wait(self._limit_s - used_s)
