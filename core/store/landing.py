"""Landing: the items of a journal, reports and the rows of every other table as Parquet files.

The order makes it safe to be killed anywhere: a scratch file is written, synced and read back; it is renamed; it is read back
again; only then is the journal deleted. Whatever was cut off, calling `land` again ends in the same state. The other tables get
a few rows at once, which are replaced as a whole.

In a store in object storage all of this happens in its mirror on this machine; `Store.publish` brings what has landed there.
"""

from __future__ import annotations

from array import array
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from eval_skills.core.errors import RunError
from eval_skills.core.models.result import KEY_COLUMNS, item_key_of
from eval_skills.core.store.effects import effect_rows
from eval_skills.core.store.files import KEPT, RunLock, explained, sync_file, sync_folder
from eval_skills.core.store.journal import key_of, lines_of, opened, read_line
from eval_skills.core.store.layout import Layout, check_run_id, start_date
from eval_skills.core.store.rows import report_row, table_of
from eval_skills.core.store.schema import ITEM_SCHEMA, SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
    from datetime import date, datetime

    import numpy.typing as npt

    from eval_skills.core.models import ItemResult, SkillCompletionReport
    from eval_skills.core.models.result import ItemKey
    from eval_skills.core.skill_effect.model import SkillEffect
    from eval_skills.core.store.layout import TableName
    from eval_skills.core.store.store import Store

_SMALL_BYTES = 64 * 1024
"""What compression does not make smaller, for it takes a frame in each of sixty columns, and half of the time to write it."""

BATCH_ROWS = 5_000
BATCH_BYTES = 16 * 1024 * 1024
"""A batch ends at whichever comes first, rows or bytes of journal: so landing a million items takes a batch's memory."""

NEWER = "journal.newer-*.jsonl"
"""What landed journals are called that hold more than the tables have columns for: a newer version wrote them."""


def land(store: Store, run_id: str, date: date | None = None, going_on: Callable[[], str] | None = None) -> str:
    """Move a run's journal into ``items/date=…/<run id>.parquet`` and return where that is (a path, or a URL).

    An item that the journal holds more than once lands once, as it was last. A run that has landed before stays in its
    file: the journal's items replace theirs, the other rows are kept. `date` is the UTC day on which the run began,
    unless one is given (or the run has landed already). Without a journal there is nothing to do but to say where it landed.
    The journal is deleted, unless a newer version wrote into it what the tables have no columns for: then it is kept as `NEWER`.
    `going_on` says how the run is landed later, where ``--resume`` of the command that runs does not do it.

    Raises:
        RunError: there is nothing to land, a line of the journal is corrupt, or the file does not read back with
            exactly the items that went into it; the journal is kept.
        UsageError: the run is still being written, or `run_id` is not a run id.
    """
    journal = store.journal_path(run_id)
    if not journal.exists():
        return _landed(store, run_id)
    unknown: set[str] = set()
    again = going_on or (lambda: f"go on with --resume {run_id}")
    with _landing_lock(journal, again), explained(store.path, lambda: f"its journal is kept, so {again()}"):
        scratch = store.tables.scratch(relative_of(store, "items", run_id, date))
        expected = _write(scratch, ITEM_SCHEMA, run_batches(store, run_id, unknown))
        _verify(scratch, expected)
        _forget_reports(store, run_id)
        target = store.tables.publish(scratch, relative_of(store, "items", run_id, date))
        _verify(target, expected)
        if unknown:
            journal.replace(_free_name(journal))
        else:
            journal.unlink()
        sync_folder(journal.parent)
    return store.tables.location(target)


def _landing_lock(journal: Path, again: Callable[[], str]) -> RunLock:
    try:
        return RunLock(journal)
    except RunError as error:
        raise RunError(f"{error}; its journal is kept, so {again()}") from None


def _forget_reports(store: Store, run_id: str) -> None:
    """Delete the reports of what a run had before: if landing stops before the new ones, they are missing, and not wrong."""
    path = store.tables.files("reports").get(run_id)
    if path is None:
        return
    if store.mirror is not None:
        store.mirror.remove([store.tables.relative(path)])
    else:
        Path(path).unlink(missing_ok=True)


def land_items(store: Store, run_id: str, results: Sequence[ItemResult]) -> str:
    """Write results that are known all at once into ``items/date=…/<run id>.parquet``, without a journal; return where that is.

    Raises:
        RunError: the file does not read back with exactly these items.
        UsageError: the run is being written by another process.
    """
    with RunLock(store.journal_path(run_id), mode=store.layout.mode), explained(store.path):
        relative = relative_of(store, "items", run_id, None)
        scratch = store.tables.scratch(relative)
        parts = (results[start : start + BATCH_ROWS] for start in range(0, len(results), BATCH_ROWS))
        _write(scratch, ITEM_SCHEMA, map(table_of, parts))
        _verify(scratch, len(results))
        return store.tables.location(store.tables.publish(scratch, relative))


