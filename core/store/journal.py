"""The journal of a run: every finished item is recorded at once, as one line of JSON."""

from __future__ import annotations

import errno
import os
import threading
from contextlib import contextmanager
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from eval_skills.core.documents.loading import validate_known
from eval_skills.core.errors import InputError, RunError
from eval_skills.core.models import ItemResult, Model
from eval_skills.core.models.result import ItemKey
from eval_skills.core.redaction import Redaction
from eval_skills.core.store.digests import Seal, with_checksum, without_checksum
from eval_skills.core.store.files import RunLock, openness, sync_folder, sync_open
from eval_skills.core.text import skill_key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType


MAX_DEPTH = 100
"""An answer that nests deeper is cut there when its line could not be read back otherwise."""

_READER_DEPTH = 190
_MAX_DIGITS = 4000
_FOREIGN_FIELDS = (
    "reasons", "error_message", "output", "messages", "tool_calls", "content", "finish_reason", "input", "files", "skills_loaded",
)  # fmt: skip


def line_of(result: ItemResult, redaction: Redaction) -> bytes:
    """One whole line, line end included, that `result_of` reads back.

    A skill may answer what JSON or Unicode cannot carry: lone surrogates become U+FFFD, NaN and infinities null, levels below
    the hundredth and endless integers a note. Secrets are replaced in the texts that come from outside (answer, messages,
    tool calls, reasons, error), never in what identifies the item. The line has a checksum of its own.
    """
    return with_checksum(_kept_json(result, redaction)) + b"\n"


def as_kept(result: ItemResult, redaction: Redaction) -> ItemResult:
    """The result as a reader of its line gets it: without what cannot be carried, and without secrets."""
    return ItemResult.model_validate_json(_kept_json(result, redaction))


def _kept_json(result: ItemResult, redaction: Redaction) -> bytes:
    text = _readable_json(result)
    if redaction.touches(text):
        fields = from_json(text)
        for part in (fields, *(fields["turns"] or ())):
            part |= {name: redaction.data(part[name]) for name in _FOREIGN_FIELDS if name in part}
        return to_json(fields)
    return text.encode()


def result_of(line: bytes, *, source: Path, number: int) -> ItemResult:
    """The result in one line, of this version or any other: what it holds under keys that are not known is left out.

    Raises:
        RunError: the line is not a result, or its checksum does not hold; the message names the file and the line.
    """
    return read_line(line, source=source, number=number)[0]


def read_line(line: bytes, *, source: Path, number: int) -> tuple[ItemResult, list[str]]:
    """The result in one line, and the places of the keys that this version does not know: a newer one may have written them.

    Raises:
        RunError: as `result_of`.
    """
    try:
        line = without_checksum(line)
    except ValueError as error:
        raise _corrupt(source, number, str(error)) from None
    try:
        return ItemResult.model_validate_json(line), []
    except ValidationError as error:
        if not any(each["type"] == "unknown_key" for each in error.errors(include_url=False)):
            raise _corrupt(source, number, error.errors(include_url=False)[0]["msg"]) from None
    try:
        return validate_known(ItemResult, from_json(line))
    except InputError as error:
        raise _corrupt(source, number, str(error)) from None


def key_of(line: bytes, *, source: Path, number: int) -> ItemKey:
    """The key of the item in one line, without the cost of reading all of it as a result.

    Raises:
        RunError: the line is not a JSON object with a key.
    """
    try:
        fields = from_json(line)
        task, run = fields["task_id"], fields["run_index"]
        if not isinstance(task, str) or type(run) is not int or not 0 <= run < 2**63:
            raise TypeError(f"task_id {task!r}, run_index {run!r}")
        return skill_key_of(fields), task, run
    except (ValueError, KeyError, TypeError) as error:
        raise _corrupt(source, number, repr(error)) from None


