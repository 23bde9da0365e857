"""Files of caches: where they are, and how one appears whole."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def cache_folder(name: str) -> Path:
    """``eval-skills/NAME`` in the user's folder of caches (``XDG_CACHE_HOME``, else ``~/.cache``)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "eval-skills" / name


def write_entry(path: Path, content: bytes) -> None:
    """Write an entry under another name first; it is not synced to disk, since one that a crash loses is made again.

    Its folder is created for the user alone.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(scratch).replace(path)
    finally:
        with suppress(FileNotFoundError):
            Path(scratch).unlink()
