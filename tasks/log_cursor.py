"""How far a file of a log has been read, and the whole lines that come next."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from eval_skills.tasks.log_files import HEAD_BYTES, FileMark, LogFile, digest

MAX_LINE_BYTES = 16 * 1024 * 1024
"""A longer line is passed over, and counted as a bad one: nobody's log may fill our memory. It exceeds `HEAD_BYTES`."""

_GZIP = b"\x1f\x8b"


@dataclass(slots=True)
class Cursor:
    """How far one file has been read: bytes and lines of JSONL, rows of Parquet."""

    path: Path
    device: int
    inode: int
    offset: int
    line: int
    head: bytes | str
    """The first bytes of JSONL, the fingerprint of Parquet."""

    def advance(self, length: int, line_ends: int, beginning: bytes) -> None:
        """Stand behind a line; `beginning` is as much of it as a head may need."""
        if isinstance(self.head, bytes) and len(self.head) < HEAD_BYTES:
            self.head = (self.head + beginning)[:HEAD_BYTES]
        self.offset += length
        self.line += line_ends

    def mark(self) -> FileMark:
        """What the next reader needs to go on here."""
        head, size = (digest(self.head), len(self.head)) if isinstance(self.head, bytes) else (self.head, 0)
        return FileMark(
            path=str(self.path),
            device=self.device,
            inode=self.inode,
            offset=self.offset,
            line=self.line,
            head=head,
            head_bytes=size,
        )


def opened(file: LogFile, stream: BinaryIO) -> Cursor:
    """A cursor where the file's mark stands, else at its start; the stream stands there, too.

    Raises:
        OSError: the file is compressed.
    """
    stat = os.fstat(stream.fileno())
    offset, line = (file.mark.offset, file.mark.line) if file.mark else (0, 0)
    head = stream.read(min(offset, HEAD_BYTES))
    if not offset and stream.read(2) == _GZIP:
        raise OSError("it is compressed; unpack it first")
    stream.seek(offset)
    return Cursor(file.path, stat.st_dev, stat.st_ino, offset, line, head)


def whole_lines(stream: BinaryIO, cursor: Cursor) -> Iterator[tuple[int, bytes | None]]:
    """The numbered lines from here on; None for one that is too long. The cursor stands behind the line just given."""
    while piece := stream.readline(MAX_LINE_BYTES):
        number, length, ended = cursor.line + 1, len(piece), piece.endswith(b"\n")
        if not ended and length < MAX_LINE_BYTES and not _is_whole(piece):
            return
        is_long = not ended and length == MAX_LINE_BYTES
        while is_long and not ended and (more := stream.readline(MAX_LINE_BYTES)):
            length, ended = length + len(more), more.endswith(b"\n")
        if is_long and not ended:
            return
        beginning = piece[:HEAD_BYTES]
        cursor.advance(length, int(ended), beginning)
        yield number, None if is_long else piece.removeprefix(b"\xef\xbb\xbf") if number == 1 else piece


def _is_whole(piece: bytes) -> bool:
    try:
        return isinstance(json.loads(piece.decode()), dict)
    except (ValueError, RecursionError):
        return False
