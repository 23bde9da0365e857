"""Does a command succeed in the workspace that the agent left? It runs in a copy of that, in a sandbox without network."""

from __future__ import annotations

import asyncio
import contextlib
import re
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated

from pydantic import Field

from eval_skills.agent_skills.documents import inner_path
from eval_skills.core.errors import InputError, ScorerError
from eval_skills.core.models import EvalTask, Reason, SkillResponse, WorkspaceFile
from eval_skills.core.models.base import Text
from eval_skills.core.models.response import LEFT_OUT_FOLDERS
from eval_skills.core.temporary import TemporaryFolder
from eval_skills.core.text import excerpt, one_line
from eval_skills.scorers.code.jail import Bounds, jailed_command, why_no_jail
from eval_skills.scorers.files.workspace import Given, changes_of, content_of, not_looked_at
from eval_skills.scorers.registry import scorer
from eval_skills.scorers.score import Score
from eval_skills.scorers.settings import ScoringSettings

_IN_BENCHMARK = re.compile(r"\$(?:BENCHMARK|\{BENCHMARK\})/([^\s\"';|&<>()]+)")
_LEFT_OUT = re.compile(rf"(?<![\w.-])(?P<folder>{'|'.join(map(re.escape, sorted(LEFT_OUT_FOLDERS)))})(?![\w.-])")
_SPARED = re.compile(r"(?:exclude|ignore|(?:-not|!)\s+-i?(?:path|name)|\brm|\brmdir)[^\s;|&]*(?:\s+-\w+)*[\s=]*[\"']?[!*./]*$")
_PRUNED = re.compile(r"[\"'/*]*\s+-prune")
"""What stands around the name of a folder that a command leaves out or removes: ``--exclude-dir=``, ``-not -path './`` …."""
_SHOWN_BYTES, _SHOWN_CHARS = 16_384, 1_000
_NOT_RUN = {126: "may not be executed", 127: "was not found"}
"""Exit codes of a shell that could not start what it was told to."""


