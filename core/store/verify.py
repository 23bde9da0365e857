"""Whether everything in a store is as it was written: digests and checksums of landed files, manifests, journals, leftovers."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from eval_skills.core.errors import EvalSkillsError, InputError
from eval_skills.core.store.digests import digest_of_file, recorded_digests
from eval_skills.core.store.files import is_locked, names_in
from eval_skills.core.store.layout import JOURNAL, TableName, is_run_id, start_date
from eval_skills.core.store.manifest import FILE_NAME, read_manifest
from eval_skills.core.store.missing import BROKEN, GONE, missing_files
from eval_skills.core.store.newer import in_journal, in_manifest, journals
from eval_skills.core.store.schema import SCHEMAS
from eval_skills.core.store.scorings import ASKED, asked_at
from eval_skills.core.store.store import LOST
from eval_skills.core.store.tables import MISPLACED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from eval_skills.core.store.store import Store

EARLIER = "it is an earlier version: it has landed again since; restore the last one from a copy"
FOLDER_GONE = "the run has landed, and its folder with the manifest is gone"

FindingKind = Literal[
    "damaged", "unreadable", "earlier", "misplaced", "missing", "journal", "manifest", "leftover", "without-reports"
]
"""A landed file that is not what was written, that is what was written before the last time, that lies in a folder not named by a
date, or that is gone, or its run's folder, though nothing of ours deleted it; a file that this process may not read, or that the
disk does not give; a journal or a manifest that holds something else; what a process that died left behind; items without their
reports."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: at `path`, in a sentence. `repaired` says what was done about it; "" where nothing was."""

    kind: FindingKind
    path: str
    problem: str
    run_id: str = ""
    table: TableName | None = None
    repaired: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """What was looked at: `files` that have landed, of which `undigested` have no digest to compare with (they were written by an
    older version, or on another machine; their checksums hold), and what was found. `newer` says what a newer version wrote."""

    files: int = 0
    undigested: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    newer: list[str] = field(default_factory=list)


def verify(store: Store) -> Verified:
    """Read every landed file whole, with the checksum of every page, and compare it with the digest that was written down when
    it landed; parse every manifest and journal; look for what a process that died left behind. Nothing is changed.

    What cannot be listed is named, and the rest is looked at: nothing is missed there.

    Raises:
        RunError: the list of digests cannot be read.
    """
    store.tables.unlisted = {}
    try:
        return _verified(store, store.tables.unlisted)
    finally:
        store.tables.unlisted = None


def _verified(store: Store, unlisted: dict[str, str]) -> Verified:
    known = recorded_digests(store.layout)
    files, undigested, findings = 0, [], []
    for name in get_args(TableName):
        for run_id, path in store.tables.files(name).items():
            files += 1
            digests = known.get(store.tables.relative(path), [])
            if problem := _damage(name, path, digests):
                kind: FindingKind = "unreadable" if (refused := _refused(Path(path))) else "damaged"
                findings.append(Finding(kind, store.tables.location(path), refused or problem, run_id, name))
            elif _is_earlier(store, path):
                findings.append(Finding("earlier", store.tables.location(path), EARLIER, run_id, name))
            elif not digests:
                undigested.append(store.tables.location(path))
        for run_id, path in store.tables.misplaced(name):
            findings.append(Finding("misplaced", store.tables.location(path), f"{MISPLACED}, so nothing reads it", run_id, name))
    misplaced = {(each.table, each.run_id) for each in findings if each.kind == "misplaced"}
    folders, newer = _folders(store, unlisted)
    missing = [each for each in _missing(store, known, unlisted) if (each.table, each.run_id) not in misplaced]
    findings += [*missing, *folders, *_leftovers(store, unlisted), *_without_reports(store, findings, unlisted)]
    closed = [Finding("unreadable", store.tables.location(path), problem) for path, problem in sorted(unlisted.items())]
    return Verified(files, undigested, [*closed, *findings], newer)


def put_aside(store: Store, finding: Finding) -> str:
    """Give a damaged landed file, a journal or a manifest a name that nothing reads; returns what was done, in a phrase.

    Where only the mirror of an object storage is damaged, what is there takes its place.
    """
    path = Path(store.tables.path_of(finding.path))
    relative = store.tables.relative(str(path))
    if store.mirror is not None and store.mirror.restore(relative) and _is_well(store, finding, path):
        return "fetched again from the object storage, where it is well"
    aside = free_name(path)
    path.rename(aside)
    if store.mirror is not None and path.name != JOURNAL:
        store.publish()  # under its other name first: at no moment is there neither of the two
        store.mirror.remove([relative])
    return f"now {aside.name}"


