"""The landed Parquet files of a store, in a local folder or behind an fsspec URL."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import fs

from eval_skills.core.errors import UsageError
from eval_skills.core.store.durable import replace_durably
from eval_skills.core.store.judge_schema import CALIBRATION_SCHEMA, PREFERENCE_SCHEMA
from eval_skills.core.store.run_id import is_run_id
from eval_skills.core.store.sample_schema import SAMPLE_SCHEMA
from eval_skills.core.store.schema import COMPARISON_SCHEMA, DATE_FIELD, ITEM_SCHEMA, NIGHT_SCHEMA, REPORT_SCHEMA
from eval_skills.core.store.small_files import row_count, rows_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pyarrow.dataset as ds

    from eval_skills.core.store.layout import Layout, TableName

SCHEMAS: dict[TableName, pa.Schema] = {
    "items": ITEM_SCHEMA,
    "reports": REPORT_SCHEMA,
    "comparisons": COMPARISON_SCHEMA,
    "samples": SAMPLE_SCHEMA,
    "nights": NIGHT_SCHEMA,
    "preferences": PREFERENCE_SCHEMA,
    "calibrations": CALIBRATION_SCHEMA,
}

_CHUNK_BYTES = 1024 * 1024


class Tables:
    """Finds, reads and publishes the landed files of one store.

    Raises:
        UsageError: the URL's protocol is unknown, or the package that speaks it is not installed.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.is_local = "://" not in layout.tables
        self.filesystem, self._root = (fs.LocalFileSystem(), layout.tables) if self.is_local else _remote(layout.tables)

    def files(self, name: TableName, run_ids: Collection[str] | None = None) -> dict[str, str]:
        """The landed files as run id → path on `filesystem`, in the order of the run ids; of all runs, or of those named."""
        selector = fs.FileSelector(f"{self._root}/{name}", recursive=True, allow_not_found=True)
        found = {run_id: info.path for info in self.filesystem.get_file_info(selector) if (run_id := _run_id_in(info))}
        return {run_id: found[run_id] for run_id in sorted(found) if run_ids is None or run_id in run_ids}

    def dataset(self, name: TableName, run_ids: Collection[str] | None = None) -> ds.Dataset:
        """The landed rows with the table's schema and a last column `date`; without a file, a dataset without rows."""
        import pyarrow.dataset as ds

        files = list(self.files(name, run_ids).values())
        if not files:
            return ds.dataset(empty_table(name))
        partitioning = ds.partitioning(pa.schema([DATE_FIELD]), flavor="hive")
        return ds.dataset(
            files,
            schema=_dated(name),
            format=self._format(),
            filesystem=self.filesystem,
            partitioning=partitioning,
            partition_base_dir=f"{self._root}/{name}",
        )

    def _format(self) -> ds.ParquetFileFormat:
        """Reading ahead pays where a read is a request; in small local files it is but more work."""
        import pyarrow.dataset as ds

        return ds.ParquetFileFormat(default_fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=not self.is_local))

    def rows(self, name: TableName, columns: Collection[str], run_ids: Collection[str] | None = None) -> list[dict[str, Any]]:
        """These columns of the landed rows, in the order of the run ids: for a few columns of many small files.

        Raises:
            InputError: a file is not readable.
        """
        wanted = frozenset(columns)
        schema = pa.schema([column for column in SCHEMAS[name] if column.name in wanted])
        return rows_of(self.filesystem, list(self.files(name, run_ids).values()), schema)

    def batches(self, name: TableName, run_id: str) -> Iterator[pa.RecordBatch]:
        """The landed rows of one run, batch by batch, without the column `date`."""
        return iter(self.dataset(name, [run_id]).to_batches(columns=SCHEMAS[name].names))

    def landed_rows(self, run_ids: Collection[str] | None = None) -> dict[str, int]:
        """How many items have landed, by run id, of all runs or of those named; only the files' footers are read."""
        files = self.files("items", run_ids)
        return {run_id: row_count(self.filesystem, path) for run_id, path in files.items()}

    def digest(self, name: TableName, run_id: str) -> str | None:
        """The digest of the bytes of one landed file, as ``sha256:<16 hex digits>``; None where there is none."""
        path = self.files(name, [run_id]).get(run_id)
        if path is None:
            return None
        found = hashlib.sha256()
        with self.filesystem.open_input_stream(path) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                found.update(chunk)
        return f"sha256:{found.hexdigest()[:16]}"

    def scratch(self, relative: str, run_id: str) -> Path:
        """Where to write a file before it is published; its folder exists. No reader takes it for a landed file."""
        target = Path(self._root, relative)
        run_folder = self._layout.run_folder(run_id)
        # a folder below runs/ is a run: what is none is prepared beside them
        folder = target.parent if self.is_local else run_folder if run_folder.is_dir() else self._layout.root / "scratch"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f".{relative.replace('/', '.')}.tmp"

    def publish(self, scratch: Path, relative: str) -> str:
        """Put a finished scratch file in its place, whole or not at all, and return that place on `filesystem`.

        Locally it is renamed. Behind a URL it is uploaded: object stores show an object only when it is complete.
        """
        target = f"{self._root}/{relative}"
        if self.is_local:
            replace_durably(scratch, Path(target))
        else:
            self.filesystem.create_dir(target.rsplit("/", 1)[0], recursive=True)
            fs.copy_files(str(scratch), target, source_filesystem=fs.LocalFileSystem(), destination_filesystem=self.filesystem)
            scratch.unlink()
        return target

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
