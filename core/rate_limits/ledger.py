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
        self._is_published = self._is_private = self._has_joined = False

    @contextmanager
    def pace(self, *, publish: bool = False) -> Iterator[Pace]:
        """The pace to read and change; changes are what the others know, too. With `publish` they know it from now on."""
        with self._lock, self._locked_file(publish=publish) as file:
            if file is None:
                yield self._own
                return
            self._own = self._shared(file)
            yield self._own
            os.pwrite(file, self._own.packed(), 0)

    @contextmanager
    def _locked_file(self, *, publish: bool) -> Iterator[int | None]:
        """The file, which nobody else reads or writes meanwhile; None where there is none."""
        file = None if self._is_private else self._opened(publish=publish)
        if file is None:
            yield None
            return
        try:
            self._is_private = not _lock(file)
            yield None if self._is_private else file
        finally:
            os.close(file)  # which unlocks it

    def _opened(self, *, publish: bool) -> int | None:
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            if publish and not self._is_published:
                self._is_published = True
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                _remove_unused(self._path.parent)
            return os.open(self._path, flags | (os.O_CREAT if publish else 0), 0o600)
        except FileNotFoundError:
            return None
        except OSError:
            self._is_private = True
            return None

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


def _lock(file: int) -> bool:
    """Lock the file; false: it could not be locked in time, or its file system has no locks."""
    until = time.monotonic() + LOCK_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(0.001)
        except OSError:
            return False
        else:
            return True


def _remove_unused(folder: Path) -> None:
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.endswith(".pace") and time.time() - entry.stat().st_mtime > UNUSED_S:
                os.unlink(entry.path)
