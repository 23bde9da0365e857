"""Stopping a process together with everything it started."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported where it is used: it takes 15 ms, and few runs have a process to stop
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
