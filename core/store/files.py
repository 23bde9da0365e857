"""Files that are written whole or not at all, whatever stops the process or the machine; and one writer per run."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from threading import get_native_id
from time import sleep
from typing import TYPE_CHECKING

from eval_skills.core.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from types import TracebackType


KEPT = "what is there is kept, so call the command again"


@contextmanager
def explained(place: Path | str, kept: str | Callable[[], str] = KEPT) -> Iterator[None]:
    """Report a failed write to `place` inside as an error of the user's machine, with the cause, a remedy and what is `kept`.

    Raises:
        RunError: with the operating system's reason, and what to do.
    """
    try:
        yield
    except OSError as error:
        cause = os.strerror(error.errno) if error.errno else " ".join(str(error).split())
        remedy = _remedy(error, "choose a folder that can be written")
        said = kept if isinstance(kept, str) else kept()
        raise RunError(f"cannot write to {place}: {cause}; {remedy}; {said}") from error


def _remedy(error: OSError, otherwise: str) -> str:
    return "free disk space" if error.errno in _NO_SPACE else otherwise


_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


PRIVATE = 0o700
"""The mode of folders that are made for results: they hold answers, which are nobody else's business."""


def names_in(folder: Path | str) -> list[str]:
    """The names of what is in a folder, in no order; none where it is not there."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def openness(folder: Path) -> int:
    """The mode for what is made in `folder`: as open as it is; private where it is not there yet, or everybody's, as ``/tmp``."""
    try:
        mode = folder.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return PRIVATE
    return PRIVATE if mode & stat.S_ISVTX else PRIVATE | mode & 0o777


def create(path: Path, mode: int) -> None:
    """Make an empty file, unless it is there, for those who may read and write in a folder of this mode (less the umask)."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, mode & 0o666))


def write_whole(path: Path, content: bytes, *, mode: int = 0o777) -> None:
    """Write a file so that every reader sees the old content or the new one; its folder is created.

    `mode` is that of folders that are made, and the file may be read and written by the same people; less the umask.
    """
    write_pieces(path, (content,), mode=mode)


def write_pieces(path: Path, content: Iterable[bytes], *, mode: int = 0o777) -> None:
    """The same, for content that need not be in memory at once.

    Of two threads, as of two processes, that write a file at once, one is the last, and neither fails.
    """
    make_folder(path.parent, mode)
    scratch = path.with_name(f".{path.name}.{get_native_id()}.tmp")  # no other thread of the machine has this id
    try:
        create(scratch, mode)
        with scratch.open("wb") as file:
            file.writelines(content)
        replace_durably(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def refuse_where_no_file_fits(path: Path) -> None:
    """Refuse a place for a file; it need not exist, and may be longer than names can be.

    Raises:
        UsageError: it is a folder, or what should be a folder above it is a file.
    """
    if os.path.isdir(path):  # False for a name that is too long, where Path.is_dir raises
        raise UsageError(f"{path} is a folder; a file of this name is to be written")
    if blocking := next((parent for parent in path.parents if os.path.lexists(parent) and not os.path.isdir(parent)), None):
        raise UsageError(f"{blocking} is a file; a folder of this name is needed")


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make `folder` and what is missing above it, and return when their names are on disk; a folder that is there stays as it is.

    The umask is taken from `mode`.

    Without that, a power cut could take the folder, and with it every file in it, however well that was synced itself.
    """
    missing = [each for each in (folder, *folder.parents) if not each.is_dir()]
    for each in reversed(missing):
        each.mkdir(mode, exist_ok=True)
        sync_folder(each.parent)


def replace_durably(scratch: Path, path: Path) -> None:
    """Rename `scratch` to `path` (same folder, replacing what is there), with its content and its name on disk."""
    sync_file(scratch)
    scratch.replace(path)
    sync_folder(path.parent)


_short_lived: set[str] = set()


def keep_briefly(folder: str) -> frozenset[str]:
    """Make no write below `folder` wait for the disk, in this process: it is removed soon, and not needed after a power cut.

    Returns how the paths below it begin.
    """
    below = frozenset({f"{folder}/", f"{os.path.realpath(folder)}/"})
    _short_lived.update(below)
    return below


@contextmanager
def short_lived_folder() -> Iterator[str]:
    """A new folder, removed at the end, in which nothing waits for the disk."""
    with TemporaryDirectory(prefix="eval-skills-") as folder:
        below = keep_briefly(folder)
        try:
            yield folder
        finally:
            _short_lived.difference_update(below)


def sync_file(path: Path) -> None:
    """Return when the content of the file is on disk."""
    _sync(path, os.O_RDONLY)


def sync_folder(path: Path) -> None:
    """Return when the names in the folder are on disk."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    if _is_short_lived(path):
        return
    fd = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_open(fd: int, path: Path) -> None:
    """Return when the content of the open file, which is at `path`, is on disk."""
    if not _is_short_lived(path):
        os.fsync(fd)


def _is_short_lived(path: Path) -> bool:
    return bool(_short_lived) and f"{path}/".startswith(tuple(_short_lived))


def is_locked(journal: Path) -> bool:
    """Whether a process holds the `RunLock` of this journal just now."""
    try:
        fd = os.open(journal.with_suffix(".lock"), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


_TRIES, _BETWEEN_TRIES_S = 3, 0.01
LOOK_AGAIN_S = 0.5


class RunLock:
    """The exclusive right to change a run's journal, for as long as it is open.

    It is a lock on a small file beside the journal that holds the owner's process id. The system frees it when the process
    dies, however it dies; the file itself is removed when the lock is released. `what` names what is locked where it is not
    a run. `mode` is that of folders that are made.

    Raises:
        UsageError: another writer holds it; the message names its process.
        RunError: the folder cannot be written.
    """

    def __init__(self, journal: Path, *, what: str | None = None, mode: int = PRIVATE) -> None:
        self._path = journal.with_suffix(".lock")
        self._what = what or f"run {self._path.parent.name}"
        self._fd = -1
        try:
            make_folder(self._path.parent, mode)
            while not self._acquire():
                pass
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, str(os.getpid()).encode(), 0)
        except OSError as error:
            self.release()
            remedy = _remedy(error, "choose a store folder that can be written")
            raise RunError(f"cannot lock {self._path}: {error.strerror}; {remedy}") from None

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._fd >= 0:
            with suppress(OSError):  # in a folder that is read-only by now it stays; that no process holds it is what counts
                self._path.unlink(missing_ok=True)
            self._give_up()

    def __enter__(self) -> RunLock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def _acquire(self) -> bool:
        """Whether the lock is ours; False when the former owner removed the file before we locked it."""
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, openness(self._path.parent) & 0o666)
        try:
            self._lock()
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

    def _lock(self) -> None:
        """Take the lock; who only looks whether it is held (`is_locked`) lets go of it at once."""
        for _ in range(_TRIES - 1):
            with suppress(BlockingIOError):
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            sleep(_BETWEEN_TRIES_S)
        fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._fd), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _give_up(self) -> None:
        os.close(self._fd)
        self._fd = -1


def once_free(lock: Callable[[], RunLock]) -> RunLock:
    """What `lock` takes, as soon as no other process holds it."""
    while True:
        try:
            return lock()
        except UsageError:
            sleep(LOOK_AGAIN_S)
