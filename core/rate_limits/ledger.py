"""The pace of one service, as all processes of this user on this machine know it: a small file under a lock."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock

from eval_skills.core.rate_limits.pace import SIZE, Pace

LOCK_S = 0.25
"""So long the lock is waited for, which is held for microseconds: a process that was stopped in the middle stops no other."""

UNUSED_S = 86_400.0
"""Files of services that were not asked for so long are removed."""


class Ledger:
    """The pace of the service of this name, in `folder`. Until it is published, it is this process's alone, and there is no file.

    It may be used from several threads. Where no file can be written or locked, the pace stays this process's own.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:32]}.pace"
        self._lock, self._own = RLock(), Pace()
        self._file: int | None = None
        self._pid, self._is_private, self._has_joined = os.getpid(), False, False

    @contextmanager
    def pace(self, *, publish: bool = False) -> Iterator[Pace]:
        """The pace to read and change; changes are what the others know, too. With `publish` they know it from now on."""
        with self._lock:
            file = self._opened(publish=publish)
            if file is None or not self._locked(file):
                yield self._own
                return
            try:
                self._own = self._shared(file)
                yield self._own
                os.pwrite(file, self._own.packed(), 0)
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)

    def _opened(self, *, publish: bool) -> int | None:
        if self._pid != os.getpid():  # a lock of the process that forked is not one of our own
            self._file, self._pid = None, os.getpid()
        if self._file is not None or self._is_private or not (publish or self._path.exists()):
            return self._file
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if publish:
                _remove_unused(self._path.parent)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            self._is_private = True
        return self._file

    def _locked(self, file: int) -> bool:
        until = time.monotonic() + LOCK_S
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < until:
                    time.sleep(0.001)
                    continue
            except OSError:  # a file system without locks
                pass
            else:
                return True
            self._is_private, self._file = True, None
            os.close(file)
            return False

    def _shared(self, file: int) -> Pace:
        """What stands in the file, with what this process alone knew before."""
        found = Pace.unpacked(os.pread(file, SIZE, 0))
        joins, self._has_joined = not self._has_joined, True
        if found is None:
            return self._own
        found.refresh(time.time())
        if joins:
            found.joined(self._own)
        return found


def _remove_unused(folder: Path) -> None:
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.endswith(".pace") and time.time() - entry.stat().st_mtime > UNUSED_S:
                os.unlink(entry.path)
