"""An agent that is a program: started for one item, read line by line, and ended with everything that it started."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from eval_skills.adapters.agent.config import AgentConfig, folder_of
from eval_skills.adapters.agent.limits import Enough
from eval_skills.adapters.agent.runtimes.base import AgentRuntime, Command, KeepsRecord
from eval_skills.adapters.agent.transcript import Transcript
from eval_skills.adapters.agent.workspace import Workspace
from eval_skills.adapters.call import CALLED_NOTHING, shield_cleanup
from eval_skills.adapters.process import guard
from eval_skills.adapters.process.child import Child
from eval_skills.adapters.process.launch import PYTHON_MARK, Launch, spawn
from eval_skills.adapters.process.streams import LineSplitter, LongLine, OutputTail, last_lines
from eval_skills.adapters.sandbox.bubblewrap import PRIVATE_TMP, sandboxed
from eval_skills.adapters.sandbox.limits import limited
from eval_skills.core.errors import ContractError, InfraError, SkillCrashed, SkillError, SkillUnavailable
from eval_skills.core.models import Skill
from eval_skills.core.text import one_line, plural

LANG = "C.UTF-8"
"""What agents are told where we are told nothing."""

VERSION_S = 60.0
"""How long an agent may take to say its version; only ends a hang."""

_LINE_BYTES = 4 * 1024 * 1024
_READ_FROM = 'exec "$@" < "$0"'


def program_of(runtime: AgentRuntime, skill: Skill, config: AgentConfig) -> tuple[str, ...]:
    """How the agent's program is started: its path on PATH, or the words of `adapterConfig.command`, of which those that name a
    file of the skill's folder become its path, for the agent works elsewhere.

    Raises:
        InfraError: there is no such program; the message says how to get it.
    """
    if config.command is None:
        if (found := shutil.which(runtime.program)) is None:
            message = f"there is no program {runtime.program!r} on PATH; {runtime.install}, or name it in adapterConfig.command"
            raise InfraError(message, known=CALLED_NOTHING)
        return (found,)
    first, *others = shlex.split(config.command)
    folder = folder_of(skill)
    program = sys.executable if first == PYTHON_MARK else shutil.which(str(folder / first) if "/" in first else first)
    if program is None:
        raise InfraError(f"there is no program {first!r}; adapterConfig.command names it", known=CALLED_NOTHING)
    return (os.path.abspath(program), *(str(folder / word) if os.path.isfile(folder / word) else word for word in others))


def environment(workspace: Workspace, extra: Mapping[str, str], config: AgentConfig) -> dict[str, str]:
    """PATH, HOME, LANG and TMPDIR, what the configuration adds, and `extra`: all that an agent, or its commands, can see."""
    ours = {"PATH": os.environ.get("PATH", os.defpath), "LANG": os.environ.get("LANG", LANG)}
    own = {"HOME": str(workspace.home), "TMPDIR": str(workspace.tmp)}
    passed = {name: os.environ[name] for name in config.pass_env if name in os.environ}
    return {**ours, **passed, **own, **config.env, **extra}


def launch_of_agent(command: Command, program: Sequence[str], workspace: Workspace, skill: Skill, config: AgentConfig) -> Launch:
    """How the agent is started: in its workspace, under a guard that ends what it leaves behind, and in its sandbox, where it
    sees the files that the words of its `program` name."""
    own = folder_of(skill)
    launch = confined_launch(
        command.argv,
        workspace,
        config,
        command.env,
        hidden=hidden_from(skill, config),
        show=[
            *(Path(word) for word in program[1:] if os.path.isfile(word)),
            *(own / Path(text).expanduser() for text in config.sandbox.show),
        ],
        writable=[own / Path(text).expanduser() for text in config.sandbox.writable],
        sandbox=config.sandbox.type != "none",
    )
    if not command.stdin:
        return replace(launch, argv=guard.guarded(launch.argv))
    prompt = workspace.root / "stdin"
    prompt.write_text(command.stdin, encoding="utf-8", errors="replace")
    return replace(launch, argv=guard.guarded(("/bin/sh", "-c", _READ_FROM, str(prompt), *launch.argv)))


def hidden_from(skill: Skill, config: AgentConfig) -> list[Path]:
    """What no agent sees in a sandbox: what every sandbox hides, the folder of the skill, and those of the Agent Skills, where
    the expectations may be; it has copies of all that it needs."""
    own = folder_of(skill)
    return [*map(Path, config.hidden_paths), own, *(own / Path(text).expanduser() for text in config.skills)]


def confined_launch(
    argv: Sequence[str],
    workspace: Workspace,
    config: AgentConfig,
    extra: Mapping[str, str],
    *,
    hidden: Iterable[Path],
    show: Iterable[Path] = (),
    writable: Iterable[Path] = (),
    sandbox: bool,
) -> Launch:
    """How a program is started in a workspace, with the limits of the configuration and, where there is to be a `sandbox`, in one
    in which it can write to the workspace and the home of the item alone."""
    env = environment(workspace, extra, config)
    view: Mapping[Path, bool] = {}
    words = tuple(argv)
    if sandbox:
        env |= {"TMPDIR": PRIVATE_TMP}
        confined = sandboxed(
            argv,
            folder=workspace.folder,
            env=env,
            network=config.network,
            hidden=hidden,
            show=show,
            writable=[workspace.folder, workspace.home, *writable],
            processes=config.sandbox_processes,
            folder_mb=config.sandbox_mb,
        )
        words, view = confined.argv, confined.view
    words = limited(words, config.limits)
    return Launch(argv=words, cwd=workspace.folder, env=env, limits=config.limits, program=argv[0], view=view)


class Program:
    """One run of an agent's program, whose lines are noted in a transcript as they come."""

    def __init__(self, runtime: AgentRuntime, launch: Launch, home: Path, transcript: Transcript, enough: Enough) -> None:
        self._runtime, self._launch, self._home = runtime, launch, home
        self._transcript, self._enough = transcript, enough
        self._lines, self._log = LineSplitter(_LINE_BYTES), OutputTail()
        self._child: Child | None = None
        self._unread, self._has_begun = 0, False
        self._reached: asyncio.Future[None]

    async def run(self) -> None:
        """Run it to its end, or until there is enough of it; then, and when cancelled, it is ended with all that it started.

        Raises:
            ItemError: it could not be started, failed, said nothing, or has reached a limit.
        """
        self._reached = asyncio.get_running_loop().create_future()
        self._child = await spawn(self._launch, self._on_stdout)
        ended_by_itself = False
        try:
            await asyncio.wait([self._child.ended, self._reached], return_when=asyncio.FIRST_COMPLETED)
            ended_by_itself = not self._reached.done()
        finally:
            await shield_cleanup(self._child.stop())
            self._on_line(self._lines.flush_skipping())
            await shield_cleanup(asyncio.to_thread(self._complete, ended_by_itself))
        if (problem := self._enough.problem) is not None:
            raise problem
        if not self._enough.reached:
            self._refuse_failure(self._child)

    def logs(self) -> str:
        """What it printed beside its events."""
        errors = self._child.stderr.text() if self._child is not None else ""
        return "\n".join(text.rstrip("\n") for text in (self._log.text(), errors) if text.strip())

    def _on_stdout(self, data: bytes) -> None:
        for line in self._lines.feed_skipping(data):
            if self._reached.done():
                return
            self._on_line(line)

    def _on_line(self, line: bytes | LongLine) -> None:
        if isinstance(line, LongLine):
            self._unread += 1
            if line.first.lstrip().startswith(b"{"):  # an event, which may tell of a call, or be the answer
                self._transcript.unknown(f"an event of more than {_LINE_BYTES:,} bytes could not be read")
                self._read(line.first.decode("utf-8", "replace"))
            self._log.add(line.first + b" [...] " + line.last + b"\n")
            return
        if not line.strip():
            return
        if self._read(line.decode("utf-8", "replace")):
            self._has_begun = True
        else:
            self._log.add(line + b"\n")
        if self._enough.check(self._transcript) and not self._reached.done():
            self._reached.set_result(None)
            if self._child is not None:
                self._child.mute()

    def _complete(self, ended_by_itself: bool) -> None:
        if ended_by_itself and self._transcript.lacks:
            remark = (
                f"the agent ended without {self._transcript.lacks}: what it did after its last event, if anything, is not known"
            )
            self._transcript.unknown(remark)
            self._log.add(f"{remark}\n".encode())
        if isinstance(self._runtime, KeepsRecord) and (remark := self._runtime.complete(self._home, self._transcript)):
            self._log.add(f"{remark}\n".encode())

    def _read(self, line: str) -> bool:
        try:
            return self._runtime.read(line, self._transcript) is not False
        except Exception:  # noqa: BLE001 - a line that an agent's newer version prints otherwise is a line of its log
            self._transcript.unknown(f"expected an event that can be read, got {one_line(line, 200)}")
            return False

    def _refuse_failure(self, child: Child) -> None:
        code, transcript = child.exited.result(), self._transcript
        said = last_lines(self.logs())
        said = self._launch.hidden_cause(f"; its last lines: {said}") if said else ""
        if transcript.error:
            kind = SkillUnavailable if transcript.transient else SkillError
            raise kind(f"the agent failed: {one_line(transcript.error)}")
        if child.was_not_found and not self._has_begun:  # a missing program tells of nothing
            why = self._launch.why_not_started()
            raise InfraError(f"the agent could not be started ({child.how_it_ended()}){why and ': ' + why}{said}")
        if code:
            what = "ended without an answer" if transcript.output is None else "had answered, and then failed"
            raise SkillCrashed(f"the agent {what} ({child.how_it_ended()}){said}")
        if transcript.output is None:
            raise ContractError(f"the agent ended without an answer ({child.how_it_ended()}){self._unread_lines()}{said}")
        if transcript.unread:
            raise ContractError(f"the agent's answer could not be read: {transcript.unread}{self._unread_lines()}")

    def _unread_lines(self) -> str:
        return f"; {plural(self._unread, 'line')} of more than {_LINE_BYTES:,} bytes could not be read" if self._unread else ""


def missing_for(runtime: AgentRuntime) -> list[str]:
    """The programs that the agent needs beside its own and that are not on PATH, each as a phrase that says what to do."""
    missing = [(name, why) for name, why in runtime.needs.items() if shutil.which(name) is None]
    return [f"there is no program {name!r} on PATH, which {runtime.name} needs: {why}" for name, why in missing]


async def version_of(runtime: AgentRuntime, program: tuple[str, ...]) -> str | None:
    """What the agent says its version is, on one line; None where it says nothing."""
    if not (words := runtime.version(program)):
        return None
    workspace = Workspace.make()
    output = OutputTail(4_000)
    try:
        env = environment(workspace, {}, AgentConfig())
        launch = Launch(argv=guard.guarded(words), cwd=workspace.folder, env=env, program=words[0])
        child = await spawn(launch, output.add)
        try:
            await asyncio.wait([child.ended], timeout=VERSION_S)
        finally:
            await shield_cleanup(child.stop())
    except (InfraError, OSError):
        return None
    finally:
        workspace.remove()
    lines = [line for line in output.text().splitlines() if line.strip()]
    return one_line(lines[-1], 100) if lines else None
