"""The files of a log that grows and is rotated: which they are, in which order, and how far each has been read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from pydantic import Field

from eval_skills.core.errors import InputError
from eval_skills.core.models import Model
from eval_skills.engine.monitor.log.parquet import goes_on

HEAD_BYTES = 1024
"""A file is recognised by its first bytes: its name and its inode may both belong to another file by now."""

_PARQUET = b"PAR1"

_NAME = re.compile(r"(?P<stem>.+\.(?:jsonl|ndjson))(?:[.-](?P<turn>[0-9][0-9A-Za-z_.-]*))?|.+\.parquet")
_TURN = re.compile(r"[.-][0-9][0-9A-Za-z_.-]*")
"""What a rotated file has behind the name of the log: a number or a date."""

_PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip", ".lz4")

_LISTINGS = 5
"""Listings after which a log that keeps being rotated is read as it was seen last."""

Inode = tuple[int, int]
"""The device and the inode of a file."""


class FilePosition(Model):
    """How far a file has been read: bytes and line ends of JSONL, rows of Parquet.

    `head` is the digest of its first `head_bytes`; of Parquet, which is written whole, of its last. `tail` is the digest of the
    `tail_bytes` before `offset`, where files that begin alike differ. `rows` are the digests of the last rows of Parquet before
    `offset`, by which a file that was written anew with more rows is known.
    """

    path: str
    device: int
    inode: int
    offset: int = Field(ge=0)
    line: int = Field(default=0, ge=0)
    head: str
    head_bytes: int = Field(ge=0)
    tail: str = ""
    tail_bytes: int = Field(default=0, ge=0)
    rows: list[str] = Field(default_factory=list)


_START = FilePosition(path="", device=0, inode=0, offset=0, head=sha256().hexdigest()[:32], head_bytes=0)


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of the log as it was listed, and how far it has been read: 0 for a new one."""

    path: Path
    mark: FilePosition


@dataclass(frozen=True, slots=True)
class Listing:
    """The files to read, in order. `left_out` are files that are not logs, and `closed` are folders that were not looked into.

    `replaced` are files that are gone, though their name is still that of a file or of the log: they may have had unread lines.
    `unseen` are the positions in files that may be between two names: the log was rotated while it was listed.
    """

    files: list[LogFile]
    replaced: list[str]
    left_out: list[str]
    unseen: list[FilePosition]
    closed: list[str] = field(default_factory=list)


def list_files(log: Path, marks: Sequence[FilePosition], *, knows_rotated: bool = True) -> Listing:
    """The files of `log`: itself and what it was rotated to since, or all of a folder, at any depth, without hidden files.

    Known files come first (a rotated one holds older lines than its successor), then new ones by name, rotated ones
    (``app.jsonl.2``, ``app.jsonl.1``, ``app.jsonl``) oldest first. A missing log has none: it may be between its rotation and its
    next line (see `check_log`). Where `marks` do not know yet what a log that is one file was rotated to before it was first
    looked at, that is taken as read.

    Listing is not atomic: a file that is renamed meanwhile is seen under neither name, and one that is emptied before its copy is
    seen is missing. So where a known file is, the listing is repeated until two agree; where none do, it is `unseen`, not gone.
    """
    before: tuple[dict[Path, Inode], list[FilePosition]] | None = None
    is_settled = False
    for _ in range(_LISTINGS):
        found, left_out = _found(log)
        known, missing = _renamed(found, marks)
        if is_settled := not missing or (found, missing) == before:
            break
        before = found, missing
    if is_settled:
        _match_copies(found, known, missing)
    if not knows_rotated and not log.is_dir():
        known |= {path: _end(path) for path in found if path not in known and path != log}
    new = [path for path in found if path not in known]
    files = [LogFile(path, _placed(known[path], path, inode)) for path, inode in found.items() if path in known]
    files += [LogFile(path, _placed(_START, path, found[path])) for path in new]
    if not is_settled:
        return Listing(files, [], left_out, unseen=missing)
    names = {str(log), *map(str, new)}
    replaced = [mark.path for mark in missing if mark.offset and mark.path in names]
    return Listing(files, replaced, left_out, unseen=[], closed=_closed(log) if log.is_dir() else [])


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
        return file.read(4) == _PARQUET


def fingerprint(stream: BinaryIO, size: int) -> str:
    """The digest of the first `size` bytes of a file; of Parquet, of its length and its end. The stream is left anywhere."""
    stream.seek(0)
    if stream.read(4) == _PARQUET:
        length = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, length - HEAD_BYTES))
        return digest(b"%d:" % length + stream.read(HEAD_BYTES))
    stream.seek(0)
    return digest(stream.read(size))


def digest(content: bytes) -> str:
    """A digest of the beginning of a file."""
    return sha256(content).hexdigest()[:32]


def inode_of(stat: os.stat_result) -> Inode:
    """Which file it is, as long as it exists, whatever its name."""
    return stat.st_dev, stat.st_ino


def by_inode(marks: Iterable[FilePosition]) -> dict[Inode, FilePosition]:
    """The positions by what a file keeps when it is renamed."""
    return {(mark.device, mark.inode): mark for mark in marks}


