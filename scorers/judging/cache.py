"""Replies on disk, so that no model is asked the same question twice: one small JSON file each, named by a digest of the
question.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_skills.core.cache_files import write_entry

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
            write_entry(self._file(key), json.dumps(entry, ensure_ascii=True).encode())
        except OSError as error:
            self.unwritable = error.strerror or str(error)

    def _file(self, key: str) -> Path:
        return self.folder / f"v{FORMAT}" / key[:2] / f"{key}.json"


def _is_entry(entry: Any, key: str) -> bool:
    return (
        isinstance(entry, dict)
        and (entry.get("format"), entry.get("key")) == (FORMAT, key)
        and all(isinstance(entry.get(name), str) for name in ("reply", "model"))
    )
