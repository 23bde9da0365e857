"""Reading a production log record by record, from where the last reader stopped."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from heapq import heapify, heappop, heappush, heapreplace
from itertools import islice
from pathlib import Path
from time import time
from typing import Any, BinaryIO

from eval_skills.core.documents.loading import finite_json
from eval_skills.core.errors import InputError
from eval_skills.engine.monitor.log.files import (
    HEAD_BYTES,
    FilePosition,
    LogFile,
    by_inode,
    digest,
    fingerprint,
    inode_of,
    is_marked,
    is_parquet,
    list_files,
)
from eval_skills.engine.monitor.log.parquet import ROWS_REMEMBERED, Row, batches_beyond, row_digest, rows_of
from eval_skills.engine.monitor.log.records import BadRecord, Interaction, RecordReader

BAD_SHOWN = 20

PARQUET_WRITTEN_S = 3600.0
"""A Parquet file that is not complete, and was not written to for so long, is damaged, not being written."""

OPEN_FILES = 64
"""So many files that have something new are read side by side."""

_EVER = datetime.min.replace(tzinfo=UTC)

_REPLACED = "was emptied, replaced or removed: it is read from its start; lines added since the last look, if any, were missed"


class LogReader:
    """Reads what is new in a log, with memory for one record of each open file (of Parquet, a few hundred) and one position per
    file.

    `read` counts records, `bad` those that are not interactions; `bad_lines` names the first of them, with file and line.
    `record_bytes` is the size of the last record, and `written` when its file was last written to, as a Unix time; `bad_written`
    is the latest of those of bad records. `waiting` names files with an incomplete end, and `unread` those that the last look
    could not read, unless they are being written. `marks` are the positions of the last reader, if there was one;
    `knows_rotated`: also in what the log had been rotated to before the first one.
    """

    def __init__(
        self, log: Path, records: RecordReader, marks: Sequence[FilePosition] = (), *, knows_rotated: bool = False
    ) -> None:
        self.read = self.bad = self.record_bytes = 0
        self.written = self.bad_written = float("-inf")
        self.bad_lines: list[str] = []
        self.remarks: list[str] = []
        self.waiting: list[str] = []
        self.unread: list[str] = []
        self._log, self._records = log, records
        self._marks = by_inode(marks)
        self._knows_rotated = knows_rotated
        self._cursor: Cursor | None = None

    def look(self) -> Iterator[Interaction]:
        """Every new interaction, by time where the records have timestamps, else file by file; `marks` are the positions after
        the last one.

        A last line without a line end counts when it is a whole object, else it is left for the next call.

        Raises:
            InputError: the log is one file, and that cannot be read.
        """
        listing = list_files(self._log, list(self._marks.values()), knows_rotated=self._knows_rotated)
        self._knows_rotated = True
        self._tell(listing.replaced, _REPLACED)
        self._tell(listing.left_out, "is not a .jsonl, .ndjson or .parquet file; it is left out")
        self._tell(
            listing.closed, "is a link to a folder, or a folder that cannot be read; it is left out: watch that folder itself"
        )
        self._marks = by_inode([*(file.mark for file in listing.files), *listing.unseen])
        self.waiting, self.unread = [], []
        yield from self._by_time(listing.files)

    def marks(self) -> list[FilePosition]:
        """The position in every file."""
        if self._cursor is not None:
            self._marks[self._cursor.device, self._cursor.inode] = self._cursor.mark()
        return list(self._marks.values())

    def refuse(self, source: str, why: str) -> None:
        """Count a record as bad; the first few are kept."""
        self.bad += 1
        self.bad_written = max(self.bad_written, self.written)
        if len(self.bad_lines) < BAD_SHOWN:
            self.bad_lines.append(f"{source}: {why}")

    def _by_time(self, files: Iterable[LogFile]) -> Iterator[Interaction]:
        """The next of the file that has got least far in time, and of several the first: what is logged side by side (by several
        agents) comes side by side, and what one file continues of another after it."""
        others = (begun for number, file in enumerate(files) if (begun := self._begun(number, file)) is not None)
        open_files = [*islice(others, OPEN_FILES)]
        heapify(open_files)
        current: _OpenFile | None = None
        while open_files:
            if open_files[0] is not current:
                self.marks()
                current = open_files[0]
                self._cursor = current.cursor
            if (interaction := self._next_of(open_files[0])) is None:
                heappop(open_files)
                for begun in islice(others, 1):
                    heappush(open_files, begun)
                continue
            yield interaction
            open_files[0].at = interaction.timestamp or open_files[0].at
            heapreplace(open_files, open_files[0])

    def _begun(self, number: int, file: LogFile) -> _OpenFile | None:
        """The file with its first new interaction, which `marks` are still before; None where it has none."""
        interactions = self._interactions(file)
        first = next(interactions, None)
        cursor, self._cursor = self._cursor, None
        if first is None:
            return None
        return _OpenFile(first.timestamp or _EVER, number, interactions, cursor, first, self.record_bytes, self.written)

    def _next_of(self, file: _OpenFile) -> Interaction | None:
        if file.first is None:
            return next(file.interactions, None)
        self.record_bytes, self.written = file.record_bytes, file.written
        first, file.first = file.first, None
        return first

    def _interactions(self, file: LogFile) -> Iterator[Interaction]:
        name = os.path.relpath(file.path, os.path.dirname(os.path.abspath(self._log)))  # the log may be named in several ways
        try:
            records = self._rows(file) if is_parquet(file.path) else self._lines(file)
            for source, content in records:
                self.read += 1
                try:
                    record = _parsed(content) if isinstance(content, bytes) else content
                    interaction = self._records.interaction(record, source, name + source.removeprefix(str(file.path)))
                except BadRecord as error:
                    self.refuse(source, str(error))
                    continue
                except RecursionError:
                    self.refuse(source, "nested too deeply to read")
                    continue
                yield interaction
        except (FileNotFoundError, _AnotherFile):
            return  # it was rotated or emptied meanwhile: the next look finds it
        except OSError as error:
            self._unreadable(file.path, error.strerror or str(error), is_unread=not isinstance(error, _Compressed))
        finally:
            self.marks()
            self._cursor = None

    def _lines(self, file: LogFile) -> Iterator[tuple[str, bytes | None]]:
        with file.path.open("rb") as stream:
            cursor = self._cursor = opened(file, stream)
            for number, line in whole_lines(stream, cursor):
                source, self.written = f"{file.path}:{number}", os.fstat(stream.fileno()).st_mtime
                if line is None:
                    self.read += 1
                    self.refuse(source, f"the line is longer than {MAX_LINE_BYTES:,} bytes")
                elif text := line.strip():
                    self.record_bytes = len(text)
                    yield source, text
            if stream.tell() > cursor.offset:
                self.waiting.append(f"{file.path}:{cursor.line + 1}")

    def _rows(self, file: LogFile) -> Iterator[tuple[str, Any]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        mark = file.mark
        try:
            with file.path.open("rb") as stream, pq.ParquetFile(_checked(stream, file), pre_buffer=False) as table:
                cursor = self._cursor = Cursor(file.path, mark.device, mark.inode, mark.offset, 0, fingerprint(stream, 0))
                cursor.rows.extend(mark.rows)
                for batch in batches_beyond(table, mark.offset):
                    self.written = os.fstat(stream.fileno()).st_mtime
                    self.record_bytes = batch.nbytes // max(1, batch.num_rows)
                    for row in rows_of(batch):
                        cursor.offset += 1
                        cursor.rows.append(row)
                        yield f"{file.path}:{cursor.offset}", row
        except pa.ArrowException as error:
            is_old = time() - os.stat(file.path).st_mtime > PARQUET_WRITTEN_S
            self._unreadable(file.path, f"not a complete Parquet file: {str(error).splitlines()[0]}", is_unread=is_old)

    def _unreadable(self, path: Path, why: str, *, is_unread: bool) -> None:
        if path == self._log:
            raise InputError(f"cannot be read: {why}", source=path)
        self.waiting.append(str(path))
        self.unread.extend([str(path)] if is_unread else [])
        self._tell([str(path)], f"cannot be read ({why}); it is tried again")

    def _tell(self, names: list[str], what: str) -> None:
        for name in names:
            if len(self.remarks) < BAD_SHOWN and (remark := f"{name} {what}") not in self.remarks:
                self.remarks.append(remark)


def _parsed(line: bytes) -> Any:
    try:
        return finite_json(line.decode())
    except json.JSONDecodeError as error:
        raise BadRecord(f"not valid JSON at column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise BadRecord(f"not UTF-8 text (byte {error.start} of the line)") from None
    except ValueError as error:
        raise BadRecord(str(error)) from None


MAX_LINE_BYTES = 16 * 1024 * 1024
"""A longer line is skipped and counted as bad, to bound memory. It exceeds `HEAD_BYTES`."""

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
    tail: tuple[str, int] = ("", 0)
    """The digest of the bytes before `offset` and their number, as of the last reader."""
    last: bytes | None = None
    """The bytes before `offset`, once a line has been read."""
    rows: deque[Row | str] = field(default_factory=lambda: deque(maxlen=ROWS_REMEMBERED))
    """The last rows of Parquet, or their digests."""

    def advance(self, length: int, line_ends: int, beginning: bytes, end: bytes) -> None:
        """Move past a line; `beginning` and `end` are as much of it as the head and the tail may need."""
        if isinstance(self.head, bytes) and len(self.head) < HEAD_BYTES:
            self.head = (self.head + beginning)[:HEAD_BYTES]
        self.last = end
        self.offset += length
        self.line += line_ends

    def mark(self) -> FilePosition:
        """The position, for the next reader."""
        head, size = (digest(self.head), len(self.head)) if isinstance(self.head, bytes) else (self.head, 0)
        tail, tail_bytes = self.tail if self.last is None else (digest(self.last), len(self.last))
        return FilePosition(
            path=str(self.path),
            device=self.device,
            inode=self.inode,
            offset=self.offset,
            line=self.line,
            head=head,
            head_bytes=size,
            tail=tail,
            tail_bytes=tail_bytes,
            rows=[each if isinstance(each, str) else row_digest(each) for each in self.rows],
        )


@dataclass(slots=True, order=True)
class _OpenFile:
    """A file that is read beside others, ordered by how far in time it has got (`at`) and by its place in the listing.

    `first` is an interaction that was read ahead and is still to come, with the reader's `record_bytes` and `written` of it.
    """

    at: datetime
    number: int
    interactions: Iterator[Interaction] = field(compare=False)
    cursor: Cursor | None = field(compare=False)
    first: Interaction | None = field(compare=False)
    record_bytes: int = field(compare=False)
    written: float = field(compare=False)


class _AnotherFile(Exception):
    """By the time it was opened, the name of a listed file belonged to another one, or it had been emptied."""


class _Compressed(OSError):
    """A file is not read because it is compressed, as rotated ones are in the end."""


def _checked(stream: BinaryIO, file: LogFile) -> BinaryIO:
    """The stream, at its start, where it is the file that was listed: a position in another one would pass over its lines."""
    if inode_of(os.fstat(stream.fileno())) != (file.mark.device, file.mark.inode) or not is_marked(file.path, stream, file.mark):
        raise _AnotherFile
    stream.seek(0)
    return stream


def opened(file: LogFile, stream: BinaryIO) -> Cursor:
    """A cursor at the file's known position, to which the stream is moved; `_Compressed` for a compressed file."""
    mark = file.mark
    head = _checked(stream, file).read(min(mark.offset, HEAD_BYTES))
    if not mark.offset and stream.read(2) == _GZIP:
        raise _Compressed("it is compressed; unpack it first")
    stream.seek(mark.offset)
    return Cursor(file.path, mark.device, mark.inode, mark.offset, mark.line, head, (mark.tail, mark.tail_bytes))


def whole_lines(stream: BinaryIO, cursor: Cursor) -> Iterator[tuple[int, bytes | None]]:
    """The numbered lines from here on; None for one that is too long. The cursor is after the last line returned."""
    while piece := stream.readline(MAX_LINE_BYTES):
        number, length, ended = cursor.line + 1, len(piece), piece.endswith(b"\n")
        if not ended and length < MAX_LINE_BYTES and not _is_whole(piece):
            return
        is_long, end = not ended and length == MAX_LINE_BYTES, piece[-HEAD_BYTES:]
        while is_long and not ended and (more := stream.readline(MAX_LINE_BYTES)):
            length, ended, end = length + len(more), more.endswith(b"\n"), more[-HEAD_BYTES:]
        if is_long and not ended:
            return
        cursor.advance(length, int(ended), piece[:HEAD_BYTES], end)
        yield number, None if is_long else piece.removeprefix(b"\xef\xbb\xbf") if number == 1 else piece


def _is_whole(piece: bytes) -> bool:
    try:
        return isinstance(json.loads(piece.decode()), dict)
    except (ValueError, RecursionError):
        return False