def is_marked(path: Path, stream: BinaryIO, mark: FilePosition) -> bool:
    """Whether an open file is the one that was read up to `mark`: no shorter, with its beginning and with what was read last.

    Parquet may have been written anew under the same name: then it is the rows that were read last that count.
    """
    if not mark.offset:
        return True
    if mark.rows and path.name == Path(mark.path).name and is_parquet(path):
        return fingerprint(stream, 0) == mark.head or goes_on(stream, mark.offset, mark.rows)
    stream.seek(0)
    reaches = os.fstat(stream.fileno()).st_size >= mark.offset or stream.read(4) == _PARQUET  # whose offset counts rows
    return reaches and fingerprint(stream, mark.head_bytes) == mark.head and _ends_alike(stream, mark)


def _ends_alike(stream: BinaryIO, mark: FilePosition) -> bool:
    stream.seek(max(0, mark.offset - mark.tail_bytes))
    return not mark.tail_bytes or digest(stream.read(mark.tail_bytes)) == mark.tail


def _found(log: Path) -> tuple[dict[Path, Inode], list[str]]:
    """The files of the log in order, each once, and the names in its folder that are not of a log."""
    paths, left_out = _in_folder(log) if log.is_dir() else (_beside(log), [])
    found: dict[Path, Inode] = {}
    seen: set[Inode] = set()
    for path in paths:
        try:
            stat = path.stat()
        except FileNotFoundError:  # it was renamed meanwhile, or is a link to nothing
            continue
        inode = inode_of(stat)
        if S_ISREG(stat.st_mode) and inode not in seen:
            seen.add(inode)
            found[path] = inode
    return found, left_out


def _in_folder(folder: Path) -> tuple[list[Path], list[str]]:
    names = sorted(
        str(Path(at, name).relative_to(folder))
        for at, _, names in os.walk(folder)
        for name in names
        if not any(part.startswith(".") for part in Path(at, name).relative_to(folder).parts)
    )
    logs = sorted((name for name in names if _is_log(folder / name)), key=_age)
    return [folder / name for name in logs], [str(folder / name) for name in names if name not in set(logs)]


def _closed(folder: Path) -> list[str]:
    """The folders in a folder that are not looked into: links, which may lead round in a circle, and what cannot be read."""
    closed: list[str] = []
    for at, folders, _ in os.walk(folder, onerror=lambda error: closed.append(error.filename)):
        folders[:] = [name for name in folders if not name.startswith(".")]
        closed.extend(path for name in folders if os.path.islink(path := os.path.join(at, name)))
    return sorted(closed)


def _beside(log: Path) -> list[Path]:
    behind = [path.name.removeprefix(log.name) for path in log.parent.iterdir() if path.name.startswith(log.name)]
    turns = [turn for turn in behind if _TURN.fullmatch(turn) and Path(turn).suffix.lower() not in _PACKED]
    return [*(log.with_name(log.name + turn) for turn in sorted(turns, key=_turn_age)), *([log] if log.exists() else [])]


def _is_log(path: Path) -> bool:
    return bool(_NAME.fullmatch(path.name)) and path.suffix.lower() not in _PACKED and (path.is_file() or not path.exists())


def _age(name: str) -> tuple[str, bool, int, str]:
    """A key that sorts by name, and rotated files before the one that is written to, the oldest first."""
    match = _NAME.fullmatch(name)
    stem, turn = (match["stem"] or name, match["turn"]) if match else (name, None)
    return stem, turn is None, *_turn_age(turn or "")


def _turn_age(turn: str) -> tuple[int, str]:
    """A key that sorts what a rotated file has behind its name, the oldest first: counted downwards, dates upwards."""
    number = turn.lstrip(".-")
    return (-int(number) if number.isdigit() and len(number) < 6 else 0), turn  # longer ones are dates


def _renamed(found: Mapping[Path, Inode], marks: Sequence[FilePosition]) -> tuple[dict[Path, FilePosition], list[FilePosition]]:
    """The positions in files that may have been renamed, and those whose file is missing."""
    at = by_inode(marks)
    known = {path: at[inode] for path, inode in found.items() if inode in at and _is_still(path, at[inode])}
    taken = {id(mark) for mark in known.values()}
    return known, [mark for mark in marks if id(mark) not in taken]


def _match_copies(found: Iterable[Path], known: dict[Path, FilePosition], missing: list[FilePosition]) -> None:
    """Move positions from `missing` to `known` by content: a copy, whose original was emptied, or what was moved over a file."""
    for path in found:
        is_new = path not in known or not known[path].offset  # a copy may have the inode of an empty file that is gone
        if is_new and (mark := next((each for each in missing if _begins_as(path, each)), None)) is not None:
            known[path] = mark
            missing.remove(mark)


def _end(path: Path) -> FilePosition:
    """The position at the end of a file, whose lines are not counted; at its start, where it cannot be read."""
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            head_bytes = min(size, HEAD_BYTES)
            head = fingerprint(stream, head_bytes)
    except OSError:
        return _START
    return _START.model_copy(update={"offset": size, "head": head, "head_bytes": head_bytes})


def _placed(mark: FilePosition, path: Path, inode: Inode) -> FilePosition:
    return mark.model_copy(update={"path": str(path), "device": inode[0], "inode": inode[1]})


def _is_still(path: Path, mark: FilePosition) -> bool:
    try:
        with path.open("rb") as stream:
            return is_marked(path, stream, mark)
    except FileNotFoundError:  # it was renamed or removed meanwhile
        return False
    except OSError:  # it cannot be read for now: its position is kept
        return True


def _begins_as(path: Path, mark: FilePosition) -> bool:
    try:
        with path.open("rb") as stream:
            return mark.offset > 0 and is_marked(path, stream, mark)
    except OSError:  # it was removed meanwhile
        return False