def free_name(path: Path) -> Path:
    """The name for a damaged file that is put aside: one that no file has that was put aside before."""
    first = path.with_name(f"{path.name}{BROKEN}")
    further = (first.with_name(f"{first.name}.{number}") for number in count(2))
    return next(name for name in chain([first], further) if not os.path.lexists(name))


def _is_well(store: Store, finding: Finding, path: Path) -> bool:
    """Whether a file that was found damaged reads well by now."""
    if finding.table is not None:
        known = recorded_digests(store.layout).get(store.tables.relative(str(path)), [])
        return not _damage(finding.table, str(path), known)
    try:
        read_manifest(path.parent)
        asked_at(path.parent)
    except EvalSkillsError:
        return False
    return True


def _refused(path: Path) -> str:
    """Why the bytes of a file cannot be had, which says nothing about them; "" where they can."""
    try:
        digest_of_file(path)
    except (FileNotFoundError, IsADirectoryError):
        return ""
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return ""


def _damage(name: TableName, path: str, digests: Collection[str]) -> str:
    """What is wrong with a landed file; "" if it is what was written.

    Raises:
        MemoryError: there is too little memory to read it, which says nothing about the file.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            rows, owners = 0, set[str | None]()
            missing = [column for column in SCHEMAS[name].names[:2] if column not in file.schema_arrow.names]
            if missing:
                return f"has no column {missing[0]}, so it is not a file of the table {name}"
            for batch in file.iter_batches():
                rows += batch.num_rows
                owners |= _owners(name, batch)
            if rows != file.metadata.num_rows:
                return f"holds {rows:,} rows where its footer says {file.metadata.num_rows:,}"
            if others := owners - {Path(path).stem}:
                return f"holds the {name} of run {min(map(str, others))}"
    except MemoryError:  # pyarrow's is an ArrowException, too
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        return f"not a readable Parquet file ({' '.join(str(error).split())})"
    if digests and digest_of_file(path) not in digests:
        return "its bytes are not those that were written"
    return ""


def _owners(name: TableName, batch: pa.RecordBatch) -> set[str | None]:
    """The runs that the file should be named after; recomputed reports lie beside those of their run, under another name."""
    if name not in ("items", "reports"):
        return set()
    origins = batch.column("origin") if "origin" in batch.schema.names else pa.nulls(batch.num_rows)
    pairs = zip(batch.column("run_id").to_pylist(), origins.to_pylist(), strict=True)
    return {run_id for run_id, origin in pairs if origin != "recompute"}


def _is_earlier(store: Store, path: str) -> bool:
    """Whether the bytes are those of a landing before the last one. They may be, as long as one that was stopped has its scratch
    file there or its run a journal: the digest is written down before the file has its name."""
    relative = store.tables.relative(path)
    before = digest_of_file(path)
    digests = recorded_digests(store.layout).get(relative, [])  # read last: it may just have landed again
    run_id = Path(path).stem
    is_open = store.tables.has_scratch(relative) or os.path.exists(store.journal_path(run_id))
    return before in digests[:-1] and before != digests[-1] and not is_open and digest_of_file(path) == before


def _missing(store: Store, known: Collection[str], unlisted: Collection[str]) -> Iterator[Finding]:
    """What is missing; of reports, those that cannot be made anew from their items, and of manifests, those of landed runs. What
    would be in folders that cannot be listed is not missed."""
    if _runs(store) in unlisted:
        return
    items = store.tables.files("items")
    names: tuple[TableName, ...] = ("items", "reports")
    for name in names:
        for run_id, path in missing_files(store, name, known):
            if not _is_closed(path, unlisted) and (name == "items" or run_id not in items):
                yield Finding("missing", path, f"{GONE}; restore it from a copy", run_id, name)
    for run_id in _landed_here(store, known):
        if not os.path.isdir(folder := store.run_folder(run_id)):
            yield Finding("missing", str(folder), f"{FOLDER_GONE}; restore it from a copy", run_id)
    for run_id in store.run_ids():
        if store.lost_manifest(run_id) and not _refused(store.run_folder(run_id)):
            yield Finding("missing", str(store.run_folder(run_id) / FILE_NAME), f"{LOST}; restore it from a copy", run_id)


def _landed_here(store: Store, known: Collection[str]) -> list[str]:
    """The runs whose items have landed in a store in a folder, whether they are there or not: each was given a folder before. In
    a mirror, a run of another machine has none until its manifest is there."""
    if store.layout.address is not None:
        return []
    recorded = {each.rpartition("/")[2].removesuffix(".parquet") for each in known if each.startswith("items/")}
    return sorted(filter(is_run_id, recorded | store.tables.files("items").keys()))


def _runs(store: Store) -> str:
    return f"{store.layout.root}/runs"


def _is_closed(path: str, unlisted: Collection[str]) -> bool:
    """Whether a file of a table would be in a folder that cannot be listed."""
    return any(str(above) in unlisted for above in Path(path).parents[:2])


def _folders(store: Store, unlisted: dict[str, str]) -> tuple[list[Finding], list[str]]:
    """The manifests and journals that cannot be read, and what a newer version wrote into the others; each is read once."""
    findings, newer, names = [], list[str](), list[str]()
    try:
        names = sorted(filter(is_run_id, names_in(_runs(store))))
    except OSError as error:
        unlisted[_runs(store)] = f"cannot be listed: {error.strerror}"
    for run_id in names:
        folder = store.run_folder(run_id)
        if refused := _refused(folder):
            findings.append(Finding("unreadable", str(folder), refused, run_id))
            continue
        try:
            newer += in_manifest(read_manifest(folder)) if (folder / FILE_NAME).exists() else []
        except (EvalSkillsError, ValueError, OSError) as error:
            findings.append(_unread("manifest", folder / FILE_NAME, f"cannot be read: {_short(error)}"))
        try:
            asked_at(folder)
        except InputError as error:
            findings.append(_unread("manifest", folder / ASKED, f"cannot be read: {_short(error)}"))
        for journal in journals(store, run_id):
            try:
                newer += in_journal(journal)
            except (EvalSkillsError, OSError) as error:
                findings.append(_unread("journal", journal, _short(error)))
    return findings, newer


def _unread(kind: FindingKind, path: Path, problem: str) -> Finding:
    """What is wrong with a file in the folder of a run: with what it holds, or that its bytes cannot be had."""
    refused = _refused(path)
    return Finding("unreadable" if refused else kind, str(path), refused or problem, path.parent.name)


_SCRATCH = re.compile(rf"\.(?:(?:{'|'.join(get_args(TableName))})\.date=.+\.parquet|.+\.[0-9]+)\.tmp")
"""What our scratch files are called (`Tables.scratch`, `write_pieces`); other programs have temporary files, too."""

_BEING_WRITTEN_S = 300
"""A scratch file that no run's lock covers and that was written to more recently may still be in use."""


