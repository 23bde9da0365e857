"""One writer per run, held by the operating system."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from eval_skills.core.errors import RunError, UsageError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


class RunLock:
    """The exclusive right to change a run's journal, for as long as it is open.

    It is a lock on a small file beside the journal that holds the owner's process id. The system frees it when the process
    dies, however it dies; the file itself goes when the lock is released in order. `what` names what is locked where it is no
    run.

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
        """Give the right back; a second call does nothing."""
        if self._fd >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> RunLock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def _acquire(self) -> bool:
        """Whether the lock is ours; False when the former owner removed the file between our opening and locking it."""
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
