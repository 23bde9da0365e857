"""The landed Parquet files of a store, in a local folder or behind an fsspec URL.

After a year of nights a table is many small files, of which mostly a few columns are wanted: `rows_of` reads these without
pyarrow's dataset, whose import loads pandas and which is built for few large files.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from eval_skills.core.errors import InputError, RunError, UsageError
from eval_skills.core.store.digests import digest_of_file, record_digest, recorded_digests
from eval_skills.core.store.files import create, make_folder, replace_durably, sync_folder
from eval_skills.core.store.layout import is_run_id
from eval_skills.core.store.schema import DATE_FIELD, SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    import pyarrow.dataset as ds

    from eval_skills.core.store.layout import Layout, TableName

Found = TypeVar("Found")


class Tables:
    """Finds, reads and publishes the landed files of one store.

    Raises:
        UsageError: the URL's protocol is unknown, or the package that speaks it is not installed.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.is_local = "://" not in layout.tables
        self.filesystem, self.root = (fs.LocalFileSystem(), layout.tables) if self.is_local else _remote(layout.tables)
        self.tell: Callable[[str], object] = warnings.warn
        """Called once with a sentence about every damaged file that was left out of what was read."""
        self._left_out: set[str] = set()
        self._named: set[str] = set()
        self._digests: dict[str, set[str]] | None = None
        self._well: dict[str, tuple[int, int]] = {}
        self._counted: dict[str, tuple[tuple[int, int, int], int]] = {}

    def files(self, name: TableName, run_ids: Collection[str] | None = None) -> dict[str, str]:
        """The landed files as run id → path on `filesystem`, in the order of the run ids; of all runs, or of those named."""
        selector = fs.FileSelector(f"{self.root}/{name}", recursive=True, allow_not_found=True)
        found = {run_id: info.path for info in self.filesystem.get_file_info(selector) if (run_id := _run_id_in(info))}
        return {run_id: found[run_id] for run_id in sorted(found) if run_ids is None or run_id in run_ids}

    def sound_files(self, name: TableName, run_ids: Collection[str] | None = None) -> dict[str, str]:
        """Those of `files` whose bytes are as they were written, by the digests of their landing; each is read for that once.

        The checksums of Parquet cover neither its footer nor the headers of its pages. Of several files, those that differ are
        left out, and named (`tell`). Behind a URL nothing is compared: it would load whole files, of which a few columns are
        wanted.

        Raises:
            InputError: all of them are damaged.
        """
        files = self.files(name, run_ids)
        left = {run_id: path for run_id, path in files.items() if path not in self._left_out} or files
        if all(self._each(self._is_as_written, left.values())):
            return left
        if not self.leave_out_damaged(name, run_ids):
            problems = (self._problem(path) for path in left.values())
            if (problem := next(filter(None, problems), None)) is not None:
                raise problem
        return {run_id: path for run_id, path in left.items() if path not in self._left_out}

    def _each(self, function: Callable[[str], Found], paths: Collection[str]) -> list[Found]:
        if len(paths) < READERS:
            return [function(path) for path in paths]
        with ThreadPoolExecutor(READERS) as readers:
            return list(readers.map(function, paths))

    def _is_as_written(self, path: str) -> bool:
        """Whether its digest is one of those with which it has landed; so does a file without any, and one that is just gone."""
        if not self.is_local:
            return True
        try:
            found = os.stat(path)
            if self._well.get(path) == (state := (found.st_size, found.st_mtime_ns)):
                return True
            known = self.known_digests().get(self.relative(path))
            if known and (digest := digest_of_file(self.filesystem, path)) not in known:
                self._digests = None  # it may just have landed again
                if digest not in self.known_digests().get(self.relative(path), ()):
                    return False
        except FileNotFoundError:
            return True
        except OSError:  # a bad block, or no right to read it
            return False
        self._well[path] = state
        return True

    def has_digest(self, path: str) -> bool:
        """Whether it was written down with which bytes a file has landed, so that `sound_files` has compared these."""
        return self.relative(path) in self.known_digests()

    def known_digests(self) -> dict[str, set[str]]:
        """The digests of the landed files, by their path below the tables; none where the list cannot be read, which is told."""
        if self._digests is None:
            try:
                self._digests = recorded_digests(self._layout)
            except RunError as error:
                self.tell(f"{error}; until then, landed files are checked by their checksums only")
                self._digests = {}
        return self._digests

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
            format=self._format(),
            filesystem=self.filesystem,
            partitioning=partitioning,
            partition_base_dir=f"{self.root}/{name}",
        )

    def _format(self) -> ds.ParquetFileFormat:
        """Every page is checked against its checksum. Reading ahead pays where a read is a request; in small local files it only
        costs time."""
        import pyarrow.dataset as ds

        options = ds.ParquetFragmentScanOptions(pre_buffer=not self.is_local, page_checksum_verification=True)
        return ds.ParquetFileFormat(default_fragment_scan_options=options)

    def rows(self, name: TableName, columns: Collection[str], run_ids: Collection[str] | None = None) -> list[dict[str, Any]]:
        """These columns of the landed rows, in the order of the run ids: for a few columns of many small files.

        Of several files, damaged ones are left out, and named (`tell`): they hide nothing of the others.

        Raises:
            InputError: the only file is damaged.
        """
        wanted = frozenset(columns)
        schema = pa.schema([column for column in SCHEMAS[name] if column.name in wanted])
        paths = list(self.sound_files(name, run_ids).values())
        try:
            return rows_of(self.filesystem, paths, schema)
        except InputError:
            if not self.leave_out_damaged(name, run_ids):
                raise
        return rows_of(self.filesystem, [path for path in paths if path not in self._left_out], schema)

    def leave_out_damaged(self, name: TableName, run_ids: Collection[str] | None = None) -> bool:
        """Leave damaged files out of what is read of these from now on, and tell of each; whether there are any, and others."""
        files = self.files(name, run_ids)
        damaged = {path: problem for path in files.values() if (problem := self._problem(path))}
        for path, problem in damaged.items() if len(damaged) < len(files) else ():
            self.name_damaged(path, problem)
            self._left_out.add(path)
        return bool(damaged) and len(damaged) < len(files)

    def _problem(self, path: str) -> InputError | None:
        try:
            with _readable(path):
                pq.read_table(path, filesystem=self.filesystem, partitioning=None, page_checksum_verification=True)
        except InputError as error:
            return error
        return None if self._is_as_written(path) else InputError(f"{_ALTERED}; restore it, or move it away", source=path)

    def batches(self, name: TableName, run_id: str) -> Iterator[pa.RecordBatch]:
        """The landed rows of one run, batch by batch, without the column `date`.

        Raises:
            InputError: its file is damaged.
        """
        with self.readable(name, [run_id]):
            yield from self.dataset(name, [run_id]).to_batches(columns=SCHEMAS[name].names)

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
                with _readable(path):
                    pq.read_table(path, filesystem=self.filesystem, page_checksum_verification=True)
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
            rows = row_count(self.filesystem, path)
        except InputError as error:
            self.name_damaged(path, error)
            return None
        if state is not None:
            self._counted[path] = (state, rows)
        return rows

    def states(self, name: TableName) -> dict[str, tuple[int, int, int] | None]:
        """What differs when a landed file is another one, by path; None where that cannot be told, as behind a URL."""
        return {path: self._state(path) for path in self.files(name).values()}

    def _state(self, path: str) -> tuple[int, int, int] | None:
        """What differs when the file is another one; None where that cannot be told."""
        if not self.is_local:
            return None
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

    def digest(self, name: TableName, run_id: str) -> str | None:
        """The digest of the bytes of one landed file, as ``sha256:<16 hex digits>``; None where there is none."""
        path = self.files(name, [run_id]).get(run_id)
        if path is None:
            return None
        return f"sha256:{digest_of_file(self.filesystem, path)[:16]}"

    def scratch(self, relative: str, run_id: str) -> Path:
        """Where to write a file before it is published; it is there, and empty. No reader takes it for a landed file."""
        target = Path(self.root, relative)
        run_folder = self._layout.run_folder(run_id)
        # every folder below runs/ is a run: anything else is prepared beside them
        folder = target.parent if self.is_local else run_folder if run_folder.is_dir() else self._layout.root / "scratch"
        make_folder(folder, self._layout.mode)
        create(scratch := folder / f".{relative.replace('/', '.')}.tmp", self._layout.mode)
        return scratch

    def publish(self, scratch: Path, relative: str) -> str:
        """Put a finished scratch file in its place, whole or not at all, and return that place on `filesystem`.

        Locally it is renamed. Behind a URL it is uploaded: object stores show an object only when it is complete.
        """
        target = f"{self.root}/{relative}"
        record_digest(self._layout, relative, digest_of_file(fs.LocalFileSystem(), str(scratch)))
        if self.is_local:
            replace_durably(scratch, Path(target))
            for above in Path(target).parents[1:3]:  # a process that was stopped may not have synced them
                sync_folder(above)
        else:
            self.filesystem.create_dir(target.rsplit("/", 1)[0], recursive=True)
            fs.copy_files(str(scratch), target, source_filesystem=fs.LocalFileSystem(), destination_filesystem=self.filesystem)
            scratch.unlink()
        return target

    def relative(self, path: str) -> str:
        """Where a path of `files` is below the tables."""
        return path.removeprefix(f"{self.root}/")

    def path_of(self, location: str) -> str:
        """The path on `filesystem` of what a person names so; the inverse of `location`."""
        return location if self.is_local else location.split("://", 1)[1]

    def location(self, path: str) -> str:
        """A path on `filesystem` as a person would name it: with the URL's protocol."""
        return path if self.is_local else f"{self._layout.tables.split('://', 1)[0]}://{path.lstrip('/')}"


