"""What has landed and is gone, though nothing of ours deleted it: nothing that is read shows that it was there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from eval_skills.core.errors import InputError
from eval_skills.core.store.layout import JOURNAL, is_run_id
from eval_skills.core.store.retention import PRUNED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from eval_skills.core.store.layout import TableName
    from eval_skills.core.store.store import Store

GONE = "it has landed, and is gone"

BROKEN = ".broken"
"""What is appended to the name of a damaged file that was put aside: no reader takes it for a landed one."""

NAMED = 3
"""How many missing files are named one by one; of more, their number and the first."""


def name_missing(store: Store, *names: TableName) -> None:
    """Tell of landed items and reports that are gone (`Tables.tell`), once for each file. Of the other tables none is missed; see
    `verify`.
    """
    found = [path for name in names for _, path in missing_files(store, name, store.tables.known_digests())]
    if len(found) <= NAMED:
        for path in found:
            store.tables.name_damaged(path, InputError(GONE))
    else:
        store.tables.name_damaged(found[0], InputError(f"it and {len(found) - 1} more have landed, and are gone"))


def missing_files(store: Store, name: TableName, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """The items, or reports, that have landed here and are gone, but for what was put aside or pruned: run id and path of each.

    A digest is written down before its file has its name. So a process that was stopped in between left a journal, or items. Of
    the other tables it left nothing: their files are not missed.
    """
    if name not in ("items", "reports") or store.layout.address is not None:
        return  # what is in object storage, and what is gone there, is for others to say: the mirror is only like it
    landed = store.tables.files(name)
    for relative in sorted(each for each in known if each.startswith(f"{name}/")):
        run_id = relative.rpartition("/")[2].removesuffix(".parquet")
        if run_id in landed or not is_run_id(run_id) or os.path.exists(store.layout.run_file(run_id, JOURNAL)):
            continue
        path, folder = store.layout.root / relative, store.run_folder(run_id)
        pruned = name == "items" and (not folder.is_dir() or (folder / PRUNED).exists())  # without one, it was not noted
        if not pruned and not path.with_name(f"{path.name}{BROKEN}").exists():
            yield run_id, str(path)
