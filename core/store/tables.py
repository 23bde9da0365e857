"""The landed Parquet files of a store, in a local folder or behind an fsspec URL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import fs

from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.store.durable import replace_durably
from eval_skills.core.store.run_id import is_run_id
from eval_skills.core.store.schema import DATE_FIELD, ITEM_SCHEMA, REPORT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from eval_skills.core.store.layout import Layout, TableName

SCHEMAS = {"items": ITEM_SCHEMA, "reports": REPORT_SCHEMA}


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
        schema = pa.schema([*SCHEMAS[name], DATE_FIELD])
        files = list(self.files(name, run_ids).values())
        if not files:
            return ds.dataset(schema.empty_table())
        partitioning = ds.partitioning(pa.schema([DATE_FIELD]), flavor="hive")
        return ds.dataset(
            files,
            schema=schema,
            format="parquet",
            filesystem=self.filesystem,
            partitioning=partitioning,
            partition_base_dir=f"{self._root}/{name}",
        )

    def batches(self, name: TableName, run_id: str) -> Iterator[pa.RecordBatch]:
        """The landed rows of one run, batch by batch, without the column `date`."""
        return iter(self.dataset(name, [run_id]).to_batches(columns=SCHEMAS[name].names))

    def landed_rows(self) -> dict[str, int]:
        """How many items have landed, by run id; only the files' footers are read."""
        files = self.files("items")
        return {run_id: self._rows_of(path) for run_id, path in files.items()}

    def _rows_of(self, path: str) -> int:
        try:
            rows: int = pq.read_metadata(path, filesystem=self.filesystem).num_rows
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"not a readable Parquet file ({error}); restore it, or move it away", source=path) from None
        return rows

    def scratch(self, relative: str, run_id: str) -> Path:
        """Where to write a file before it is published; its folder exists. No reader takes it for a landed file."""
        target = Path(self._root, relative)
        folder = target.parent if self.is_local else self._layout.run_folder(run_id)
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
