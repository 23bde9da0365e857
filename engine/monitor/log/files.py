"""The files of a log that grows and is rotated: which they are, in which order, and how far each has been read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import Field

from eval_skills.core.errors import InputError
from eval_skills.core.models import Model

HEAD_BYTES = 1024
"""A file is recognised by its first bytes: its name and its inode may both belong to another file by now."""

_NAME = re.compile(r"(?P<stem>.+\.(?:jsonl|ndjson))(?:[.-](?P<turn>[0-9][0-9A-Za-z_.-]*))?|.+\.parquet")
_PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip", ".lz4")


class FilePosition(Model):
    """How far a file has been read: bytes and line ends of JSONL, rows of Parquet.

    `head` is the digest of its first `head_bytes`; of Parquet, which is written whole, of its last.
    """

    path: str
    device: int
    inode: int
    offset: int = Field(ge=0)
    line: int = Field(default=0, ge=0)
    head: str
    head_bytes: int = Field(ge=0)


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of the log, and how far it had been read; None for a new one."""

    path: Path
    mark: FilePosition | None


@dataclass(frozen=True, slots=True)
class Listing:
    """The files to read, in order. `replaced` are known names with other content now, `left_out` files that are not logs."""

    files: list[LogFile]
    replaced: list[str]
    left_out: list[str]


def list_files(log: Path, marks: Sequence[FilePosition]) -> Listing:
    """The files of `log`: itself and what it was rotated to since, or all of a folder, at any depth, without hidden files.

    Known files come first (a rotated one holds older lines than its successor), then new ones by name, rotated ones
    (``app.jsonl.2``, ``app.jsonl.1``, ``app.jsonl``) oldest first. A missing log has none: it may be between its rotation and its
    next line (see `check_log`).
    """
    if log.is_dir():
        found, left_out = _in_folder(log)
    else:
        found, left_out = _beside(log), []
    known, replaced = _matched(found, marks)
    files = [LogFile(path, known.get(path)) for path in found if path in known]
    files += [LogFile(path, None) for path in found if path not in known and (log.is_dir() or path == log)]
    return Listing(files, replaced, left_out)


def check_log(log: Path) -> None:
    """Refuse a log that does not exist, or is neither a file nor a folder, with an InputError."""
    if not log.exists() and not (log.parent.is_dir() and _beside(log)):
        raise InputError("no such file or folder; name a JSONL or Parquet file, or a folder of them", source=log)
    if log.exists() and not log.is_file() and not log.is_dir():
        raise InputError("neither a file nor a folder", source=log)


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, by its name or its first bytes."""
    if path.suffix.lower() == ".parquet":
        return True
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def fingerprint(path: Path, size: int) -> str:
    """The digest of the first `size` bytes of a file; of Parquet, of its length and its end."""
    with path.open("rb") as file:
        if is_parquet(path):
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - HEAD_BYTES))
            return digest(b"%d:" % length + file.read(HEAD_BYTES))
        return digest(file.read(size))


def digest(content: bytes) -> str:
    """A digest of the beginning of a file."""
    return sha256(content).hexdigest()[:32]


def _in_folder(folder: Path) -> tuple[list[Path], list[str]]:
    names = sorted(
        str(Path(at, name).relative_to(folder))
        for at, _, names in os.walk(folder)
        for name in names
        if not any(part.startswith(".") for part in Path(at, name).relative_to(folder).parts)
    )
    logs = sorted((name for name in names if _is_log(folder / name)), key=_age)
    return [folder / name for name in logs], [str(folder / name) for name in names if name not in set(logs)]


def _beside(log: Path) -> list[Path]:
    turns = (f"{log.name}.", f"{log.name}-")
    rotated = [path for path in log.parent.iterdir() if path.name.startswith(turns) and path.is_file()]
    older = sorted((path.name for path in rotated if path.suffix.lower() not in _PACKED), key=_age)
    return [*(log.parent / name for name in older), *([log] if log.exists() else [])]


def _is_log(path: Path) -> bool:
    return bool(_NAME.fullmatch(path.name)) and path.suffix.lower() not in _PACKED and path.is_file()


def _age(name: str) -> tuple[str, bool, int, str]:
    """A key that sorts by name, and rotated files before the one that is written to, the oldest first."""
    match = _NAME.fullmatch(name)
    stem, turn = (match["stem"] or name, match["turn"]) if match else (name, None)
    counted = int(turn) if turn is not None and turn.isdigit() and len(turn) < 6 else 0  # longer ones are dates
    return stem, turn is None, -counted, turn or ""


def _matched(found: Sequence[Path], marks: Sequence[FilePosition]) -> tuple[dict[Path, FilePosition], list[str]]:
    """The position in each known file, and the names whose content is gone."""
    by_inode = {(mark.device, mark.inode): mark for mark in marks}
    inodes = {path: (stat.st_dev, stat.st_ino) for path in found if (stat := _stat(path))}
    known = {path: mark for path, inode in inodes.items() if (mark := by_inode.get(inode)) is not None and _begins_as(path, mark)}
    taken = {id(mark) for mark in known.values()}
    rest = [mark for mark in marks if id(mark) not in taken]
    for path in found:
        if path not in known and (mark := next((each for each in rest if _begins_as(path, each)), None)) is not None:
            known[path] = mark  # a copy, of which the original was emptied, or a new file that was moved over it
            rest.remove(mark)
    names = {str(path) for path in found}
    return known, [mark.path for mark in rest if mark.offset and mark.path in names]


def _begins_as(path: Path, mark: FilePosition) -> bool:
    try:
        longer = is_parquet(path) or path.stat().st_size >= mark.offset
        return mark.offset > 0 and longer and fingerprint(path, mark.head_bytes) == mark.head
    except OSError:  # it was removed meanwhile
        return False


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