def empty_table(name: TableName) -> pa.Table:
    """What a `dataset` without a file holds."""
    return _dated(name).empty_table()


def _dated(name: TableName) -> pa.Schema:
    return pa.schema([*SCHEMAS[name], DATE_FIELD])


def _run_id_in(info: fs.FileInfo) -> str | None:
    stem, _, suffix = info.base_name.partition(".")
    return stem if info.type == fs.FileType.File and suffix == "parquet" and is_run_id(stem) else None


def _remote(url: str) -> tuple[fs.FileSystem, str]:
    import fsspec

    try:
        filesystem, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UsageError(f"the store {url!r} cannot be opened: {error}") from None
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem)), root.rstrip("/")


_ALTERED = "its bytes are not those that were written"

READERS = 8
"""Files that are read at a time: behind a URL each is a wait of its own."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rows_of(filesystem: fs.FileSystem, paths: Sequence[str], schema: pa.Schema) -> list[dict[str, Any]]:
    """The columns of `schema` of every file, in the order of the files; null where a file of an older version lacks one.

    It is fastest with the columns in the order in which the files have them.

    Raises:
        InputError: a file is not readable.
    """
    if not paths:
        return []
    with ThreadPoolExecutor(min(READERS, len(paths))) as readers:
        found = pa.concat_tables(readers.map(partial(_read, filesystem, schema), paths))
    return [dict(zip(schema.names, row, strict=True)) for row in zip(*map(_values, found.columns), strict=True)]


def row_count(filesystem: fs.FileSystem, path: str) -> int:
    """How many rows a file has; only its footer is read.

    Raises:
        InputError: it is not readable.
    """
    with _readable(path):
        footer = pq.read_metadata(path, filesystem=filesystem)
    rows: int = footer.num_rows
    if rows != sum(footer.row_group(place).num_rows for place in range(footer.num_row_groups)):  # no checksum covers the footer
        raise InputError("not a readable Parquet file (its footer contradicts itself); restore it, or move it away", source=path)
    return rows


def _read(filesystem: fs.FileSystem, schema: pa.Schema, path: str) -> pa.Table:
    with _readable(path), pq.ParquetFile(path, filesystem=filesystem, page_checksum_verification=True) as file:
        places = _places(file.metadata.schema, frozenset(schema.names))
        # `file.read` looks the names up in a list of all columns that it makes anew for every file: half of the time
        table: pa.Table = file.reader.read_all(column_indices=places, use_threads=False).replace_schema_metadata()
        for each in schema if table.num_columns < len(schema) else ():
            if each.name not in table.column_names:
                table = table.append_column(each, pa.nulls(file.metadata.num_rows, each.type))
        table = table if table.column_names == schema.names else table.select(schema.names)
        return table if table.schema.equals(schema) else table.cast(schema)


def _places(columns: pq.ParquetSchema, names: frozenset[str]) -> list[int]:
    """Where the leaves of these columns are in a file: a list or struct has several."""
    return [place for place in range(len(columns)) if columns.column(place).path.partition(".")[0] in names]


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values as Python objects. Pyarrow's own conversion of moments imports pandas, and a cast all of its functions."""
    if not pa.types.is_timestamp(column.type):
        values: list[Any] = column.to_pylist()
        return values
    since = (each for chunk in column.chunks for each in chunk.view(pa.int64()).to_pylist())
    return [None if each is None else _EPOCH + timedelta(microseconds=each) for each in since]


@contextmanager
def _readable(path: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"not a readable Parquet file ({error}); restore it, or move it away", source=path) from None
