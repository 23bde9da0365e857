"""Where the files of a store are, and what run ids look like.

::

    <root>/runs/<run id>/manifest.json
    <root>/runs/<run id>/journal.jsonl                only while the run is unfinished
    <root>/runs/<run id>/journal.lock                 only while it is being written
    <root>/runs/<run id>/asked                        of a scoring: when it was asked for again, and counted again from then on
    <root>/items/date=YYYY-MM-DD/<run id>.parquet
    <root>/reports/date=YYYY-MM-DD/<run id>.parquet
    <root>/comparisons/date=YYYY-MM-DD/<comparison id>.parquet
    <root>/nights/date=YYYY-MM-DD/<night id>.parquet
    <root>/samples/date=YYYY-MM-DD/<batch id>.parquet
    <root>/preferences/date=YYYY-MM-DD/<comparison id>.parquet
    <root>/calibrations/date=YYYY-MM-DD/<calibration id>.parquet
    <root>/labels/date=YYYY-MM-DD/<labels id>.parquet
    <root>/monitors/<monitor id>/position.json        how far a monitor has read its log
    <root>/digests.jsonl                              the digest of every landed file, as it was when it landed

Of a store in object storage (``s3://bucket/prefix``), `<root>` is the mirror of it on this machine: see `store.remote`.
A path that ends in ``.db``, ``.sqlite`` or ``.sqlite3`` is an SQLite file that mirrors the store; `<root>` is then the folder
``<stem>.store`` beside it.

Run ids: ``20261121T233824Z-3f9a``, sortable by the second a run began, and by their order within one process.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import threading
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from time import sleep
from typing import Literal

from eval_skills.core.errors import UsageError
from eval_skills.core.store.files import openness
from eval_skills.core.store.remote.address import Address

TableName = Literal["items", "reports", "comparisons", "samples", "nights", "preferences", "calibrations", "labels"]

SQLITE_SUFFIXES = frozenset({".db", ".sqlite", ".sqlite3"})
DEFAULT_ROOT = "./eval-store"
JOURNAL = "journal.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The places of one store: its folder `root`, its SQLite file if it has one, and the `address` in object storage whose mirror
    the folder is, if it is one."""

    root: Path
    sqlite: Path | None = None
    address: Address | None = None

    @classmethod
    def of(cls, path: str | Path) -> Layout:
        """The layout behind what a person names as the store.

        Raises:
            UsageError: `path` is blank, a file, or a URL that names no object storage.
        """
        text = str(path)
        if not text.strip():
            raise UsageError("the store is blank; name a folder, a file that ends in .db or .sqlite, or s3://bucket/prefix")
        if (one_slash := _ONE_SLASH.match(text)) is not None:
            url = f"{one_slash[1]}://{text[one_slash.end() :]}"
            raise UsageError(
                f"the store {text!r} has one slash where a URL has two; write {url}, as text: a Path makes one of two"
            )
        if "://" in text and not text.startswith("file://"):
            address = Address.of(text)
            return cls(root=address.mirror, address=address)
        if "\0" in text:
            raise UsageError(f"the store {text!r} holds a character that no name of a folder can hold; name another")
        root, sqlite = Path(text.removeprefix("file://")), None
        if root.suffix.lower() in SQLITE_SUFFIXES:
            root, sqlite = root.with_name(f"{root.stem}.store"), root
        if os.path.exists(root) and not os.path.isdir(root):  # a name that is too long is not there
            raise UsageError(f"the store {text!r} is a file; name a folder, or a file that ends in .db or .sqlite")
        return cls(root=root, sqlite=sqlite)

    @property
    def mode(self) -> int:
        """The mode of what is made below `root`: as open as `root` is, and private where that is not there yet."""
        return openness(self.root)

    def run_folder(self, run_id: str) -> Path:
        """The folder of one run. Raises `UsageError` when `run_id` is not one, so no path leads out of the store."""
        return self.root / "runs" / check_run_id(run_id)

    def run_file(self, run_id: str, name: str) -> str:
        """A file in the folder of a run, as text: a reader looks at a year of them, and to make the paths takes longer."""
        return f"{self.root}/runs/{check_run_id(run_id)}/{name}"

    def journal(self, run_id: str) -> Path:
        """The journal of one run, there only while the run is unfinished."""
        return self.run_folder(run_id) / JOURNAL

    @staticmethod
    def table_file(name: TableName, day: date, run_id: str) -> str:
        """The landed file of one run, relative to `root`."""
        return f"{name}/date={day.isoformat()}/{check_run_id(run_id)}.parquet"


_ONE_SLASH = re.compile("(s3|gs|az):/(?!/)")
_SHAPE = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})Z-[0-9a-f]{4}")
_MOMENT = "%Y%m%dT%H%M%SZ"
_EXAMPLE = "20261121T233824Z-3f9a"
_SUFFIXES = 0x10000


