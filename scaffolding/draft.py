"""Files that do not exist yet, and writing them without touching what does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval_skills.core.errors import UsageError
from eval_skills.core.store.durable import write_whole


@dataclass(frozen=True, slots=True)
class Draft:
    """A folder to be written: its path, and the text of each file by its path inside, with ``/`` between the parts."""

    folder: Path
    files: Mapping[str, str]

    def paths(self) -> list[Path]:
        """Where the files will be."""
        return [self.folder / name for name in self.files]


def write_drafts(drafts: Sequence[Draft], *, force: bool = False) -> list[Path]:
    """Write every file of every draft, each by rename; the paths, in order. Nothing is written if one of them is in the way.

    Raises:
        UsageError: a file exists and `force` is not given, or a folder stands where a file or a folder should be.
    """
    for draft in drafts:
        _refuse_what_is_in_the_way(draft, force=force)
    for draft in drafts:
        for name, text in draft.files.items():
            write_whole(draft.folder / name, text.encode())
    return [path for draft in drafts for path in draft.paths()]


def _refuse_what_is_in_the_way(draft: Draft, *, force: bool) -> None:
    for path in draft.paths():
        if path.is_dir():
            raise UsageError(f"{path} is a folder; a file of that name would be written")
        if path.exists() and not force:
            raise UsageError(f"{path} exists; give another name or folder, or --force to overwrite it")
        if blocking := next((parent for parent in path.parents if parent.exists() and not parent.is_dir()), None):
            raise UsageError(f"{blocking} is a file; a folder of that name would be needed")
