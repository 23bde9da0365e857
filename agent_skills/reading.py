"""Reading a folder that others wrote: regular files within it and nothing else, each in bounded size."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class Unreadable(Exception):
    """Why a file was not read, as the end of a sentence: ``is not a regular file``."""


def read_inside(file: Path, root: Path, limit: int) -> bytes:
    """The content of a regular file below `root`; a link is followed where it stays below `root`.

    Raises:
        Unreadable: the file is not there, not a regular file (a FIFO, a device, a folder), larger than `limit` bytes, cannot be
            read, or a link leads out of `root`.
    """
    try:
        real = Path(os.path.realpath(file, strict=True))
        if not real.is_relative_to(os.path.realpath(root)):
            raise Unreadable(f"is a link that leads out of the folder, to {real}")
        # A FIFO that nobody writes to would block, and a device might do anything: looked at before it is opened, and after.
        if not stat.S_ISREG(real.lstat().st_mode):
            raise Unreadable("is not a regular file")
        descriptor = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from None
    with open(descriptor, "rb") as content:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable("is not a regular file")
        if found.st_size > limit:
            raise Unreadable(f"has {found.st_size:,} bytes; at most {limit:,} are read")
        try:
            data = content.read(limit + 1)
        except OSError as error:
            raise Unreadable(f"cannot be read: {error.strerror}") from None
    if len(data) > limit:
        raise Unreadable(f"has more than {limit:,} bytes")
    return data