def new_run_id(now: datetime | None = None, *, after: str | None = None) -> str:
    """A fresh run id for a run that begins `now` (absent: this moment).

    Four hex digits keep runs apart that begin within one second. They are random, but a run that begins at this moment always has
    a greater id than the one before it in this process, and than `after`, the youngest of its store: what is sorted by id, such
    as nights and `latest`, is in their order. A dated run is greater than `after`, too, as long as that second has an id left.

    Raises:
        ValueError: `now` has no time zone, so it names no moment.
    """
    if now is None:
        return _new_run_ids.next(after)
    if now.tzinfo is None:
        raise ValueError(f"{now.isoformat()} has no time zone; give an aware datetime, such as datetime.now(UTC)")
    second = _second_of(now)
    suffix = secrets.randbelow(_SUFFIXES // 2)
    if after is not None and after.startswith(second):
        greater = int(after[-4:], 16) + 1 + secrets.randbelow(_STEP)
        suffix = greater if greater < _SUFFIXES else suffix
    return f"{second}-{suffix:04x}"


class _NewRunIds:
    """The ids of the runs that begin in this process, in their order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._second, self._suffix = "", 0

    def next(self, after: str | None = None) -> str:
        with self._lock:
            while not self._draw(_second_of(datetime.now(UTC)), after):
                sleep(0.05)  # no greater one is left in this second
            return f"{self._second}-{self._suffix:04x}"

    def _draw(self, second: str, after: str | None) -> bool:
        """Whether there was another one in this second."""
        suffix = secrets.randbelow(_SUFFIXES // 2)
        if second == self._second:  # not <: a clock that was set back begins anew
            suffix = self._suffix + 1 + secrets.randbelow(_STEP)
        if after is not None and after.startswith(second) and (least := int(after[-4:], 16)) >= suffix:
            suffix = least + 1 + secrets.randbelow(_STEP_OF_OTHERS)  # wide: others may draw one after the same run
        if suffix < _SUFFIXES:
            self._second, self._suffix = second, suffix
        return suffix < _SUFFIXES


_STEP, _STEP_OF_OTHERS = 16, 4096
_new_run_ids = _NewRunIds()


def _second_of(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime(_MOMENT)


def derived_run_id(moment: datetime, content: str, taken: Collection[str] = ()) -> str:
    """The run id of a run at `moment` that depends on `content` alone: the same content always gives the same id.

    Ids that are `taken` are skipped.

    Raises:
        ValueError: `moment` has no time zone, or every id of that second is taken.
    """
    start = new_run_id(moment).rpartition("-")[0]
    first = int.from_bytes(hashlib.sha256(content.encode()).digest()[:2], "big")
    for step in range(_SUFFIXES):
        if (run_id := f"{start}-{(first + step) % _SUFFIXES:04x}") not in taken:
            return run_id
    raise ValueError(f"every run id of {start} is taken")


@lru_cache(maxsize=16_384)  # a reader asks it of every file, several times over
def is_run_id(text: str) -> bool:
    """Whether `text` has the exact shape of a run id and names a moment of the calendar."""
    return _moment_of(text) is not None


def begins_run_id(text: str) -> bool:
    """Whether a run id may begin with `text`: it has the shape of one as far as it goes."""
    return bool(text) and len(text) <= len(_EXAMPLE) and _SHAPE.fullmatch(text + _EXAMPLE[len(text) :]) is not None


def check_run_id(text: str) -> str:
    """`text` itself, safe as a file name.

    Raises:
        UsageError: it is not a run id; nor are paths such as ``../x``.
    """
    if not isinstance(text, str) or not is_run_id(text):
        raise UsageError(f"{text!r} is not a run id; one looks like {_EXAMPLE}")
    return text


def started_at(run_id: str) -> datetime:
    """The second (UTC) in which the run began.

    Raises:
        UsageError: `run_id` is not a run id.
    """
    moment = _moment_of(check_run_id(run_id))
    assert moment is not None
    return moment


def is_to_come(run_id: str) -> bool:
    """Whether a run, or a night, began in the future by its id: a clock was or is wrong."""
    return is_yet_to_come(started_at(run_id))


def is_yet_to_come(moment: datetime) -> bool:
    """Whether an aware moment is in the future, by more than clocks of several machines differ."""
    return moment - datetime.now(UTC) >= _CLOCKS_DIFFER


_CLOCKS_DIFFER = timedelta(minutes=1)
"""So far apart the clocks of machines that share a store may be."""


def start_date(run_id: str) -> date:
    """The UTC day on which the run began: it lands under this day, however late it is resumed.

    Raises:
        UsageError: `run_id` is not a run id.
    """
    return started_at(run_id).date()


def _moment_of(text: str) -> datetime | None:
    match = _SHAPE.fullmatch(text)
    if match is None:
        return None
    try:
        # `strptime` takes 20 times as long, and a store asks this of every file
        return datetime(*map(int, match.groups()), tzinfo=UTC)  # type: ignore[arg-type, misc] # six numbers
    except ValueError:
        return None
