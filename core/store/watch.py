"""Whether what a store holds of finished runs was changed by anything but eval-skills itself.

Looking is cheap: names, sizes, times and inodes. Only what differs is read, and compared with the digest that every landing
writes down before its file has its name. So what another process lands, lands again, prunes or repairs meanwhile is not reported.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, get_args

from eval_skills.core.store.digests import DIGESTS_FILE, digest_of_file, recorded_digests
from eval_skills.core.store.files import names_in
from eval_skills.core.store.layout import TableName, is_run_id
from eval_skills.core.store.missing import BROKEN
from eval_skills.core.store.retention import PRUNED

if TYPE_CHECKING:
    from eval_skills.core.store.files import names_in
from eval_skills.core.store.layout import Layout

_NOTE_S = 2.0
"""How long one that prunes may take from deleting a file to noting that it did."""

_NAMED = 3

State = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of each file of finished runs, by its path below the store; and the length and digest of the list of digests."""

    files: dict[str, State]
    digests: tuple[int, str]


def snapshot(layout: Layout) -> Snapshot:
    """How the store is now."""
    return Snapshot(dict(_states(layout)), _digests(layout.root / DIGESTS_FILE))


def foreign_changes(before: Snapshot, layout: Layout) -> list[str]:
    """What was changed since, other than by eval-skills: a phrase for each file, the first few, and how many more."""
    after = dict(_states(layout))
    differing = [name for name, state in before.files.items() if after.get(name) != state]
    problems = list(_problems(differing, before.files, after, layout)) if differing else []
    length, digest = before.digests
    if _digests(layout.root / DIGESTS_FILE, length) != (length, digest):
        problems.append(f"{DIGESTS_FILE}, to which lines are only ever added, was rewritten")
    more = [f"{len(problems) - _NAMED:,} more"] if len(problems) > _NAMED else []
    return [*problems[:_NAMED], *more]


def _states(layout: Layout) -> Iterator[tuple[str, State]]:
    for name in get_args(TableName):
        for day in names_in(f"{layout.root}/{name}"):
            files = [file for file in names_in(f"{layout.root}/{name}/{day}") if file.endswith(".parquet")]
            yield from _of_files(layout, [f"{name}/{day}/{file}" for file in files])
    yield from _of_files(layout, [f"runs/{run}/manifest.json" for run in names_in(f"{layout.root}/runs")])


def _of_files(layout: Layout, names: list[str]) -> Iterator[tuple[str, State]]:
    root = str(layout.root)
    for name in names:
        if not is_run_id(_run_of(name)):
            continue
        try:
            found = os.lstat(f"{root}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            continue
        yield name, (found.st_size, found.st_mtime_ns, found.st_ino)


def _run_of(name: str) -> str:
    return name.split("/", 2)[1] if name.startswith("runs/") else name.rpartition("/")[2].removesuffix(".parquet")


def _problems(names: list[str], before: dict[str, State], after: dict[str, State], layout: Layout) -> Iterator[str]:
    runs = {_run_of(name) for name in names}
    landed = _landed(layout, [name for name, state in after.items() if before.get(name) != state and _run_of(name) in runs])
    end = monotonic() + _NOTE_S
    for name in names:
        if name not in after:
            if not _was_removed_by_us(layout, name, end):
                yield f"{name} is gone"
        elif not (_was_resumed(layout, name, before, after, landed) if name.startswith("runs/") else name in landed):
            yield f"{name} was rewritten"


def _landed(layout: Layout, names: list[str]) -> set[str]:
    """Those that are as they landed, or have gone since."""
    digests = {name: _digest(layout, name) for name in names if not name.startswith("runs/")}
    known = recorded_digests(layout)  # read last: a digest is written down before its file is there
    return {name for name, digest in digests.items() if digest is None or digest in known.get(name, ())}


def _digest(layout: Layout, name: str) -> str | None:
    try:
        return digest_of_file(layout.root / name)
    except FileNotFoundError:
        return None


def _was_resumed(
    layout: Layout, manifest: str, before: dict[str, State], after: dict[str, State], landed: Collection[str]
) -> bool:
    """Whether the run of this manifest goes on, or has landed since: a landing gives its file another inode."""
    run_id = _run_of(manifest)
    own = (name for name in landed if _run_of(name) == run_id and name in after)
    return layout.journal(run_id).exists() or any(name not in before or before[name][2] != after[name][2] for name in own)


def _was_removed_by_us(layout: Layout, name: str, end: float) -> bool:
    """Whether its run is being resumed, the file was put aside as damaged, or (of items only) pruned, which is noted by `end`."""
    run_id = _run_of(name)
    folder, file = layout.run_folder(run_id), layout.root / name
    if layout.journal(run_id).exists() or file.with_name(f"{file.name}{BROKEN}").exists():
        return True
    if not name.startswith("items/"):
        return False
    while folder.is_dir() and not (folder / PRUNED).exists():
        if monotonic() > end:
            return False
        sleep(0.05)
    return True  # without a folder of its run nothing is noted


def _digests(path: Path, length: int | None = None) -> tuple[int, str]:
    """The length and the SHA-256 of the file's first bytes, of all of them by default; of a missing file none are there."""
    try:
        content = path.read_bytes()[:length]
    except FileNotFoundError:
        content = b""
    return len(content), hashlib.sha256(content).hexdigest()
