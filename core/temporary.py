"""Folders for temporary files in which programs work that nobody has read: made, removed, and swept after a run that was killed.

Such a program may have moved its folder, put a link in its place, closed folders to us, nested them by the thousand or mounted a
file system. What is removed is what the folder itself holds, by its own number: no link is followed, and nothing that is
mounted in it is touched.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

_NAME = re.compile(r"eval-skills-[a-z]+-\d+-[a-z0-9_]{8}")
PID_DIGITS = 7
"""As many as Linux lets a process id have."""

_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602
"""FS_IOC_GETFLAGS and FS_IOC_SETFLAGS of <linux/fs.h>."""

_FROZEN = 0x10 | 0x20
"""FS_IMMUTABLE_FL and FS_APPEND_FL: such a file cannot be removed."""


@dataclass(slots=True)
class TemporaryFolder:
    """A new folder, readable for this user alone. `fd` is the folder itself, whatever becomes of its `path`.

    While this process lives it holds a lock on it, which the system takes back however the process ends: by that `sweep` tells
    what nobody needs any more, also where process ids are of another container.
    """

    path: Path
    fd: int

    @classmethod
    def make(cls, kind: str) -> TemporaryFolder:
        """A new one, below the folder for temporary files; `kind`, lower-case letters, and our process id are in its name.

        All names of a kind have one length: an agent's prompt has the path in it, and would else take more tokens in one run than
        in another.
        """
        made = Path(os.path.realpath(tempfile.mkdtemp(prefix=f".eval-skills-{kind}-")))
        fd = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with suppress(OSError):  # a file system without locks: then nothing is swept either
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path = made.with_name(f"eval-skills-{kind}-{os.getpid():0{PID_DIGITS}d}-{made.name[-8:]}")  # only now does a sweep see it
        os.rename(made, path)
        return cls(path, fd)

    def remove(self) -> str:
        """Remove all of it; what is left and why, as a phrase, "" for nothing. Programs that work in it have ended."""
        try:
            return _Removal(self.fd).run(self.path)
        finally:
            os.close(self.fd)


def sweep() -> None:
    """Remove the folders that processes left which are gone: those of this user alone, and none that a process still holds."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as listed:
        for entry in listed:
            if _NAME.fullmatch(entry.name):
                _remove_abandoned(Path(entry.path))


def _remove_abandoned(path: Path) -> None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if os.fstat(fd).st_uid == os.geteuid():
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _Removal(fd).run(path)
    except OSError:  # its owner is there
        return
    finally:
        os.close(fd)


def let_in(fd: int, name: str) -> None:
    """Make a folder or an ordinary file that lies in an open folder readable for us, where it is ours; nothing else, and no link.

    Raises:
        OSError: it is gone, or not ours.
    """
    if hasattr(os, "O_PATH"):
        here = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        try:
            if ours := _ours(os.fstat(here).st_mode):
                os.chmod(f"/proc/self/fd/{here}", ours)
        finally:
            os.close(here)
    elif ours := _ours(os.lstat(name, dir_fd=fd).st_mode):
        os.chmod(name, ours, dir_fd=fd)


def _ours(mode: int) -> int:
    """The permissions of a folder or an ordinary file with those that we need; 0 where nothing is to be changed."""
    needed = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR if stat.S_ISREG(mode) else 0
    return 0 if mode & needed == needed else stat.S_IMODE(mode) | needed


