"""Files that are there whole or not at all, whatever stops the process or the machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


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