def land_reports(
    store: Store,
    run_id: str,
    date: date | None,
    reports: Iterable[SkillCompletionReport],
    *,
    benchmark_version: str | None = None,
    origin: str = "run",
    effect: SkillEffect | None = None,
    kept: str | Callable[[], str] = KEPT,
) -> str:
    """Write one row per report into ``reports/date=…/<run id>.parquet``, replacing what was there; return where that is.

    `benchmark_version` comes from the run's manifest, if there is one and it is not given. `effect` is what the run's arms, its
    skills, say about an Agent Skill. To object storage the run goes as a whole, when its caller publishes it (`Store.publish`).
    `kept` is what an error says of what is there, and how to go on.
    """
    if benchmark_version is None and (manifest := store.find_manifest(run_id)) is not None:
        benchmark_version = manifest.benchmark.version
    given = list(reports)
    rows = [report_row(report, run_id=run_id, benchmark_version=benchmark_version, origin=origin) for report in given]
    effects = {} if effect is None else effect_rows(effect)
    rows = [row | effects.get(report.skill_key, {}) for row, report in zip(rows, given, strict=True)]
    return _write_rows(store, "reports", run_id, rows, date, kept=kept)


def land_recomputed(
    store: Store, file_id: str, run_id: str, reports: Iterable[SkillCompletionReport], *, benchmark_version: str
) -> str:
    """Write the reports of a run, made anew, beside those that it has: ``reports/date=…/<file id>.parquet``.

    Their rows carry the id of the run and the origin ``recompute``; `file_id` has the shape of a run id. Returns where it is.
    """
    rows = [report_row(report, run_id=run_id, benchmark_version=benchmark_version, origin="recompute") for report in reports]
    return land_rows(store, "reports", file_id, rows)


def land_rows(
    store: Store,
    name: TableName,
    file_id: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    kept: str = KEPT,
) -> str:
    """Write rows, under the names of the table's schema, into ``<name>/date=…/<file id>.parquet``; return where that is.

    The id has the shape of a run id, and its day is the partition. What was there under it is replaced as
    a whole. In object storage it is there when this returns. `kept` is what an error says of what is there, and how to go on.

    Raises:
        RunError: the store cannot be written; or its object storage cannot, and the rows are kept here.
    """
    location = _write_rows(store, name, file_id, rows, kept=kept)
    store.publish()
    return location


def _write_rows(
    store: Store,
    name: TableName,
    file_id: str,
    rows: Sequence[Mapping[str, Any]],
    day: date | None = None,
    *,
    kept: str | Callable[[], str] = KEPT,
) -> str:
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=SCHEMAS[name])
    with explained(store.path, kept):
        relative = relative_of(store, name, file_id, day)
        scratch = store.tables.scratch(relative, is_shared=True)  # two calls may finish the same run, or repair it, at once
        _write(scratch, table.schema, [table])
        return store.tables.location(store.tables.publish(scratch, relative))


def relative_of(store: Store, name: TableName, run_id: str, day: date | None) -> str:
    """Where in the store a run's rows of one table are, or where they go: into the partition of `day`, else of the run's own."""
    landed = store.tables.files(name, [run_id])
    if landed:
        return "/".join(landed[run_id].rsplit("/", 3)[1:])
    return Layout.table_file(name, day or start_date(run_id), run_id)


def run_batches(store: Store, run_id: str, unknown: set[str] | None = None) -> Iterator[pa.RecordBatch]:
    """All rows of a run, each item once: what has landed, and over it what its journal holds.

    A result that landed stands, too, where the journal holds one that it had replaced: so an old journal, put back out of a copy
    of the store, does not bring back errors whose items were asked again since.

    The journal is opened once, and before the landed items are listed: a run that lands meanwhile is read whole, too.

    `unknown` takes the keys in the journal that a newer version may have written: the rows have no columns for them.
    """
    journal = store.journal_path(run_id)
    with opened(journal) as file:
        lines = _LastLines(file, journal, _retried(store, run_id) if journal.exists() else {})
        replaced: set[ItemKey] | None = None
        for batch in store.tables.batches("items", run_id):
            replaced = lines.keys() if replaced is None else replaced
            yield _without(batch, replaced) if replaced else batch
        for results in _batches(file, journal, lines, set() if unknown is None else unknown):
            yield from table_of(results).combine_chunks().to_batches()


def _landed(store: Store, run_id: str) -> str:
    landed = store.tables.files("items", [check_run_id(run_id)])
    if (journal := store.journal_path(run_id)).with_suffix(".lock").exists():
        RunLock(journal).release()  # a process that was killed may have left it
    if not landed:
        raise RunError(f"run {run_id} has neither a journal nor landed items in {store.path}; is this the right store?")
    return store.tables.location(landed[run_id])


def _free_name(journal: Path) -> Path:
    names = (journal.with_name(NEWER.replace("*", str(number))) for number in count(1))
    return next(name for name in names if not name.exists())


