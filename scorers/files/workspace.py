"""What is known of an agent's workspace after its run: the files that it was given, and what it changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_skills.agent_skills.documents import inner_path
from eval_skills.agent_skills.fixtures import files_of, placed
from eval_skills.core.errors import InputError, ScorerError
from eval_skills.core.models import EvalTask, SkillResponse, WorkspaceFile
from eval_skills.core.models.response import LEFT_OUT_FOLDERS
from eval_skills.core.text import comparable, excerpt, first_of
from eval_skills.scorers.settings import ScoringSettings

MAX_FIXTURE_BYTES = 64 * 1024 * 1024
"""The longest file of a task that is read for a check."""


def checked_path(path: str) -> str:
    """A path in the workspace, as it is compared.

    Raises:
        InputError: it is empty, absolute, or leads out of the workspace.
    """
    try:
        return inner_path(path)
    except ValueError as error:
        raise InputError(f"{error}; files are named relative to the agent's workspace", path="path") from None


def changes_of(response: SkillResponse) -> list[WorkspaceFile]:
    """What the agent added, changed and deleted.

    Raises:
        ScorerError: it is unknown: the item is an error then, and neither passes nor fails.
    """
    if response.files is None:
        raise ScorerError(
            "FILES_UNKNOWN: the answer does not say what changed in a workspace; only agents report files (adapterType agent)"
        )
    return response.files


@dataclass(frozen=True, slots=True)
class Given:
    """The files that the task gave the agent, by their path in the workspace; they lie in one of the `folders`."""

    files: dict[str, Path | None]

    @classmethod
    def of(cls, task: EvalTask, settings: ScoringSettings) -> Given:
        """Those of a task; None for one that is not in the benchmark's folder."""
        folder = task.folder or settings.benchmark_folder
        found: dict[str, Path | None] = {}
        for name in files_of(task.input_data):
            try:
                path = placed(name)
            except ValueError:
                continue  # the agent was not given it, either
            found |= dict(_listed(path, _source_of(name, folder)))
        return cls(found)

    def read(self, path: str) -> bytes:
        """The content of a file that the agent left as it was.

        Raises:
            ScorerError: it cannot be read any more.
        """
        source = self.files[path]
        if source is None:
            raise ScorerError(f"{path} was given to the agent, and is not in the benchmark's folder: its content is unknown")
        try:
            if source.stat().st_size > MAX_FIXTURE_BYTES:
                raise ScorerError(f"{path} was given to the agent, and has more than {MAX_FIXTURE_BYTES:,} bytes")
            return source.read_bytes()
        except OSError as error:
            raise ScorerError(f"{path} was given to the agent, and cannot be read: {error.strerror}") from None


def _source_of(name: str, folder: Path | None) -> Path | None:
    """Where a file of a task lies: in the benchmark's folder, or above that where it is the folder ``evals/`` of a skill."""
    if folder is None:
        return None
    here = folder.resolve()
    for root in (here, *((here.parent,) if here.name == "evals" else ())):
        source: Path = (root / name).resolve()
        if source.exists() and source.is_relative_to(root):
            return source
    return None


def _listed(path: str, source: Path | None) -> Iterator[tuple[str, Path | None]]:
    """The file, or all files of a folder, without links."""
    if source is None or not source.is_dir():
        yield path, source
        return
    for each in sorted(source.rglob("*")):
        if each.is_file() and not each.is_symlink():
            yield f"{path}/{each.relative_to(source).as_posix()}", each


_last: tuple[list[WorkspaceFile], dict[str, WorkspaceFile]] = ([], {})
"""The changes that were looked at last: the evaluators of a task look at the same ones, one after the other."""


def _by_path(files: list[WorkspaceFile]) -> dict[str, WorkspaceFile]:
    global _last  # one assignment of a pair: no other thread sees half of it
    known, found = _last
    if known is not files:
        found = {comparable(each.path, case_sensitive=True): each for each in files}
        _last = (files, found)
    return found


@dataclass(frozen=True, slots=True)
class Workspace:
    """The workspace as the agent left it."""

    changes: dict[str, WorkspaceFile]
    given: Given

    @classmethod
    def of(cls, response: SkillResponse, task: EvalTask, settings: ScoringSettings) -> Workspace:
        """That of an answer.

        Raises:
            ScorerError: what the agent changed is unknown.
        """
        return cls(_by_path(changes_of(response)), Given.of(task, settings))

    def change(self, path: str) -> WorkspaceFile | None:
        """What the agent did to the file; None where it left it alone.

        Raises:
            ScorerError: the file lies in a folder that is left out of what is kept.
        """
        change = self.changes.get(comparable(path, case_sensitive=True))
        if change is None and (folder := next((part for part in path.split("/")[:-1] if part in LEFT_OUT_FOLDERS), None)):
            raise not_looked_at(folder, excerpt(path, 200))
        return change

    def holds(self, path: str, *, changed: bool = False) -> bool:
        """Whether the file is there; with `changed` whether the agent added or changed it, too."""
        change = self.change(path)
        if change is not None:
            return change.change != "deleted"
        return not changed and path in self.given.files

    def content(self, path: str) -> bytes:
        """The content of a file that is there.

        Raises:
            ScorerError: it was not kept.
        """
        change = self.change(path)
        return self.given.read(path) if change is None else content_of(change)

    def listing(self) -> str:
        """What the agent left, for a reason: the first files that it added or changed."""
        names = [each.path for each in self.changes.values() if each.change != "deleted"]
        return f"it added or changed {first_of(names, 5)}" if names else "it added and changed none"


def not_looked_at(folder: str, what: str) -> ScorerError:
    """That a check asks for what is in a folder that is left out of what is kept of a workspace."""
    return ScorerError(
        f"FILES_UNKNOWN: {what} asks for the folder {folder}, and what an agent leaves in "
        f"{first_of(sorted(LEFT_OUT_FOLDERS), 5)} is not looked at; check a file in another folder"
    )


def content_of(file: WorkspaceFile) -> bytes:
    """The content of a file that was added or changed.

    Raises:
        ScorerError: it was left out for its size, or is not what it says.
    """
    try:
        data = file.data
    except ValueError:
        raise ScorerError(f"the recorded content of {excerpt(file.path, 200)} is not {file.encoding}") from None
    if data is None:
        size = "unknown size" if file.size is None else f"{file.size:,} bytes"
        raise ScorerError(
            f"FILE_NOT_KEPT: the content of {excerpt(file.path, 200)} ({size}) was not kept; it is too long to be checked"
        )
    return data


def asked_text(value: Any) -> tuple[str, ...]:
    """One text or several."""
    return (value,) if isinstance(value, str) else tuple(value)