@scorer("command_passes")
@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPasses:
    """1 when the shell `command` ends with exit code 0 in the workspace that the agent left, else 0.

    The workspace is made anew from the files that the task gives and what the agent changed; the folder is the command's to
    write in, and gone afterwards. It runs in a sandbox (bubblewrap) without network, with the system's programs and Python's
    standard library; ``$BENCHMARK`` is the benchmark's folder, read-only, where a check can lie that the agent never saw. Files
    that the agent made are not executable. ``timeoutMs`` bounds its time, ``memoryMb`` its memory; a command that runs into a
    limit fails. Its output is in the reason.

    The benchmark brings the command, hence ``allow_custom_code``. A command that cannot be started, one that names a folder that
    is not looked at (``node_modules``, ``.venv``, ``__pycache__``; other than to leave it out, as with ``--exclude-dir``), a
    file whose content was not kept for its size, and an answer that does not say what changed in a workspace, are errors of the
    item, never a verdict. A script that looks into such a folder finds nothing there.

    Raises:
        InputError: custom code is not allowed.
    """

    command: Text
    timeout_ms: Annotated[int, Field(gt=0, le=600_000)] = 60_000
    memory_mb: Annotated[int, Field(ge=64, le=65_536)] = 2_048
    task: EvalTask
    settings: ScoringSettings

    def __post_init__(self) -> None:
        if not self.settings.allow_custom_code:
            message = "command_passes runs a command that the benchmark brings; read it, then allow it with --allow-custom-code"
            raise InputError(message, path="command")
        if "\0" in self.command:
            raise InputError("a command cannot hold a null character; remove it", path="command")

    @property
    def code_files(self) -> tuple[Path, ...]:
        """The files of the benchmark that the command names by ``$BENCHMARK``."""
        folder = self.task.folder or self.settings.benchmark_folder
        paths = [] if folder is None else [folder / name for name in _IN_BENCHMARK.findall(self.command)]
        return tuple(path for path in paths if path.is_file())

    async def score(self, response: SkillResponse) -> Score:
        """1 or 0; the reason has the exit code and the end of what the command wrote.

        Raises:
            ScorerError: no sandbox works here, the command cannot be started, or the workspace cannot be made anew.
        """
        changes = changes_of(response)
        self._refuse_left_out(changes)
        if problem := await asyncio.to_thread(why_no_jail):
            raise ScorerError(f"commands run in a sandbox only: {problem}")
        with _folder() as folder:
            workspace = folder / "workspace"
            await asyncio.to_thread(rebuild, workspace, Given.of(self.task, self.settings), changes)
            with (folder / "output").open("w+b") as output:
                code = await self._run(workspace, output)
                said = await asyncio.to_thread(_end_of, output)
        if code in _NOT_RUN:
            raise ScorerError(f"the command {_NOT_RUN[code]} in the sandbox (exit code {code}){said}")
        ended = f"did not end within {self.timeout_ms} ms" if code is None else f"exit code {code}"
        if code == 0:
            return Score(1.0, reason=f"{ended}{said}")
        message = f"expected exit code 0 of {excerpt(self.command, 100)}, got {ended}{said}"
        return Score(0.0, reasons=(Reason(code="COMMAND_FAILED", message=message, where="files"),))

    def _refuse_left_out(self, changes: list[WorkspaceFile]) -> None:
        """Refuse a command that names a folder that is left out of what is kept, other than to leave it out as well.

        Raises:
            ScorerError: it names one.
        """
        for match in _LEFT_OUT.finditer(self.command):
            is_kept = any(match["folder"] in change.path.split("/")[:-1] for change in changes)
            if not is_kept and not self._spares(match):
                raise not_looked_at(match["folder"], f"the command {excerpt(self.command, 100)}")

    def _spares(self, match: re.Match[str]) -> bool:
        before, after = self.command[: match.start()], self.command[match.end() :]
        return _SPARED.search(before) is not None or _PRUNED.match(after) is not None

    async def _run(self, workspace: Path, output: IO[bytes]) -> int | None:
        """The exit code; None where the time was up. Everything that it started is gone afterwards."""
        bounds = Bounds(cpu_s=max(1, -(-self.timeout_ms // 1000)), memory_mb=self.memory_mb)
        folder = self.task.folder or self.settings.benchmark_folder
        process = await asyncio.create_subprocess_exec(
            *jailed_command(self.command, workspace, None if folder is None else folder.resolve()),
            stdin=DEVNULL, stdout=output, stderr=output, env={}, start_new_session=True, preexec_fn=bounds.apply,
        )  # fmt: skip
        try:
            async with asyncio.timeout(self.timeout_ms / 1000):
                return await process.wait()
        except TimeoutError:
            return None
        finally:
            await _end(process)


def rebuild(workspace: Path, given: Given, changes: list[WorkspaceFile]) -> None:
    """Make the workspace as the agent left it, in a folder that does not exist yet. Files only: there are no links in it.

    Raises:
        ScorerError: a content is missing, or paths cannot be: one leads out of the folder, or is a file and a folder.
    """
    workspace.mkdir()
    changed = {change.path for change in changes}
    for path in given.files:
        if path not in changed:
            _write(workspace, path, given.read(path))
    for change in changes:
        if change.change != "deleted":
            _write(workspace, change.path, content_of(change))


def _write(workspace: Path, path: str, content: bytes) -> None:
    try:
        file = workspace / inner_path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ScorerError(f"the workspace cannot be made anew: {excerpt(path, 200)}: {why}") from None


@contextmanager
def _folder() -> Iterator[Path]:
    folder = TemporaryFolder.make("check")
    try:
        yield folder.path
    finally:
        folder.remove()


def _end_of(output: IO[bytes]) -> str:
    """What was written last, on one line, to be put behind a message; "" for nothing."""
    output.seek(0, 2)
    output.seek(max(0, output.tell() - _SHOWN_BYTES))
    text = " ".join(output.read().decode("utf-8", "replace").split())
    return f": {one_line(text if len(text) <= _SHOWN_CHARS else f'… {text[-_SHOWN_CHARS:]}', _SHOWN_CHARS + 2)}" if text else ""


async def _end(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()  # all that is in its sandbox ends with it
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(5):
            await process.wait()