def complete_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The numbered lines (from 1) of a journal. A last line without its line end was cut off by a kill and is left out.

    A missing file has no lines: its run was stopped before the first item ended, or has landed.

    Raises:
        RunError: as `opened`.
    """
    with opened(path) as file:
        yield from lines_of(file)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A journal to be read more than once with `lines_of`: what it holds stays there when its run lands meanwhile.

    Raises:
        RunError: it cannot be read, or is a folder.
    """
    try:
        file: BinaryIO = path.open("rb")
    except FileNotFoundError:
        file = BytesIO()
    except OSError as error:
        raise RunError(f"the journal {path} cannot be read: {error.strerror}; {_REMEDY}") from None
    with file:
        yield file


def lines_of(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The numbered complete lines of a journal that is open, from its beginning."""
    file.seek(0)
    for number, line in enumerate(file, 1):
        if line.endswith(b"\n"):
            yield number, line


_REMEDY = "restore it, or move it away: its run then goes on with --resume from what has landed"


def read_journal(path: Path) -> Iterator[ItemResult]:
    """The results in a journal, in the order they were finished, one in memory at a time.

    An incomplete last line is left out; an item that was tried again appears more than once (see `latest`).

    Raises:
        RunError: a line before the last one is corrupt.
    """
    for number, line in complete_lines(path):
        yield result_of(line, source=path, number=number)


def latest(results: Iterable[ItemResult]) -> list[ItemResult]:
    """One result per item, the one that came last, in the order of the items' first results."""
    return list({result.key: result for result in results}.values())


def _corrupt(source: Path, number: int, why: str) -> RunError:
    return RunError(f"{source}: line {number} is corrupt ({why}); fix or delete that line, then resume: its item runs again")


def _readable_json(result: ItemResult) -> str:
    try:
        text = result.model_dump_json()
        # few brackets cannot nest too deep and a short line holds no endless number: most lines need no reading back
        if len(text) > _MAX_DIGITS or text.count("[") + text.count("{") > _READER_DEPTH:
            from_json(text)
    except (PydanticSerializationError, ValueError):
        return str(_storable(result, 0).model_dump_json())
    return text


def _storable(value: Any, depth: int) -> Any:
    """The value with everything replaced that JSON text could not carry there and back."""
    if isinstance(value, Model):
        return value.model_copy(update={name: _storable(getattr(value, name), depth + 1) for name in type(value).model_fields})
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if depth > MAX_DEPTH and isinstance(value, dict | list | tuple):
        return f"[nested deeper than {MAX_DEPTH} levels]"
    if isinstance(value, dict):
        return {_storable(str(key), depth): _storable(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(part, depth + 1) for part in value]
    if isinstance(value, int) and abs(value) >= 10**_MAX_DIGITS:
        return f"[integer of more than {_MAX_DIGITS} digits]"
    return value if value is None or isinstance(value, int | float | datetime) else str(value)


SYNC_DELAY_S = 0.2
"""How long a line may wait for the next ones before all of them are synced; with the sync itself, under 0.25 s."""

_TAIL_BYTES = 64 * 1024


class Journal:
    """An append-only file of results, one line each, written by one process at a time.

    When `append` has returned, the line is with the operating system and outlives a kill of this process; at most 0.25 s later
    it outlives a power cut, too. One background thread syncs for all lines of that time, never one by one. It also looks whether
    the file is still at its path: what is written to one that is not there is lost, or found by nobody.
    Opening creates the file and its folder, and cuts off a last line that a kill left incomplete.
    `secrets` maps names to values that are replaced by ``[redacted:NAME]`` before anything is written. `check` is called when no
    other process can write the run any more, and nothing is written yet: what it raises leaves all as it was.

    Raises:
        UsageError: another writer has the journal open.
        RunError: the file cannot be opened.
    """

    def __init__(
        self, path: Path, *, secrets: Mapping[str, str] | None = None, check: Callable[[], object] = lambda: None
    ) -> None:
        self.path = path
        self._redaction = Redaction(secrets)
        self._appending = threading.Lock()
        self._dirty, self._closing = threading.Event(), threading.Event()
        self._sync_failure: OSError | None = None
        self._syncer: threading.Thread | None = None
        self._lock = RunLock(path, mode=openness(path.parents[2]))
        try:
            check()
            self._fd = _open_whole(path)
        except BaseException as error:
            self._lock.release()
            if not isinstance(error, OSError):
                raise
            raise RunError(f"cannot open the journal {path}: {error.strerror}; {_REMEDY}") from None
        self._seal = Seal(self._fd)

    def append(self, result: ItemResult) -> None:
        """Record one result; safe from any thread.

        Raises:
            RunError: the line could not be written (a full disk, a closed journal), and the journal is as it was before; or the
                file was moved or deleted since.
        """
        self._check_sync()
        line = line_of(result, self._redaction)
        with self._appending:
            if self._fd < 0:
                raise RunError(f"the journal {self.path} is closed; open it again to append")
            try:
                _write_whole(self._fd, line)
            except OSError as error:
                raise self._failed(error) from None
            self._seal.add(line)
            if self._syncer is None:
                self._start_syncer()
        self._dirty.set()

    def foreign_change(self) -> str:
        """What anybody else did to the file since it was opened, as a phrase; "" where nothing is."""
        with self._appending:
            return self._seal.broken(self.path)

    def close(self) -> None:
        """Sync what is not yet synced and let the next writer in; a second call does nothing.

        Raises:
            RunError: the last lines could not be synced, or the file is not at its path any more.
        """
        with self._appending:
            fd, self._fd = self._fd, -1
        if fd < 0:
            return
        self._closing.set()
        self._dirty.set()
        if self._syncer is not None:
            self._syncer.join()
        try:
            self._sync(fd)
        finally:
            os.close(fd)
            self._lock.release()
        self._check_sync()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _start_syncer(self) -> None:
        self._syncer = threading.Thread(target=self._sync_in_batches, args=(self._fd,), name="journal-sync", daemon=True)
        self._syncer.start()

    def _sync_in_batches(self, fd: int) -> None:
        while not self._closing.is_set():
            self._dirty.wait()
            self._closing.wait(SYNC_DELAY_S)
            # cleared before the sync: a line that arrives during it asks for another one
            self._dirty.clear()
            self._sync(fd)

    def _sync(self, fd: int) -> None:
        try:
            sync_open(fd, self.path)
            if not os.path.samestat(os.fstat(fd), os.stat(self.path)):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        except OSError as error:
            self._sync_failure = error

    def _check_sync(self) -> None:
        if self._sync_failure is not None:
            raise self._failed(self._sync_failure)

    def _failed(self, error: OSError) -> RunError:
        run_id = self.path.parent.name
        if isinstance(error, FileNotFoundError):
            return RunError(
                f"the journal {self.path} was moved or deleted during the run; what was moved holds its results: "
                f"put it back, then resume run {run_id}"
            )
        return RunError(
            f"cannot write {self.path}: {error.strerror}; what it holds is kept: free disk space, then resume run {run_id}"
        )


def _open_whole(path: Path) -> int:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, openness(path.parent) & 0o666)
    try:
        size = os.fstat(fd).st_size
        if (whole := _end_of_last_line(fd, size)) < size:
            os.ftruncate(fd, whole)
            sync_open(fd, path)
        for folder in path.parents[:3]:  # the run's, runs/ and the store: a process that was stopped may not have synced them
            sync_folder(folder)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _end_of_last_line(fd: int, size: int) -> int:
    end = size
    while end > 0:
        start = max(0, end - _TAIL_BYTES)
        if (found := os.pread(fd, end - start, start).rfind(b"\n")) >= 0:
            return start + found + 1
        end = start
    return 0


def _write_whole(fd: int, line: bytes) -> None:
    """One write; what the system took only in part is completed, and taken back if that fails."""
    before = os.fstat(fd).st_size
    try:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(fd, rest) :]
    except BaseException:
        os.ftruncate(fd, before)
        raise