def _write(scratch: Path, schema: pa.Schema, parts: Iterable[pa.RecordBatch | pa.Table]) -> int:
    """Write the scratch file, batch by batch, and return how many rows it must hold."""
    rest = iter(parts)
    first = list(islice(rest, 2))  # of a run that is resumed: what has landed, and what is new
    compression = "zstd" if sum(part.nbytes for part in first) > _SMALL_BYTES else "none"
    rows = 0
    with pq.ParquetWriter(scratch, schema, compression=compression, write_page_checksum=True) as writer:
        for part in chain(first, rest):
            writer.write(part)
            rows += part.num_rows
    sync_file(scratch)
    return rows


def _verify(path: Path | str, expected: int) -> None:
    texts = [name for name in KEY_COLUMNS if ITEM_SCHEMA.field(name).type == pa.string()]
    with pq.ParquetFile(path, read_dictionary=texts, page_checksum_verification=True) as file:
        keys = file.read(columns=KEY_COLUMNS).unify_dictionaries()
    distinct = int(_last_of_each([_numbers(keys[name]) for name in KEY_COLUMNS]).sum())
    if keys.num_rows != expected or distinct != expected:
        raise RunError(
            f"{path} reads back with {keys.num_rows} rows and {distinct} items where {expected} were written; "
            "the journal is kept: check the disk, then resume the run"
        )


def _numbers(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Equal numbers for equal values; those of a text are its places in the one dictionary of its column."""
    whole = column.combine_chunks()
    return np.asarray(whole.indices if pa.types.is_dictionary(whole.type) else whole)


def _last_of_each(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
    """Of rows with equal values in all columns: which one is the last."""
    order = np.lexsort(columns)  # stable: equal rows stay in their order
    last = np.ones(len(order), dtype=np.bool_)
    last[:-1] = np.logical_or.reduce([column[order[:-1]] != column[order[1:]] for column in columns])
    kept = np.empty_like(last)
    kept[order] = last
    return kept


def _retried(store: Store, run_id: str) -> dict[ItemKey, set[datetime]]:
    """Of the landed items that were asked more than once: when all attempts but the last began."""
    retried: dict[ItemKey, set[datetime]] = {}
    with store.tables.readable("items", [run_id]):
        for batch in store.tables.dataset("items", [run_id]).to_batches(columns=[*KEY_COLUMNS, "attempts"]):
            several = batch.filter(pc.greater(pc.list_value_length(batch.column("attempts")), 1))
            for row in several.to_pylist():
                retried[item_key_of(row)] = {attempt["started_at"] for attempt in row["attempts"][:-1]}
    return retried


class _LastLines:
    """Which lines of a journal land; some 40 bytes of memory an item, and each text once.

    It is the last one of each item, unless it is the result of an attempt that `retried`, what landed of the run, knows as
    one of its earlier ones.
    """

    def __init__(self, file: BinaryIO, journal: Path, retried: Mapping[ItemKey, Set[datetime]]) -> None:
        self._skills: dict[str, int] = {}
        self._tasks: dict[str, int] = {}
        skills, tasks, runs = array("q"), array("q"), array("q")
        stale: list[int] = []
        for number, line in lines_of(file):
            key = skill, task, run = key_of(line, source=journal, number=number)
            if key in retried and _last_attempt_began(read_line(line, source=journal, number=number)[0]) in retried[key]:
                stale.append(number - 1)
            skills.append(self._skills.setdefault(skill, len(self._skills)))
            tasks.append(self._tasks.setdefault(task, len(self._tasks)))
            runs.append(run)
        self._columns = [np.frombuffer(column, dtype=np.int64) for column in (skills, tasks, runs)]
        self._kept = _last_of_each(self._columns)
        self._kept[stale] = False

    def lands(self, number: int) -> bool:
        """Whether the line of this number, from 1, does; one that was written since does not."""
        return number <= len(self._kept) and bool(self._kept[number - 1])

    def keys(self) -> set[ItemKey]:
        """The items of the lines that land."""
        skills, tasks = list(self._skills), list(self._tasks)
        kept = (column[self._kept].tolist() for column in self._columns)
        return {(skills[s], tasks[t], r) for s, t, r in zip(*kept, strict=True)}


def _last_attempt_began(result: ItemResult) -> datetime:
    return result.attempts[-1].started_at if result.attempts else result.started_at


def _batches(file: BinaryIO, journal: Path, lines: _LastLines, unknown: set[str]) -> Iterator[list[ItemResult]]:
    results: list[ItemResult] = []
    size = 0
    for number, line in lines_of(file):
        result, keys = read_line(line, source=journal, number=number)
        unknown.update(keys)
        if lines.lands(number):
            results.append(result)
            size += len(line)
        if len(results) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield results
            results, size = [], 0
    if results:
        yield results


def _without(batch: pa.RecordBatch, replaced: set[ItemKey]) -> pa.RecordBatch:
    skill, version, task, run = (batch.column(name).to_pylist() for name in KEY_COLUMNS)
    kept = [(f"{s}@{v}", t, r) not in replaced for s, v, t, r in zip(skill, version, task, run, strict=True)]
    return batch.filter(pa.array(kept, pa.bool_()))
