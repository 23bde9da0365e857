"""Stopping a process together with everything it started."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

GRACE_S = 0.3
"""How long a process may tidy up between SIGTERM and SIGKILL."""

KILL_GRACE_S = 2.0
"""How long the system may take to end a process after SIGKILL; a busy machine takes its time."""

_POLL_S = 0.01
_PROC = Path("/proc")


class Process(NamedTuple):
    """A running process; `started` tells it from a later one that got the same id."""

    pid: int
    parent: int
    session: int
    started: str


def family(leader: int) -> list[Process]:
    """Every running process of the session that `leader` leads, and every one below it by parentage, whatever its session.

    `leader` itself is among them; zombies are not. Empty where there is no ``/proc``.
    """
    running = [process for folder in _PROC.glob("[0-9]*") if (process := _process(int(folder.name))) is not None]
    below, grown = {leader}, True
    while grown:
        more = {process.pid for process in running if process.parent in below} - below
        grown = bool(more)
        below |= more
    return [process for process in running if process.session == leader or process.pid in below]


def below(pid: int) -> list[Process]:
    """Every running process below `pid` by parentage, whatever its session; cheap, for only theirs is looked at.

    Empty once it has ended, for then its children have another parent, and where the system keeps no list of children.
    """
    found: list[Process] = []
    for child in _children(pid):
        if (process := _process(child)) is not None:
            found.append(process)
        found += below(child)
    return found


def cpu_seconds(pid: int) -> float:
    """How long a process has computed, in all its threads; 0 where that cannot be told."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def kill_leftovers(known: Iterable[Process]) -> None:
    """SIGKILL to those that are still the processes they were, and to all below them."""
    for process in _alive(known):
        for each in (*below(process.pid), process):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(each.pid, signal.SIGKILL)


async def kill_tree(leader: int, gone: asyncio.Future[int]) -> None:
    """SIGTERM to the leader's process group and family; SIGKILL to what is left of them after `GRACE_S`.

    `gone` is done when the leader has been reaped. The leader must be the first of its own session. What had left both
    the session and the parentage before (a daemon) is out of reach.
    """
    known = family(leader)
    for number, grace_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, KILL_GRACE_S)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)
        for process in _alive(known):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)
        if await _ended(leader, known, gone, grace_s):
            return


async def _ended(leader: int, known: Iterable[Process], gone: asyncio.Future[int], grace_s: float) -> bool:
    end = asyncio.get_running_loop().time() + grace_s
    await asyncio.wait([gone], timeout=grace_s)
    while alive := _any_left(leader, known):
        if asyncio.get_running_loop().time() >= end:
            break
        await asyncio.sleep(_POLL_S)
    return not alive


def _any_left(leader: int, known: Iterable[Process]) -> bool:
    if _PROC.is_dir():
        return bool(_alive(known) or family(leader))
    try:
        os.killpg(leader, 0)  # counts zombies too, which nobody may ever reap
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _alive(known: Iterable[Process]) -> list[Process]:
    """Those that are still the processes they were."""
    return [process for process in known if (now := _process(process.pid)) is not None and now.started == process.started]


def _children(pid: int) -> list[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        return [int(child) for thread in threads for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split()]
    except OSError:
        return []


def _stat(pid: int) -> list[str]:
    """What the system says of a process, from its state on; nothing where it does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _process(pid: int) -> Process | None:
    fields = _stat(pid)
    return None if not fields or fields[0] == "Z" else Process(pid, int(fields[1]), int(fields[3]), fields[19])
