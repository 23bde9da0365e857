"""Pruning: old items are deleted, so that a store does not grow for ever; reports, manifests and nights stay."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.store.files import RunLock, write_whole
from eval_skills.core.store.layout import started_at
from eval_skills.core.store.scorings import chains, last_asked

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from eval_skills.core.store.store import Store

_BUSY_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Pruned:
    """The runs whose items were deleted, oldest first, and the size of their files in bytes."""

    run_ids: list[str] = field(default_factory=list)
    size: int = 0


def prune_items(store: Store, *, before: datetime, keep: Collection[str]) -> Pruned:
    """Delete the items of every run that was made before this moment, but for the runs to `keep`.

    A run counts from when it was really made, whatever it is dated at, and a scoring from when it was asked for last; it stays as
    long as the items of the run whose answers it judges, which would else be as they were scored before. A run without
    reports keeps its items, for nothing else is known of it; so does one with a journal, or that another process has locked:
    it goes on. Another process may prune at the same time.

    Raises:
        RunError: the items are deleted, and the SQLite mirror cannot be written; or the object storage of the store cannot.
    """
    reported, landed = store.tables.files("reports"), store.tables.files("items")
    judged = _judged_runs(store, landed)
    pruned: dict[str, str] = {}
    size = 0
    for run_id, path in sorted(landed.items(), key=lambda each: (each[0] in judged, each[0])):  # runs before their scorings
        if run_id in keep or run_id not in reported or _made(store, run_id) >= before:
            continue
        if (of := judged.get(run_id)) in landed and of not in pruned:
            continue
        if (bytes_ := _pruned(store, run_id, path)) is not None:
            pruned[run_id] = store.tables.relative(path)
            size += bytes_
    if pruned and store.mirror is not None:
        store.publish()  # the notes first: nobody sees that items are gone and not why
        store.mirror.remove(pruned.values())
    if pruned and store.layout.sqlite is not None and store.layout.sqlite.exists():
        _prune_mirror(store.layout.sqlite, list(pruned))
    return Pruned(sorted(pruned), size)


def _judged_runs(store: Store, landed: Collection[str]) -> dict[str, str]:
    """The run whose answers each landed scoring judges."""
    scorings = chains(store, [run_id for run_id in store.rescorings() if run_id in landed])
    return {scoring.run_id: of for of, chain in scorings.items() for scoring in chain}


def _pruned(store: Store, run_id: str, path: str) -> int | None:
    """Delete the items of a run, and return their size in bytes; behind a URL they are only noted here, and deleted later.

    None where they are gone already, or where the run goes on: a resume holds its lock, and looks for its items again.
    """
    try:
        with RunLock(store.journal_path(run_id)) if store.run_folder(run_id).is_dir() else nullcontext():
            if store.journal_path(run_id).exists():
                return None
            size = os.stat(path).st_size
            note_pruned(store, run_id)  # first: nobody sees that items are gone and not why
            if store.mirror is None:
                os.unlink(path)
            return size
    except (UsageError, FileNotFoundError):
        return None


PRUNED = "pruned"
"""The file in a run's folder that says on which day its items were deleted."""


def note_pruned(store: Store, run_id: str) -> None:
    """Write down in the run's folder, if there is one, that its items are deleted from today on."""
    if (folder := store.run_folder(run_id)).is_dir():
        write_whole(folder / PRUNED, f"{datetime.now(UTC):%Y-%m-%d}\n".encode(), mode=store.layout.mode)


def pruned_words(store: Store, run_id: str) -> str | None:
    """That the items of a finished run were deleted, with the day where it is known; None of every other run."""
    gone = run_id in store.tables.files("reports", [run_id]) and run_id not in store.tables.files("items", [run_id])
    if not gone or store.journal_path(run_id).exists():
        return None
    note = store.run_folder(run_id) / PRUNED
    if not note.exists() and note.parent.is_dir():
        return f"run {run_id} finished, and its items are gone, though not by --keep-days; its report remains"
    day = f" on {note.read_text(encoding='utf-8').strip()}" if note.exists() else ""
    return f"run {run_id} finished, and its items were deleted{day} (--keep-days); its report remains"


def _made(store: Store, run_id: str) -> datetime:
    manifest = store.find_manifest(run_id)
    return started_at(run_id) if manifest is None else max(started_at(run_id), last_asked(store, manifest))


def _prune_mirror(path: Path, run_ids: list[str]) -> None:
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S)) as connection, connection:
            connection.executemany('DELETE FROM "items" WHERE "run_id" = ?', [(run_id,) for run_id in run_ids])
    except sqlite3.Error as error:
        raise RunError(
            f"cannot write {path}: {error}; end what else uses it; it has items of {len(run_ids)} runs that the store has not"
        ) from None


def refuse_pruned(store: Store, run_id: str) -> None:
    """Raises UsageError where the items of a finished run were deleted: nothing of it can be gone on with."""
    if (pruned := pruned_words(store, run_id)) is not None:
        raise UsageError(f"{pruned}; start a new run without --resume")
