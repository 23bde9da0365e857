"""Starting a program: without a shell, in a session of its own, with limits, and with an allow-listed environment."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from socket import socket

from eval_skills.adapters.call import shield_cleanup
from eval_skills.adapters.config import Limits, ProcessConfig
from eval_skills.adapters.process.child import Child
from eval_skills.adapters.sandbox.installations import missing_interpreter
from eval_skills.adapters.sandbox.limits import limited
from eval_skills.adapters.sandbox.mounts import hidden_in
from eval_skills.core.errors import InfraError, InputError, SkillUnavailable
from eval_skills.core.models import Skill

_SHORTAGES = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})


async def spawn(launch: Launch, on_stdout: Callable[[bytes], None], *, stdin: bool | socket = True) -> Child:
    """Start a program; `on_stdout` gets its standard output as it comes, the end of its standard error is kept.

    Without `stdin` its standard input is empty; it can be our end of a socket.

    Raises:
        InfraError: the program, its interpreter or its folder is missing or may not be run.
        SkillUnavailable: the machine is short of processes, files or memory.
    """
    return await started_whole(_start(launch, on_stdout, stdin))


async def started_whole(start: Coroutine[None, None, Child]) -> Child:
    """What `start` starts; where this is cancelled meanwhile, that is ended with all below it. `start` must be bounded."""
    starting = asyncio.ensure_future(start)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        # asyncio would kill the program alone, and wait for ever if its pipes are not connected yet: let it start, end its tree.
        await shield_cleanup(_abandon(starting))
        raise


async def _start(launch: Launch, on_stdout: Callable[[bytes], None], stdin: bool | socket) -> Child:
    try:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: Child(on_stdout),
            *launch.argv,
            stdin=stdin.fileno() if isinstance(stdin, socket) else subprocess.PIPE if stdin else subprocess.DEVNULL,
            cwd=launch.cwd,
            env=launch.env,
            start_new_session=True,
        )
    except OSError as error:
        raise start_error(error, launch) from None
    except ValueError as error:
        raise InfraError(f"cannot start {launch.argv[0]!r}: {error}") from None
    if launch.limits.cpu_seconds is not None and not child.exited.done():
        child.watch_cpu(launch.limits.cpu_seconds)
    return child


async def _abandon(starting: asyncio.Future[Child]) -> None:
    await asyncio.wait([starting])
    if starting.exception() is None:
        await starting.result().stop()


def start_error(error: OSError, launch: Launch) -> InfraError:
    """Why a program could not be started, and whether another attempt may succeed."""
    program = launch.argv[0]
    if error.errno in _SHORTAGES:
        return SkillUnavailable(f"cannot start {program!r} now: {error.strerror}")
    if not launch.cwd.is_dir():
        return InfraError(f"cannot start {program!r}: its folder {launch.cwd} is missing")
    if isinstance(error, FileNotFoundError) and (why := launch.why_not_started()):
        return InfraError(f"cannot start {program!r}: {why}")
    return InfraError(f"cannot start {program!r}: {error.strerror}; looked in the skill's folder or PATH")


PYTHON_MARK = "{python}"
"""A word of a command that stands for the interpreter we run with, and so for one that has what we brought along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """All that a start needs; `env` is the child's whole environment. `limits` are those that `argv` sets.

    `program` is what `argv` comes to after the words that confine it; `view` is what that sees in a sandbox (`is_shown`), and
    empty without one.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    limits: Limits = field(default_factory=Limits)
    program: str = ""
    view: Mapping[Path, bool] = field(default_factory=dict)

    def why_not_started(self) -> str:
        """That the program is a script whose interpreter is not there, as a phrase; else ""."""
        missing = missing_interpreter(self.program, self.cwd, self.env) if self.program else ""
        return f"there is no {missing}, which its first line names" if missing else ""

    def hidden_cause(self, said: str) -> str:
        """What is said of a failure, and of what it names, that the sandbox hides something which exists."""
        hidden = hidden_in(said, self.view)
        advice = "if the skill needs it, name it in adapterConfig.sandbox.show"
        return f"{said}; the sandbox hides {', '.join(map(str, hidden[:2]))}: {advice}" if hidden else said


def launch_of(
    skill: Skill,
    argv: tuple[str, ...],
    config: ProcessConfig,
    *,
    extra: Mapping[str, str] | None = None,
    listens: bool = False,
) -> Launch:
    """How `argv` is started for `skill`: in the skill's folder, wherever the call comes from, with an allow-listed
    environment, to which `extra` is added last, and in its sandbox. A word `PYTHON_MARK` becomes our interpreter's path.
    One that `listens` is spoken to over the network.

    Raises:
        InputError: the skill has no folder, or its sandbox is not available.
    """
    if skill.folder is None:
        message = "a program runs in its skill's folder, and this skill has none; load it from a skill.json"
        raise InputError(message, source=skill.key)
    env = child_environment({**config.env, **(extra or {})}, config.pass_env)
    words = tuple(sys.executable if word == PYTHON_MARK else word for word in argv)
    launch = Launch(argv=words, cwd=skill.folder, env=env, limits=config.limits, program=words[0] if words else "")
    if config.sandbox.type != "none":
        launch = _in_sandbox(launch, config, listens=listens)
    return replace(launch, argv=limited(launch.argv, config.limits)) if launch.argv else launch


def _in_sandbox(launch: Launch, config: ProcessConfig, *, listens: bool) -> Launch:
    from eval_skills.adapters.sandbox.bubblewrap import PRIVATE_TMP, sandboxed, why_no_sandbox

    if problem := why_no_sandbox():
        raise InputError(problem, source=launch.cwd, path="adapterConfig.sandbox")
    if listens and not config.network:
        message = "a service in a sandbox without the network cannot be reached; allow it with adapterConfig.network: true"
        raise InputError(f"{message} or --sandbox-network all", source=launch.cwd, path="adapterConfig.serve")
    env = {**launch.env, "TMPDIR": PRIVATE_TMP}
    show, writable = (_declared(launch.cwd, config, name) for name in ("show", "writable"))
    if not launch.argv:
        return replace(launch, env=env)
    confined = sandboxed(
        launch.argv,
        folder=launch.cwd,
        env=env,
        network=config.network,
        hidden=map(Path, config.hidden_paths),
        show=show,
        writable=writable,
        processes=config.sandbox_processes,
        folder_mb=config.sandbox_mb,
    )
    return replace(launch, argv=confined.argv, env=env, view=confined.view)


def refuse_paths(skill: Skill, config: ProcessConfig) -> None:
    """Refuse paths of a sandbox that cannot be shown, or must not be.

    Raises:
        InputError: one does not exist, or is where the expected answers are.
    """
    if skill.folder is not None and config.sandbox.type != "none":
        for name in ("show", "writable"):
            _declared(skill.folder, config, name)


def _declared(folder: Path, config: ProcessConfig, name: str) -> list[Path]:
    """The paths that a skill asks to see, or to write to, in its sandbox.

    Raises:
        InputError: one does not exist, or is where the expected answers are.
    """
    from eval_skills.adapters.sandbox.bubblewrap import holds_answers

    texts: list[str] = getattr(config.sandbox, name)
    paths = [folder / Path(text).expanduser() for text in texts]
    for index, path in enumerate(paths):
        problem = "" if path.exists() else "does not exist; create it, or leave it out"
        if not problem and holds_answers(path, folder, map(Path, config.hidden_paths)):
            problem = "is hidden from every skill, for the expected answers are there; leave it out"
        if problem:
            raise InputError(f"{path} {problem}", source=folder, path=f"adapterConfig.sandbox.{name}[{index}]")
    return [Path(os.path.abspath(path)) for path in paths]


ALLOWED = frozenset({"PATH", "HOME", "LANG", "TZ", "TMPDIR"})
ALLOWED_PREFIX = "LC_"


def child_environment(extra: Mapping[str, str], passed: Iterable[str], ours: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a child: the allowed variables of `ours` (default: this process's), those named in
    `passed`, and `extra`, which wins. A variable that is not set is left out.
    """
    ours = os.environ if ours is None else ours
    names = {name for name in ours if name in ALLOWED or name.startswith(ALLOWED_PREFIX)} | set(passed)
    return {name: ours[name] for name in sorted(names) if name in ours} | dict(extra)
