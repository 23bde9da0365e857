"""Files that are written whole or not at all, whatever stops the process or the machine; and one writer per run."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from eval_skills.core.errors import RunError, UsageError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that every reader sees the old content or the new one; its folder is created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        scratch.write_bytes(content)
        replace_durably(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def replace_durably(scratch: Path, path: Path) -> None:
    """Rename `scratch` to `path` (same folder, replacing what is there), with its content and its name on disk."""
    sync_file(scratch)
    scratch.replace(path)
    sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Return when the content of the file is on disk."""
    _sync(path, os.O_RDONLY)


def sync_folder(path: Path) -> None:
    """Return when the names in the folder are on disk."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    fd = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class RunLock:
    """The exclusive right to change a run's journal, for as long as it is open.

    It is a lock on a small file beside the journal that holds the owner's process id. The system frees it when the process
    dies, however it dies; the file itself is removed when the lock is released. `what` names what is locked where it is not
    a run.

    Raises:
        UsageError: another writer holds it; the message names its process.
        RunError: the folder cannot be written.
    """

    def __init__(self, journal: Path, *, what: str | None = None) -> None:
        self._path = journal.with_suffix(".lock")
        self._what = what or f"run {self._path.parent.name}"
        self._fd = -1
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            while not self._acquire():
                pass
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, str(os.getpid()).encode(), 0)
        except OSError as error:
            raise RunError(f"cannot lock {self._path}: {error.strerror}; choose a store folder that can be written") from None

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._fd >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> RunLock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def _acquire(self) -> bool:
        """Whether the lock is ours; False when the former owner removed the file before we locked it."""
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._fd, 32, 0).decode(errors="replace") or "unknown"
            self._give_up()
            raise UsageError(
                f"{self._what} is being written by process {owner}; wait until it ends or stop it, then try again"
            ) from None
        if self._is_current():
            return True
        self._give_up()
        return False

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._fd), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _give_up(self) -> None:
        os.close(self._fd)
        self._fd = -1
