"""Replies on disk, so that no model is asked the same question twice: one small JSON file each, named by a digest of the
question.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMAT = 1


@dataclass(frozen=True, slots=True)
class CachedReply:
    """The reply's text, and the model that gave it."""

    text: str
    model: str


class VerdictCache:
    """A folder of replies; several processes may share it.

    An entry appears by rename, so a reader sees all of it or nothing. One that cannot be read, or is not about its key, is a
    miss; `broken` counts them, and the next reply replaces it. Where nothing can be written `unwritable` says why, and judging
    goes on without a cache.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.broken = 0
        self.unwritable = ""

    def read(self, key: str) -> CachedReply | None:
        """The reply under a key (hexadecimal digits); None: there is none yet."""
        try:
            entry = json.loads(self._file(key).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            self.broken += 1
            return None
        if not _is_entry(entry, key):
            self.broken += 1
            return None
        return CachedReply(entry["reply"], entry["model"])

    def write(self, key: str, reply: CachedReply) -> None:
        """Keep a reply; a failure to do so costs money later, but must not lose the verdict now."""
        entry = {"format": FORMAT, "key": key, "model": reply.model, "reply": reply.text}
        try:
            _write_whole(self._file(key), json.dumps(entry, ensure_ascii=True).encode())
        except OSError as error:
            self.unwritable = error.strerror or str(error)

    def _file(self, key: str) -> Path:
        return self.folder / f"v{FORMAT}" / key[:2] / f"{key}.json"


def default_folder() -> Path:
    """``eval-skills/judge`` in the user's folder of caches (``XDG_CACHE_HOME``, else ``~/.cache``)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "eval-skills" / "judge"


def _is_entry(entry: Any, key: str) -> bool:
    return (
        isinstance(entry, dict)
        and (entry.get("format"), entry.get("key")) == (FORMAT, key)
        and all(isinstance(entry.get(name), str) for name in ("reply", "model"))
    )


def _write_whole(path: Path, content: bytes) -> None:
    """Written under another name first; not synced to disk, since an entry that a crash loses is asked for again."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(scratch).replace(path)
    finally:
        with suppress(FileNotFoundError):
            Path(scratch).unlink()