UNHELD = "a lock that no process holds"

_LOCKS = ("night-*.lock", "rescore-*.lock", "compare-*.lock", "backfill.lock", "monitors/*/position.lock")
"""The locks of what is not a run: a night, a scoring, a comparison, a backfill, a monitor."""


def _leftovers(store: Store, unlisted: Collection[str]) -> Iterator[Finding]:
    """Scratch files, and locks that no process holds; where the folders of runs cannot be listed, nothing says whose they are."""
    if _runs(store) in unlisted:
        return
    root = store.layout.root
    scratch = (path for path in root.rglob(".*.tmp") if _SCRATCH.fullmatch(path.name) and path.is_file())
    for path in sorted(scratch) if root.is_dir() else ():
        run = next((part for part in (path.parent.name, *path.name.split(".")) if is_run_id(part)), "")
        # files of some tables have ids that look like a run's, and a run's reports land when its lock is free again
        run = run if run and store.run_folder(run).is_dir() and not path.name.startswith(".reports.") else ""
        if not is_locked(store.journal_path(run)) if run else _is_idle(path):
            yield Finding("leftover", str(path), "what a process that was stopped had begun to write", run)
    runs = root / "runs"
    for path in sorted(runs.glob("*/journal.lock")) if runs.is_dir() else ():
        if is_run_id(path.parent.name) and not is_locked(path.with_suffix(".jsonl")):
            yield Finding("leftover", str(path), UNHELD, path.parent.name)
    for path in sorted(each for name in _LOCKS for each in root.glob(name)):
        if not is_locked(path):
            yield Finding("leftover", str(path), UNHELD)


def _is_idle(scratch: Path) -> bool:
    try:
        return time.time() - scratch.stat().st_mtime > _BEING_WRITTEN_S
    except FileNotFoundError:  # it has just got its name
        return False


def _without_reports(store: Store, damaged: list[Finding], unlisted: Collection[str]) -> Iterator[Finding]:
    """Runs whose items are well, and whose reports are missing or damaged; those that cannot be read or listed may be well."""
    bad = {(each.table, each.run_id) for each in damaged if each.kind == "damaged"}
    closed = {each.run_id for each in damaged if each.kind == "unreadable" and each.table == "items"}
    elsewhere = {each.run_id for each in damaged if each.kind == "misplaced" and each.table == "reports"}
    reports = store.tables.files("reports")
    for run_id, path in store.tables.files("items").items():
        is_without = run_id not in (reports.keys() | elsewhere) or ("reports", run_id) in bad
        place = f"{store.layout.root}/{store.layout.table_file('reports', start_date(run_id), run_id)}"
        if ("items", run_id) not in bad and run_id not in closed and is_without and not _is_closed(place, unlisted):
            yield Finding("without-reports", store.tables.location(path), "these items have no readable reports", run_id)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())
