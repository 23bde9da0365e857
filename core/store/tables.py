"""The landed Parquet files of a store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from functools import lru_cache
from pathlib import Path
from threading import get_native_id
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from eval_skills.core.errors import InputError, RunError, warn_of_store
from eval_skills.core.store.digests import DIGESTS_FILE, digest_of_file, record_digest, recorded_digests
from eval_skills.core.store.files import create, make_folder, replace_durably, sync_folder
from eval_skills.core.store.layout import Layout, is_run_id, is_to_come, start_date
from eval_skills.core.store.parquet_reading import (
    DELETED,
    READERS,
    DeletedError,
    as_rows,
    of_what_is_there,
    read_all,
    readable,
    row_count,
)
from eval_skills.core.store.schema import DATE_FIELD, SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    import pyarrow.dataset as ds

    from eval_skills.core.store.layout import TableName

Found = TypeVar("Found")
State = tuple[int, int, int]
"""Size, time and inode of a file."""

MANY = 50
"""From so many files on it pays to import DuckDB for reading them."""

_WORTH_THREADS = 1024 * 1024
"""Below so many bytes the columns of a row group are read sooner than threads for them have begun."""


class Tables:
    """Finds, reads and puts in place the landed files of one store."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.root = str(layout.root)
        self.tell: Callable[[str], object] = warn_of_store
        """Called once with a sentence about every damaged file that was left out of what was read."""
        self.unlisted: dict[str, str] | None = None
        """Where it is a dict, a folder that cannot be listed is noted there, with what is wrong, and counts as empty: `verify`
        goes on. For who reads results, such a folder is an error."""
        self._left_out: dict[str, State | None] = {}
        self._named: set[str] = set()
        self._digests: tuple[State | None, dict[str, list[str]]] | None = None
        self._well: dict[str, tuple[int, int]] = {}
        self._counted: dict[str, tuple[State, int]] = {}

    def files(self, name: TableName, run_ids: Collection[str] | None = None) -> dict[str, str]:
        """The landed files as run id → path, in the order of the run ids; of all runs, or of those named.

        Of several files of one run it is the one under the day of its id, where a run lands; another one was put there by hand.
        """
        folders = [path for path, day in _partitions(f"{self.root}/{name}", self.unlisted) if _is_date(day)]
        found: dict[str, str] = {}
        for path in _files(folders, self.unlisted):
            run_id = _run_id_of(path)
            if run_id and not (run_id in found and found[run_id].endswith(Layout.table_file(name, start_date(run_id), run_id))):
                found[run_id] = path
        return {run_id: found[run_id] for run_id in sorted(found) if run_ids is None or run_id in run_ids}

    def sound_files(self, name: TableName, run_ids: Collection[str] | None = None) -> dict[str, str]:
        """Those of `files` whose bytes are as they were written, by the digests of their landing; each is read for that once.

        The checksums of Parquet cover neither its footer nor the headers of its pages. Of several files, those that differ are
        left out, and named (`tell`).

        Raises:
            InputError: all of them are damaged.
        """
        for run_id, path in self.misplaced(name):
            if run_ids is None or run_id in run_ids:
                self.name_damaged(path, InputError(MISPLACED))
        files = self.files(name, run_ids)
        left = {run_id: path for run_id, path in files.items() if not self._is_left_out(path)} or files
        if all(self._each(self._is_as_written, left.values())):
            return left
        if not self.leave_out_damaged(name, run_ids):
            problems = (self._problem(path) for path in left.values())
            if (problem := next(filter(None, problems), None)) is not None:
                raise problem
        return {run_id: path for run_id, path in left.items() if not self._is_left_out(path)}

    def _is_left_out(self, path: str) -> bool:
        """Whether it was damaged when it was last read, and is the same file still: one that was restored is read again."""
        return path in self._left_out and self._left_out[path] == self._state(path)

    def misplaced(self, name: TableName) -> list[tuple[str, str]]:
        """The files of runs, by run id, in partitions whose name is not a date: nothing says of which day they are, and they are
        in none of `files`."""
        folders = [path for path, day in _partitions(f"{self.root}/{name}", self.unlisted) if not _is_date(day)]
        return sorted((run_id, path) for path in _files(folders, self.unlisted) if (run_id := _run_id_of(path)))

    def _each(self, function: Callable[[str], Found], paths: Collection[str]) -> list[Found]:
        """What the function returns for each path, in their order. A thread gets many at once: to hand over one small file takes
        longer than to read it."""
        if len(paths) < READERS:
            return [function(path) for path in paths]
        listed, size = list(paths), -(-len(paths) // READERS)
        parts = [listed[start : start + size] for start in range(0, len(listed), size)]
        with ThreadPoolExecutor(READERS) as readers:
            return [found for part in readers.map(lambda part: [function(path) for path in part], parts) for found in part]

    def _is_as_written(self, path: str) -> bool:
        """Whether its digest is one of those with which it has landed; so does a file without any, and one that is just gone."""
        try:
            found = os.stat(path)
            if self._well.get(path) == (state := (found.st_size, found.st_mtime_ns)):
                return True
            relative, known = self.relative(path), self.known_digests()
            if relative in known and (digest := digest_of_file(path)) not in known[relative]:
                known = self.known_digests()  # it may just have landed again
                if digest not in known.get(relative, ()):
                    return False
        except FileNotFoundError:
            return True
        except OSError:  # a bad block, or no right to read it
            return False
        self._well[path] = state
        return True

    def is_another(self, path: str) -> bool:
        """Whether a file is gone, or is another one than when `sound_files` looked at it."""
        try:
            found = os.stat(path)
        except OSError:
            return True
        return self._well.get(path) != (found.st_size, found.st_mtime_ns)

    def has_digest(self, path: str) -> bool:
        """Whether it was written down with which bytes a file has landed, so that `sound_files` has compared these."""
        return self.relative(path) in self.known_digests()

    def known_digests(self) -> dict[str, list[str]]:
        """The digests of the landed files, by their path below the tables; none where the list cannot be read, which is told.

        It is read again where it has changed: of what lands while this process stays it has the digests, too.
        """
        state = self._state(f"{self.root}/{DIGESTS_FILE}")
        if self._digests is None or self._digests[0] != state:
            try:
                self._digests = state, recorded_digests(self._layout)
            except RunError as error:
                self.tell(f"{error}; until then, landed files are checked by their checksums only")
                self._digests = state, {}
        return self._digests[1]

    def dataset(self, name: TableName, run_ids: Collection[str] | None = None) -> ds.Dataset:
        """The landed rows with the table's schema and a last column `date`; without a file, a dataset without rows.

        They are those of `sound_files`, and files that were left out before are so here, unless nothing but these is asked for.

        Raises:
            InputError: all of the files are damaged.
        """
        import pyarrow.dataset as ds

        files = list(self.sound_files(name, run_ids).values())
        if not files:
            return ds.dataset(empty_table(name))
        partitioning = ds.partitioning(pa.schema([DATE_FIELD]), flavor="hive")
        return ds.dataset(
            files,
            schema=_dated(name),
            format=_format(),
            filesystem=fs.LocalFileSystem(),
            partitioning=partitioning,
            partition_base_dir=f"{self.root}/{name}",
        )

    def rows(self, name: TableName, columns: Collection[str], run_ids: Collection[str] | None = None) -> list[dict[str, Any]]:
        """These columns of the landed rows, in the order of the run ids: for a few columns of many small files.

        Of several files, damaged ones are left out, and named (`tell`): they hide nothing of the others.

        Raises:
            InputError: the only file is damaged.
        """
        return of_what_is_there(lambda: self._rows(name, columns, run_ids))

    def _rows(self, name: TableName, columns: Collection[str], run_ids: Collection[str] | None) -> list[dict[str, Any]]:
        wanted = frozenset(columns)
        schema = pa.schema([column for column in SCHEMAS[name] if column.name in wanted])
        paths = list(self.sound_files(name, run_ids).values())
        if len(paths) >= MANY and (table := self._read_many(name, wanted, paths)) is not None:
            return as_rows(table)
        try:
            return as_rows(read_all(paths, schema))
        except InputError:
            if not self.leave_out_damaged(name, run_ids):
                raise
        return as_rows(read_all([path for path in paths if not self._is_left_out(path)], schema))

    def _read_many(self, name: TableName, columns: Collection[str], paths: list[str]) -> pa.Table | None:
        """The columns of these files through DuckDB, which takes a quarter of the time; None where it cannot read them."""
        import duckdb

        from eval_skills.core.store.views import columns_of, is_readable

        try:
            return columns_of(name, columns, paths) if is_readable(self, paths) else None
        except duckdb.Error:
            return None  # pyarrow says which file is the cause

    def leave_out_damaged(self, name: TableName, run_ids: Collection[str] | None = None) -> bool:
        """Leave damaged files out of what is read of these from now on, and tell of each; whether there are any, and others."""
        files = self.files(name, run_ids)
        states = {path: self._state(path) for path in files.values()}
        damaged = {path: problem for path in files.values() if (problem := self._problem(path))}
        for path, problem in damaged.items() if len(damaged) < len(files) else ():
            self.name_damaged(path, problem)
            self._left_out[path] = states[path]
        return bool(damaged) and len(damaged) < len(files)

    def _problem(self, path: str) -> InputError | None:
        try:
            with readable(path):
                pq.read_table(path, partitioning=None, page_checksum_verification=True)
        except DeletedError:
            return None
        except InputError as error:
            return error
        return None if self._is_as_written(path) else InputError(f"{_ALTERED}; restore it, or move it away", source=path)

    def batches(self, name: TableName, run_id: str) -> Iterator[pa.RecordBatch]:
        """The landed rows of one run, batch by batch, without the column `date`.

        Raises:
            InputError: its file is damaged.
        """
        with self.readable(name, [run_id]):
            for path in self.sound_files(name, [run_id]).values():
                yield from self._batches_of(name, path, run_id)

    def _batches_of(self, name: TableName, path: str, run_id: str) -> Iterator[pa.RecordBatch]:
        """Those of a file as this version writes it row group by row group, in half of the time that a scan takes."""
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            if not file.schema_arrow.equals(SCHEMAS[name]):
                yield from self.dataset(name, [run_id]).to_batches(columns=SCHEMAS[name].names)
                return
            for number in range(file.num_row_groups):
                is_large = file.metadata.row_group(number).total_byte_size > _WORTH_THREADS
                yield from file.read_row_group(number, use_threads=is_large).to_batches()

    @contextmanager
    def readable(self, name: TableName, run_ids: Collection[str] | None = None) -> Iterator[None]:
        """Rows of a `dataset` are read inside; of a damaged file the name is told.

        Raises:
            InputError: a file is damaged.
        """
        try:
            yield
        except (pa.ArrowException, OSError) as error:
            for path in self.files(name, run_ids).values():
                with readable(path):
                    pq.read_table(path, page_checksum_verification=True)
            if isinstance(error, FileNotFoundError):
                raise DeletedError(f"a file of the table {name} {DELETED}; call again", source=self.root) from None
            raise InputError(f"a file of the table {name} cannot be read ({error})", source=self.root) from None

    def landed_rows(self, run_ids: Collection[str] | None = None) -> dict[str, int | None]:
        """How many items have landed, by run id, of all runs or of those named; only the files' footers are read.

        A damaged file is named (`tell`), and its number is None: it is unknown, not 0.
        """
        files = self.files("items", run_ids)
        return dict(zip(files, self._each(self._rows_in, files.values()), strict=True))

    def _rows_in(self, path: str) -> int | None:
        try:
            state = self._state(path)
            if state is not None and (known := self._counted.get(path)) is not None and known[0] == state:
                return known[1]
            rows = row_count(path)
        except DeletedError:
            return 0
        except InputError as error:
            self.name_damaged(path, error)
            return None
        if state is not None:
            self._counted[path] = (state, rows)
        return rows

    def states(self, name: TableName) -> dict[str, State | None]:
        """What differs when a landed file is another one, by path; None where that cannot be told."""
        return {path: self._state(path) for path in self.files(name).values()}

    def _state(self, path: str) -> State | None:
        """What differs when the file is another one; None where that cannot be told."""
        try:
            found = os.stat(path)
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns, found.st_ino

    def name_damaged(self, path: str, error: InputError) -> None:
        """Tell, once for each file, that what it holds is missing in what was read."""
        if path not in self._named:
            self._named.add(path)
            problem = error.message.partition(" (")[0].partition("; ")[0]
            place = self.location(path) if path.startswith(f"{self.root}/") else path
            self.tell(f"left out: {place}: {problem}; see eval-skills store verify")

    def name_to_come(self, run_ids: Iterable[str]) -> None:
        """Tell, once, of the last of these runs where it began in the future by its id: for who asks for the last, it is that."""
        last = max(run_ids, default=None)
        if last is not None and last not in self._named and is_to_come(last):
            self._named.add(last)
            self.tell(f"run {last} is dated in the future, so a clock was or is wrong; it counts as the last run of its skills")

    def digest(self, name: TableName, run_id: str) -> str | None:
        """The digest of the bytes of one landed file, as ``sha256:<16 hex digits>``; None where there is none."""
        path = self.files(name, [run_id]).get(run_id)
        if path is None:
            return None
        return f"sha256:{digest_of_file(path)[:16]}"

    def scratch(self, relative: str, *, is_shared: bool = False) -> Path:
        """Where to write a file before it is published; it is there, and empty. No reader takes it for a landed file.

        Where no lock keeps others from writing the same file at once, the place `is_shared`, and each has a scratch file of its
        own.
        """
        own = f".{get_native_id()}" if is_shared else ""  # no other thread of the machine has this id
        scratch = Path(self.root, relative).with_name(f".{relative.replace('/', '.')}{own}.tmp")
        make_folder(scratch.parent, self._layout.mode)
        create(scratch, self._layout.mode)
        return scratch

    def has_scratch(self, relative: str) -> bool:
        """Whether somebody writes the file, or a process that was stopped before it published left its scratch file."""
        return any(Path(self.root, relative).parent.glob(f".{relative.replace('/', '.')}*.tmp"))

    def publish(self, scratch: Path, relative: str) -> str:
        """Put a finished scratch file in its place, whole or not at all, and return that place."""
        target = f"{self.root}/{relative}"
        record_digest(self._layout, relative, digest_of_file(scratch))
        replace_durably(scratch, Path(target))
        self._left_out.pop(target, None)  # what was damaged there is gone
        for above in Path(target).parents[1:3]:  # a process that was stopped may not have synced them
            sync_folder(above)
        return target

    def relative(self, path: str) -> str:
        """Where a path of `files` is below the store."""
        return path.removeprefix(f"{self.root}/")

    def path_of(self, location: str) -> str:
        """The path of what a person names so; the inverse of `location`."""
        return location if self._layout.address is None else f"{self.root}{location.removeprefix(self._layout.address.url)}"

    def location(self, path: str) -> str:
        """A path of `files` as a person would name it: in object storage, where it is a mirror of that."""
        return path if self._layout.address is None else f"{self._layout.address.url}/{self.relative(path)}"


def _format() -> ds.ParquetFileFormat:
    """Every page is checked against its checksum. Reading ahead pays where a read is a request; in small files it costs time."""
    import pyarrow.dataset as ds

    options = ds.ParquetFragmentScanOptions(pre_buffer=False, page_checksum_verification=True)
    return ds.ParquetFileFormat(default_fragment_scan_options=options)


def empty_table(name: TableName) -> pa.Table:
    """What a `dataset` without a file holds."""
    return _dated(name).empty_table()


def _dated(name: TableName) -> pa.Schema:
    return pa.schema([*SCHEMAS[name], DATE_FIELD])


def _partitions(folder: str, unlisted: dict[str, str] | None = None) -> list[tuple[str, str]]:
    """The partitions of a table, in their order: the path of each, and what it says of its day."""
    try:
        with os.scandir(folder) as entries:
            found = [
                (each.path, each.name.partition("=")[2]) for each in entries if each.name.startswith("date=") and each.is_dir()
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        _note_unlisted(folder, error, unlisted)
        return []
    return sorted(found)


def _note_unlisted(folder: str, error: OSError, unlisted: dict[str, str] | None) -> None:
    if unlisted is None:
        raise RunError(f"{folder} cannot be listed: {error.strerror}; {LET_IT_BE_READ}") from None
    unlisted[folder] = f"cannot be listed: {error.strerror}"


LET_IT_BE_READ = "let this user read it (chmod), or see to its disk"


@lru_cache(maxsize=16_384)  # a reader asks it of every partition, several times over
def _is_date(day: str) -> bool:
    """Whether it is a date as landing writes it; `fromisoformat` takes others, too."""
    try:
        return date.fromisoformat(day).isoformat() == day
    except ValueError:
        return False


def _files(days: Iterable[str], unlisted: dict[str, str] | None = None) -> Iterator[str]:
    """What is in these partitions; pyarrow's listing looks at each file, too, which takes five times as long."""
    for day in days:
        try:
            with os.scandir(day) as entries:
                yield from (entry.path for entry in entries if entry.name.endswith(".parquet") and entry.is_file())
        except FileNotFoundError:
            continue
        except OSError as error:
            _note_unlisted(day, error, unlisted)


def _run_id_of(path: str) -> str | None:
    stem, _, suffix = path.rpartition("/")[2].partition(".")
    return stem if suffix == "parquet" and is_run_id(stem) else None


MISPLACED = "its folder is not named by a date, as date=2026-11-21 is"

_ALTERED = "its bytes are not those that were written"
