"""The journal of a run: every finished item is recorded at once."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from eval_skills.core.errors import RunError
from eval_skills.core.redaction import Redaction
from eval_skills.core.store.files import RunLock, sync_folder
from eval_skills.core.store.journal_lines import line_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from eval_skills.core.models import ItemResult

SYNC_DELAY_S = 0.2
"""How long a line may wait for the next ones before all of them are synced; with the sync itself, under 0.25 s."""

_TAIL_BYTES = 64 * 1024


class Journal:
    """An append-only file of results, one line each, written by one process at a time.

    When `append` has returned, the line is with the operating system and outlives a kill of this process; at most 0.25 s later
    it outlives a power cut, too. One background thread syncs for all lines of that time, never one by one.
    Opening creates the file and its folder, and cuts off a last line that a kill left incomplete.
    `secrets` maps names to values that are replaced by ``[redacted:NAME]`` before anything is written.

    Raises:
        UsageError: another writer has the journal open.
        RunError: the file cannot be opened.
    """

    def __init__(self, path: Path, *, secrets: Mapping[str, str] | None = None) -> None:
        self.path = path
        self._redaction = Redaction(secrets)
        self._appending = threading.Lock()
        self._dirty, self._closing = threading.Event(), threading.Event()
        self._sync_failure: OSError | None = None
        self._syncer: threading.Thread | None = None
        self._lock = RunLock(path)
        try:
            self._fd = _open_whole(path)
        except OSError as error:
            self._lock.release()
            raise RunError(f"cannot open the journal {path}: {error.strerror}") from None

    def append(self, result: ItemResult) -> None:
        """Record one result; safe from any thread.

        Raises:
            RunError: the line could not be written (a full disk, a closed journal); the journal is as it was before.
        """
        self._check_sync()
        line = line_of(result, self._redaction)
        with self._appending:
            if self._fd < 0:
                raise RunError(f"the journal {self.path} is closed; open it again to append")
            try:
                _write_whole(self._fd, line)
            except OSError as error:
                raise self._failed(error) from None
            if self._syncer is None:
                self._start_syncer()
        self._dirty.set()

    def close(self) -> None:
        """Sync what is not yet synced and let the next writer in; a second call does nothing.

        Raises:
            RunError: the last lines could not be synced.
        """
        with self._appending:
            fd, self._fd = self._fd, -1
        if fd < 0:
            return
        self._closing.set()
        self._dirty.set()
        if self._syncer is not None:
            self._syncer.join()
        try:
            self._sync(fd)
        finally:
            os.close(fd)
            self._lock.release()
        self._check_sync()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _start_syncer(self) -> None:
        self._syncer = threading.Thread(target=self._sync_in_batches, args=(self._fd,), name="journal-sync", daemon=True)
        self._syncer.start()

    def _sync_in_batches(self, fd: int) -> None:
        while not self._closing.is_set():
            self._dirty.wait()
            self._closing.wait(SYNC_DELAY_S)
            # cleared before the sync: a line that arrives during it asks for another one
            self._dirty.clear()
            self._sync(fd)

    def _sync(self, fd: int) -> None:
        try:
            os.fsync(fd)
        except OSError as error:
            self._sync_failure = error

    def _check_sync(self) -> None:
        if self._sync_failure is not None:
            raise self._failed(self._sync_failure)

    def _failed(self, error: OSError) -> RunError:
        run_id = self.path.parent.name
        return RunError(
            f"cannot write {self.path}: {error.strerror}; what it holds is kept: free disk space, then resume run {run_id}"
        )


def _open_whole(path: Path) -> int:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(fd).st_size
        if (whole := _end_of_last_line(fd, size)) < size:
            os.ftruncate(fd, whole)
            os.fsync(fd)
        sync_folder(path.parent)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _end_of_last_line(fd: int, size: int) -> int:
    end = size
    while end > 0:
        start = max(0, end - _TAIL_BYTES)
        if (found := os.pread(fd, end - start, start).rfind(b"\n")) >= 0:
            return start + found + 1
        end = start
    return 0


def _write_whole(fd: int, line: bytes) -> None:
    """One write; what the system took only in part is completed, and taken back if that fails."""
    before = os.fstat(fd).st_size
    try:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(fd, rest) :]
    except BaseException:
        os.ftruncate(fd, before)
        raise
