"""Where things lie in a store.

::

    <root>/runs/<run id>/manifest.json
    <root>/runs/<run id>/journal.jsonl                only while the run is unfinished
    <root>/runs/<run id>/journal.lock                 only while it is being written
    <tables>/items/date=YYYY-MM-DD/<run id>.parquet
    <tables>/reports/date=YYYY-MM-DD/<run id>.parquet
    <tables>/comparisons/date=YYYY-MM-DD/<comparison id>.parquet
    <tables>/nights/date=YYYY-MM-DD/<night id>.parquet
    <tables>/samples/date=YYYY-MM-DD/<batch id>.parquet
    <tables>/preferences/date=YYYY-MM-DD/<comparison id>.parquet
    <tables>/calibrations/date=YYYY-MM-DD/<calibration id>.parquet
    <root>/monitors/<monitor id>/position.json        how far a monitor has read its log

`<tables>` is `<root>`, unless the store's path is a URL: then the tables lie there and `<root>` is a local folder.
A path that ends in ``.db``, ``.sqlite`` or ``.sqlite3`` is an SQLite file that mirrors the store; `<root>` is then the folder
``<stem>.store`` beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from eval_skills.core.errors import UsageError
from eval_skills.core.store.run_id import check_run_id

if TYPE_CHECKING:
    from datetime import date

TableName = Literal["items", "reports", "comparisons", "samples", "nights", "preferences", "calibrations"]

SQLITE_SUFFIXES = frozenset({".db", ".sqlite", ".sqlite3"})
DEFAULT_ROOT = "./eval-store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The places of one store: `root` on this machine, `tables` (a path or URL), `sqlite` if it is mirrored."""

    root: Path
    tables: str
    sqlite: Path | None = None

    @classmethod
    def of(cls, path: str | Path, *, local: str | Path | None = None) -> Layout:
        """The layout behind what a person names as the store.

        Raises:
            UsageError: `path` is a file, or `local` is given for a store that is local anyway.
        """
        text = str(path)
        if "://" in text and not text.startswith("file://"):
            return cls(root=Path(local or DEFAULT_ROOT), tables=text.rstrip("/"))
        if local is not None:
            raise UsageError(f"the store {text!r} is local already; a local folder is given only beside a URL")
        root, sqlite = Path(text.removeprefix("file://")), None
        if root.suffix.lower() in SQLITE_SUFFIXES:
            root, sqlite = root.with_name(f"{root.stem}.store"), root
        if root.exists() and not root.is_dir():
            raise UsageError(f"the store {text!r} is a file; name a folder, or a file that ends in .db or .sqlite")
        return cls(root=root, tables=str(root), sqlite=sqlite)

    def run_folder(self, run_id: str) -> Path:
        """The folder of one run. Raises `UsageError` when `run_id` is none, so no path leads out of the store."""
        return self.root / "runs" / check_run_id(run_id)

    def journal(self, run_id: str) -> Path:
        """The journal of one run, there only while the run is unfinished."""
        return self.run_folder(run_id) / "journal.jsonl"

    @staticmethod
    def table_file(name: TableName, day: date, run_id: str) -> str:
        """The landed file of one run, relative to `tables`."""
        return f"{name}/date={day.isoformat()}/{check_run_id(run_id)}.parquet"
