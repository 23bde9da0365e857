"""What a mirror knows of the bucket: of each file that is in both, the version there and the file here that is the same."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from eval_skills.core.store.files import PRIVATE, write_whole

FOLDER = ".remote"
"""The folder of a mirror for what is about the mirror itself."""


@dataclass(frozen=True, slots=True)
class Known:
    """The version of an object by its tag, and the size, time and digest of the file that is the same."""

    tag: str
    size: int
    modified_ns: int
    digest: str

    def is_like(self, state: os.stat_result | None) -> bool:
        """Whether the file is still the one that was the same."""
        return state is not None and (state.st_size, state.st_mtime_ns) == (self.size, self.modified_ns)


@dataclass(slots=True)
class Index:
    """The files that are the same in both places. A lost or damaged index costs a download of each, nothing else."""

    path: Path
    files: dict[str, Known] = field(default_factory=dict)
    _saved: dict[str, Known] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path) -> Index:
        """The index of a mirror as it was saved; empty where it never was."""
        path = root / FOLDER / "index.json"
        try:
            saved = {name: Known(*known) for name, known in json.loads(path.read_bytes()).items()}
        except (FileNotFoundError, NotADirectoryError, ValueError, TypeError, AttributeError):
            saved = {}
        return cls(path, dict(saved), saved)

    def note(self, name: str, tag: str, state: os.stat_result, digest: str) -> None:
        """The file in this state is that version of the object."""
        self.files[name] = Known(tag, state.st_size, state.st_mtime_ns, digest)

    def save(self) -> None:
        """Write down what changed since, whole or not at all."""
        if self.files != self._saved:
            content = {name: (each.tag, each.size, each.modified_ns, each.digest) for name, each in self.files.items()}
            write_whole(self.path, json.dumps(content).encode(), mode=PRIVATE)
            self._saved = dict(self.files)
