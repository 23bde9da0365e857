"""Which files of a store are in the bucket, too, and in what order they appear there.

Journals, locks, the list of digests and scratch files are of one machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import get_args

from eval_skills.core.store.files import names_in
from eval_skills.core.store.layout import TableName, is_run_id

_ASIDE = r"\.broken(?:\.[0-9]+)?"
_TABLE = re.compile(
    rf"(?P<table>{'|'.join(get_args(TableName))})/date=[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}/(?P<id>[^/.]+)\.parquet(?:{_ASIDE})?"
)
_RUN = re.compile(rf"runs/(?P<id>[^/.]+)/(?P<file>manifest\.json(?:{_ASIDE})?|pruned|asked|journal\.newer-[0-9]+\.jsonl)")
_MONITOR = re.compile(r"monitors/[0-9a-f]+/position\.json")

MANIFEST = "manifest.json"
_ITEMS, _REPORTS, _TABLES, _BESIDE, _RECORD = range(5)


@dataclass(frozen=True, slots=True)
class SharedName:
    """A file's name in the bucket and, equally, its path below the store. `run_id` is "" of a file that is about no run."""

    name: str
    run_id: str = ""
    table: str = ""

    @property
    def is_manifest(self) -> bool:
        """Whether it is the record that makes a run visible."""
        return bool(self.run_id) and self.name.endswith(f"/{MANIFEST}")

    @property
    def rank(self) -> int:
        """Its turn: what makes others visible comes after them."""
        if self.table:
            return {"items": _ITEMS, "reports": _REPORTS}.get(self.table, _TABLES)
        return _RECORD if self.is_manifest else _BESIDE


@lru_cache(maxsize=65_536)  # asked of every file of a store, again and again
def shared_name(name: str) -> SharedName | None:
    """What a name is; None of a file that is not shared, and of whatever else lies in a bucket."""
    if match := _TABLE.fullmatch(name):
        run_id = match["id"] if match["table"] in ("items", "reports") else ""
        return SharedName(name, run_id, match["table"]) if is_run_id(match["id"]) else None
    if match := _RUN.fullmatch(name):
        return SharedName(name, match["id"]) if is_run_id(match["id"]) else None
    return SharedName(name) if _MONITOR.fullmatch(name) else None


def shared_files(root: Path) -> dict[str, os.stat_result]:
    """The shared files of a mirror, by name."""
    return dict(_with_state(str(root)))


def _with_state(root: str) -> Iterator[tuple[str, os.stat_result]]:
    folders = [f"{table}/{day}" for table in get_args(TableName) for day in names_in(f"{root}/{table}")]
    folders += [f"{above}/{each}" for above in ("runs", "monitors") for each in names_in(f"{root}/{above}")]
    for folder in folders:
        for file in names_in(f"{root}/{folder}"):
            if shared_name(name := f"{folder}/{file}") is not None:
                try:
                    yield name, os.stat(f"{root}/{name}")
                except FileNotFoundError:  # replaced or removed since
                    continue
