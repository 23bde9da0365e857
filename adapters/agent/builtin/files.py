"""Reading, writing and listing in the workspace of an agent, and nowhere else.

Every path is followed from the open folder, part by part, and no part may be a link: neither a link that is there nor one that is
put in place meanwhile leads out of it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAX_READ_BYTES = 100_000
"""How much of a file one call reads."""

MAX_WRITE_BYTES = 10_000_000
MAX_LISTED = 500

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Refused(Exception):
    """What the agent asked for is not done; the message says why, and is the tool's result."""


class WorkspaceFiles:
    """The files below an open folder, which the agent knows as `folder`."""

    def __init__(self, fd: int, folder: Path) -> None:
        self._fd, self._folder = fd, folder

    def read(self, path: str, offset: int = 0) -> str:
        """A file as text, from a byte on.

        Raises:
            Refused: it is not there, not a file, or not in the workspace.
        """
        with self._opened(path, os.O_RDONLY) as fd:
            size = os.fstat(fd).st_size
            data = os.pread(fd, MAX_READ_BYTES, offset)
        if b"\0" in data:
            return f"{path} is a binary file of {size:,} bytes"
        rest = size - offset - len(data)
        more = f"\n[{rest:,} more bytes; read on with offset {offset + len(data)}]" if rest > 0 else ""
        return data.decode("utf-8", "replace") + more

    def write(self, path: str, content: str) -> str:
        """Write a text to a file, which is made, with the folders above it, or replaced.

        Raises:
            Refused: it is too long, a folder, or not in the workspace.
        """
        data = content.encode("utf-8", "replace")
        if len(data) > MAX_WRITE_BYTES:
            raise Refused(f"{len(data):,} bytes are too many for one file; write at most {MAX_WRITE_BYTES:,}")
        with self._opened(path, os.O_WRONLY | os.O_CREAT) as fd:
            os.ftruncate(fd, 0)
            written = 0
            while written < len(data):
                written += os.write(fd, data[written:])
        return f"wrote {len(data):,} bytes to {path}"

    def listing(self, path: str = ".") -> str:
        """What is in a folder, a line for each entry; folders end in ``/``.

        Raises:
            Refused: it is not there, not a folder, or not in the workspace.
        """
        with self._folder_of(self._parts(path), path, make=False) as fd, os.scandir(fd) as listed:
            lines = sorted(_line(entry) for entry in listed)
        more = f"\n[{len(lines) - MAX_LISTED:,} more entries]" if len(lines) > MAX_LISTED else ""
        return ("\n".join(lines[:MAX_LISTED]) or "(empty)") + more

    def _parts(self, path: str) -> list[str]:
        if "\0" in path:
            raise Refused("a path has no NUL in it")
        plain = os.path.normpath(path or ".")
        if os.path.isabs(plain):
            if not Path(plain).is_relative_to(self._folder):
                raise Refused(f"{path} is not in the workspace, {self._folder}")
            plain = str(Path(plain).relative_to(self._folder))
        parts = [part for part in plain.split(os.sep) if part not in ("", ".")]
        if ".." in parts:
            raise Refused(f"{path} is not in the workspace, {self._folder}")
        return parts

    @contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        parts = self._parts(path)
        if not parts:
            raise Refused(f"{path} is a folder")
        with self._folder_of(parts[:-1], path, make=bool(flags & os.O_CREAT)) as folder, _said_of(path):
            fd = os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644, dir_fd=folder)
            try:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise Refused(f"{path} is not a file; list shows what is there")
                yield fd
            finally:
                os.close(fd)

    @contextmanager
    def _folder_of(self, parts: list[str], path: str, *, make: bool) -> Iterator[int]:
        here = os.dup(self._fd)
        try:
            for part in parts:
                with _said_of(path):
                    if make:
                        _make(part, here)
                    below = os.open(part, _FOLDER, dir_fd=here)
                os.close(here)
                here = below
            yield here
        finally:
            os.close(here)


def _make(name: str, folder: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=folder)
    except FileExistsError:
        return


@contextmanager
def _said_of(path: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise Refused(f"there is no {path}") from None
    except OSError as error:
        raise Refused(f"{path}: {error.strerror} (links are not followed)") from None


def _line(entry: os.DirEntry[str]) -> str:
    name = entry.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if entry.is_symlink():
        return f"{name} (a link)"
    if entry.is_dir(follow_symlinks=False):
        return f"{name}/"
    try:
        return f"{name} ({entry.stat(follow_symlinks=False).st_size:,} bytes)"
    except OSError:
        return name
