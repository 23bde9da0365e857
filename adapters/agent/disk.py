"""How much an item holds on the disk, looked at while it works."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from eval_skills.adapters.agent.config import AgentLimits
from eval_skills.adapters.call import shield_cleanup
from eval_skills.adapters.process.launch import Launch, child_environment, spawn
from eval_skills.adapters.process.streams import OutputTail
from eval_skills.core.errors import InfraError, SkillError

FIRST_LOOK_S, LOOK_EVERY_S = 0.2, 1.0
LOOK_SHARE = 20
"""At most one part of so many of the time is spent on looking, so that a workspace of a million files is looked at less often."""

_KIB, _BLOCK = 1024, 512


def unwatched() -> list[str]:
    """A remark where the disk cannot be looked at, for want of a program; none else."""
    return [] if shutil.which("du") else ["there is no program 'du' on PATH, so limits.diskMb does not hold; install coreutils"]


async def held_to(limits: AgentLimits, folder: str, work: Awaitable[None], ended: Callable[[], None]) -> None:
    """Do `work`, and end it once `folder` holds more than the limit; what it wrote since the last look is seen at its end.
    `ended` is called as soon as the work has ended.

    Raises:
        SkillError: it holds more; the message names the limit and what was used.
        Exception: that of the work.
    """
    working, looking = asyncio.ensure_future(work), asyncio.ensure_future(_watch(limits, folder))
    try:
        await asyncio.wait([working, looking], return_when=asyncio.FIRST_COMPLETED)
    finally:
        await shield_cleanup(_end(working, looking))
        ended()
    if not looking.cancelled():
        raise looking.result()
    if (found := _above(limits, await _used_kib(folder))) is not None:
        raise found
    working.result()


async def _end(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        _ = task.cancelled() or task.exception()


async def _watch(limits: AgentLimits, folder: str) -> SkillError:
    """Look again and again, until it holds more than it may."""
    wait_s = FIRST_LOOK_S
    while True:
        await asyncio.sleep(wait_s)
        began = time.perf_counter()
        if (found := _above(limits, await _used_kib(folder))) is not None:
            return found
        wait_s = max(LOOK_EVERY_S, LOOK_SHARE * (time.perf_counter() - began))


def _above(limits: AgentLimits, used_kib: int) -> SkillError | None:
    if used_kib <= limits.disk_mb * _KIB:
        return None
    held = -(-used_kib // _KIB)  # rounded up: "10 MiB, more than 10 MiB" would contradict itself
    said = f"the agent held {held:,} MiB on the disk, more than {limits.disk_mb:,} MiB (limits.diskMb)"
    return SkillError(f"{said}; it was ended. Raise adapterConfig.limits.diskMb if it may hold more")


async def _used_kib(folder: str) -> int:
    """What files of a folder take on its disk, those that are deleted and still open among them."""
    return await _listed_kib(folder) + await asyncio.to_thread(_deleted_kib, folder)


async def _listed_kib(folder: str) -> int:
    """What the files below a folder take on its disk, by ``du``, which follows no link, counts a file with several names once,
    and reaches any depth; 0 where it says nothing."""
    output = OutputTail(1_000)
    words = ("du", "-skx", "--", folder)
    try:
        child = await spawn(Launch(argv=words, cwd=Path("/"), env=child_environment({}, ())), output.add, stdin=False)
    except InfraError:
        return 0
    try:
        await asyncio.wait([child.ended])
    finally:
        await shield_cleanup(child.stop())
    used = output.text().partition("\t")[0]
    return int(used) if used.isdigit() else 0


def _deleted_kib(folder: str) -> int:
    """What deleted files take that a process of ours still has open; 0 where the system does not tell."""
    found: dict[tuple[int, int], int] = {}
    folder = os.path.realpath(folder)
    with suppress(OSError):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):  # it has ended, or is not ours
                found |= _deleted_of(f"/proc/{pid}/fd", folder)
    return sum(found.values()) // _KIB


def _deleted_of(opened: str, folder: str) -> dict[tuple[int, int], int]:
    """The deleted files of a folder that a process has open, each by its device and number, with the bytes that it takes."""
    found = {}
    for number in os.listdir(opened):
        with suppress(OSError):
            if os.readlink(f"{opened}/{number}").startswith(f"{folder}/"):
                about = os.stat(f"{opened}/{number}")
                if not about.st_nlink:
                    found[about.st_dev, about.st_ino] = about.st_blocks * _BLOCK
    return found