@dataclass(slots=True)
class _Removal:
    """Removes an open folder. Folders in folders are moved up first, so that none lies too deep to be reached."""

    fd: int
    problems: list[str] = field(default_factory=list)
    _new: Iterator[str] = field(default_factory=lambda: (f"{secrets.token_hex(8)}-{number}" for number in count()))

    def run(self, path: Path) -> str:
        place = _place_of(self.fd, path)
        self._unmount(place)
        if not self.problems:
            self._open_up(place)
            self._empty()
            if place.exists() and _is_same(place, self.fd):
                self._try(lambda: os.rmdir(place), str(place))
        if place != path and os.path.lexists(path):  # it was moved, and something else put in its place
            self._try(lambda: path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink(), str(path))
        return f"what a program left in {place} could not be removed: {self.problems[0]}" if self.problems else ""

    def _open_up(self, place: Path) -> None:
        with suppress(OSError):
            _thaw(self.fd)
        self._try(lambda: os.fchmod(self.fd, 0o700), str(place))

    def _unmount(self, place: Path) -> None:
        for point in reversed(_mounts_below(place)):
            with suppress(OSError):
                subprocess.run(["umount", "-l", "--", point], check=False, capture_output=True)  # noqa: S603, S607
        self.problems += [f"a file system is mounted at {point}" for point in _mounts_below(place)]

    def _empty(self) -> None:
        pending = os.listdir(self.fd)
        while pending:
            name = pending.pop()
            self._try(lambda name=name: pending.extend(self._remove(name)), name)  # type: ignore[misc]

    def _remove(self, name: str) -> list[str]:
        """Remove an entry; the new names of folders that were in it."""
        if not stat.S_ISDIR(os.lstat(name, dir_fd=self.fd).st_mode):
            _thawed(self.fd, name, lambda: os.unlink(name, dir_fd=self.fd))
            return []
        let_in(self.fd, name)
        with _opened(self.fd, name) as folder:
            with os.scandir(folder) as listed:
                entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listed]
            moved = [self._move_up(folder, each) for each, is_dir in entries if is_dir]
            for each in (each for each, is_dir in entries if not is_dir):
                _thawed(folder, each, lambda each=each: os.unlink(each, dir_fd=folder))  # type: ignore[misc]
        _thawed(self.fd, name, lambda: os.rmdir(name, dir_fd=self.fd))
        return moved

    def _move_up(self, folder: int, name: str) -> str:
        new = next(self._new)
        let_in(folder, name)
        _thawed(folder, name, lambda: os.rename(name, new, src_dir_fd=folder, dst_dir_fd=self.fd))
        return new

    def _try(self, do: Callable[[], None], what: str) -> None:
        try:
            do()
        except FileNotFoundError:
            return
        except OSError as error:
            self.problems.append(f"{what}: {error.strerror}")


@contextmanager
def _opened(fd: int, name: str) -> Iterator[int]:
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
    try:
        yield folder
    finally:
        os.close(folder)


def _thawed(folder: int, name: str, do: Callable[[], None]) -> None:
    """Do what the flags of a folder, or of an entry in it, may forbid; then without them, as far as we may clear them."""
    try:
        do()
    except PermissionError:
        with suppress(OSError):
            _thaw(folder)
            if stat.S_IFMT(os.lstat(name, dir_fd=folder).st_mode) in (stat.S_IFREG, stat.S_IFDIR):
                entry = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                try:
                    _thaw(entry)
                finally:
                    os.close(entry)
        do()


def _thaw(fd: int) -> None:
    flags = int.from_bytes(fcntl.ioctl(fd, _GET_FLAGS, bytes(8))[:4], "little")
    if flags & _FROZEN:
        fcntl.ioctl(fd, _SET_FLAGS, (flags & ~_FROZEN).to_bytes(8, "little"))


def _place_of(fd: int, path: Path) -> Path:
    """Where an open folder is now, as far as the system tells."""
    with suppress(OSError):
        return Path(os.readlink(f"/proc/self/fd/{fd}"))
    return path


def _is_same(path: Path, fd: int) -> bool:
    return os.path.samestat(path.lstat(), os.fstat(fd))


def _mounts_below(place: Path) -> list[str]:
    """Where file systems are mounted at or below a folder, in the order in which they were."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    points = [re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), line.split(" ")[4]) for line in lines]
    return [point for point in points if f"{point}/".startswith(f"{place}/")]
