"""What has landed and is gone, though nothing of ours deleted it: nothing that is read shows that it was there."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from eval_skills.core.errors import InputError
from eval_skills.core.store.layout import JOURNAL, is_run_id, start_date
from eval_skills.core.store.retention import PRUNED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from eval_skills.core.store.layout import TableName
    from eval_skills.core.store.store import Store

GONE = "it has landed, and is gone"
NO_REPORTS = "these reports are not there, though their items are"

BROKEN = ".broken"
"""What is appended to the name of a damaged file that was put aside: no reader takes it for a landed one."""

WRONG_CLOCK = ".wrong-clock"
"""What an operator appends to the name of a night's rows that are dated by a clock that was wrong: no reader takes them for
landed ones, they are not missed, and their night is not recorded again."""

LANDING_S = 600.0
"""The reports of a run whose items landed so long ago, and are not there, are not being made any more."""

NAMED = 3
"""How many missing files are named one by one; of more, their number and the first."""


def name_missing(store: Store, *names: TableName) -> None:
    """Tell of landed items and reports that are gone (`Tables.tell`), once for each file, and of reports that never were beside
    their items, as where only one of the two was copied here. Of the other tables none is missed; see `verify`.
    """
    found = {path: GONE for name in names for _, path in missing_files(store, name, store.tables.known_digests())}
    if "reports" in names:
        found |= {path: NO_REPORTS for _, path in without_reports(store) if path not in found}
    if len(found) <= NAMED:
        for path, problem in found.items():
            store.tables.name_damaged(path, InputError(problem))
    else:
        store.tables.name_damaged(next(iter(found)), InputError(f"it and {len(found) - 1} more files are missing"))


def without_reports(store: Store) -> Iterator[tuple[str, str]]:
    """The runs that have ended and of which only the items are here: run id, and where the reports should be. Not those of which
    they were put aside, or which may just be landing: the reports follow the items.
    """
    if store.layout.address is not None:
        return
    there = store.tables.files("reports").keys() | {run_id for run_id, _ in store.tables.misplaced("reports")}
    for run_id, items in store.tables.files("items").items():
        if run_id in there or os.path.exists(store.layout.run_file(run_id, JOURNAL)) or is_landing(items):
            continue
        path = f"{store.layout.root}/{store.layout.table_file('reports', start_date(run_id), run_id)}"
        if not os.path.exists(f"{path}{BROKEN}"):
            yield run_id, path


def is_landing(items: str) -> bool:
    """Whether the reports that are not beside these items may just be being made."""
    try:
        return time.time() - os.stat(items).st_mtime < LANDING_S
    except OSError:  # another process has just pruned it
        return False


def missing_files(store: Store, name: TableName, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """The items, or reports, that have landed here and are gone, but for what was put aside or pruned: run id and path of each.

    A digest is written down before its file has its name. So a process that was stopped in between left a journal, or items. Of
    the other tables it left nothing: their files are not missed.
    """
    if name not in ("items", "reports") or store.layout.address is not None:
        return  # what is in object storage, and what is gone there, is for others to say: the mirror is only like it
    landed, items = store.tables.files(name), store.tables.files("items")
    for relative in sorted(each for each in known if each.startswith(f"{name}/")):
        run_id = relative.rpartition("/")[2].removesuffix(".parquet")
        if run_id in landed or not is_run_id(run_id) or os.path.exists(store.layout.run_file(run_id, JOURNAL)):
            continue
        if name == "reports" and run_id in items and is_landing(items[run_id]):
            continue  # those of what was there before are gone, and the new ones are being made
        path, folder = store.layout.root / relative, store.run_folder(run_id)
        pruned = name == "items" and (not os.path.isdir(folder) or os.path.exists(folder / PRUNED))  # without one, not noted
        if not pruned and not os.path.exists(f"{path}{BROKEN}"):
            yield run_id, str(path)


def nights_put_aside(store: Store) -> set[str]:
    """The nights whose rows are named by `WRONG_CLOCK`."""
    suffix = f".parquet{WRONG_CLOCK}"
    return {path.name.removesuffix(suffix) for path in store.layout.root.glob(f"nights/date=*/*{suffix}")}


def is_night_recorded(store: Store, night_id: str) -> bool:
    """Whether the rows of a night are there as they were written, or put aside; where they are not, it can be recorded again.

    Damaged rows are named (`Tables.tell`).
    """
    try:
        return bool(store.tables.sound_files("nights", {night_id})) or night_id in nights_put_aside(store)
    except InputError as error:  # all that were asked for, which is this one
        for path in store.tables.files("nights", {night_id}).values():
            store.tables.name_damaged(path, error)
        return False


def items_gone(store: Store, run_ids: Collection[str]) -> set[str]:
    """Of runs that ended and whose items are not here, those whose items were not pruned, for that leaves a note, and reports."""
    reported = store.tables.files("reports", run_ids) if run_ids else {}
    folders = {run_id: store.run_folder(run_id) for run_id in run_ids}
    return {
        run_id
        for run_id, folder in folders.items()
        if not os.path.exists(folder / PRUNED) and (os.path.isdir(folder) or run_id not in reported)
    }
