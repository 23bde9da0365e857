"""Starting a program: no shell, its own session, an environment of its own."""

from __future__ import annotations

import asyncio
import errno
import subprocess
from collections.abc import Callable

from eval_skills.adapters.cancellation import uninterrupted
from eval_skills.adapters.child import Child
from eval_skills.adapters.launch import Launch
from eval_skills.core.errors import InfraError, SkillUnavailable

_SHORTAGES = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})


async def spawn(launch: Launch, on_stdout: Callable[[bytes], None], *, stdin: bool = True) -> Child:
    """Start a program; `on_stdout` gets its standard output as it comes, the end of its standard error is kept.

    Without `stdin` its standard input is empty.

    Raises:
        InfraError: the program, its interpreter or its folder is missing or may not be run.
        SkillUnavailable: the machine is short of processes, files or memory.
    """
    starting = asyncio.ensure_future(_start(launch, on_stdout, stdin=stdin))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        # asyncio would kill the program alone, and wait for ever if its pipes are not connected yet: let it start, end its tree.
        await uninterrupted(_abandon(starting))
        raise


async def _start(launch: Launch, on_stdout: Callable[[bytes], None], *, stdin: bool) -> Child:
    try:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: Child(on_stdout),
            *launch.argv,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            cwd=launch.cwd,
            env=launch.env,
            start_new_session=True,
        )
    except OSError as error:
        raise _start_error(error, launch) from None
    except ValueError as error:
        raise InfraError(f"cannot start {launch.argv[0]!r}: {error}") from None
    if launch.limits.cpu_seconds is not None and not child.exited.done():
        child.watch_cpu(launch.limits.cpu_seconds)
    return child


async def _abandon(starting: asyncio.Future[Child]) -> None:
    await asyncio.wait([starting])
    if starting.exception() is None:
        await starting.result().stop()


def _start_error(error: OSError, launch: Launch) -> InfraError:
    program = launch.argv[0]
    if error.errno in _SHORTAGES:
        return SkillUnavailable(f"cannot start {program!r} now: {error.strerror}")
    if not launch.cwd.is_dir():
        return InfraError(f"cannot start {program!r}: its folder {launch.cwd} is missing")
    if isinstance(error, FileNotFoundError) and (launch.cwd / program).exists():
        return InfraError(f"cannot start {program!r}: the interpreter its first line names is missing")
    return InfraError(f"cannot start {program!r}: {error.strerror}; looked in the skill's folder or PATH")
