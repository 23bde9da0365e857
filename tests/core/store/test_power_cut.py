"""What a power cut leaves: the store survives the loss of everything that was not synced, at whichever call it comes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Journal, Manifest, Store, land, land_reports, write_manifest
from eval_skills.core.store.verify import verify

MakeResult = Callable[..., ItemResult]
Tree = dict[str, bytes | None]
"""A folder by relative path: the content of a file, or None for a folder."""


class Disk:
    """A folder on a disk that keeps only what was synced: the content of a file by its fsync, names by that of their folder.

    Every call that makes, renames, removes or syncs something is recorded, and what a power cut could leave right after it. That
    is what was synced; and, as a file system writes names back folder by folder and in its own time, the same with the present
    names of one folder.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.calls = root, list[str]()
        self.promised: frozenset[str] = frozenset()
        self.left: dict[tuple[tuple[tuple[str, bytes | None], ...], frozenset[str]], str] = {}
        self._kept: dict[int, int] = {}
        self._names: dict[int, dict[str, int]] = {}
        self._content: dict[int, bytes] = {}
        self._lock = threading.RLock()

    @contextmanager
    def recording(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        for folder, _, _ in os.walk(self.root):
            self._sync(os.open(folder, os.O_RDONLY))
        with monkeypatch.context() as patched:
            for name in ("mkdir", "open", "write", "ftruncate", "fsync", "rename", "replace", "unlink"):
                patched.setattr(os, name, self._recorded(name, getattr(os, name)))
            yield

    def _recorded(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with self._lock:
                result = call(*args, **kwargs)
                if name == "fsync":
                    self._sync(args[0])
                if name in {"mkdir", "fsync", "rename", "replace", "unlink"}:
                    self.calls.append(" ".join([name, *(self._shown(each) for each in args if not isinstance(each, int))]))
                    if name == "fsync":
                        self.calls[-1] += f" {self._shown(os.readlink(f'/proc/self/fd/{args[0]}'))}"
                self._crash()
                return result

        return recorded

    def _shown(self, path: Any) -> str:
        return os.path.relpath(path, self.root)

    def _sync(self, fd: int) -> None:
        number = self._keep(fd)
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            self._names[number] = self._entries(fd)
        else:
            self._content[number] = os.pread(self._kept[number], os.fstat(fd).st_size, 0)

    def _keep(self, fd: int) -> int:
        """The number of a file, which stays open so that no other file gets its number."""
        number = os.fstat(fd).st_ino
        if number not in self._kept:
            self._kept[number] = _open(f"/proc/self/fd/{fd}", os.O_RDONLY)
        return number

    def _entries(self, fd: int) -> dict[str, int]:
        found = {}
        for name in os.listdir(fd):
            entry = _open(name, os.O_RDONLY, dir_fd=fd)
            found[name] = self._keep(entry)
            os.close(entry)
        return found

    def _crash(self) -> None:
        now = {number: self._entries(fd) for number, fd in list(self._kept.items()) if os.path.isdir(f"/proc/self/fd/{fd}")}
        choices = [None, *(number for number, names in now.items() if names != self._names.get(number, {}))]
        for lucky in choices:
            names = self._names if lucky is None else self._names | {lucky: now[lucky]}
            state = tuple(sorted(self._tree(names, os.stat(self.root).st_ino).items()))
            self.left.setdefault((state, self.promised), f"call {len(self.calls)}: {self.calls[-1:]}")

    def _tree(self, names: dict[int, dict[str, int]], number: int, above: str = "") -> Tree:
        found: Tree = {}
        for name, each in names.get(number, {}).items():
            is_folder = os.path.isdir(f"/proc/self/fd/{self._kept[each]}")
            found[above + name] = None if is_folder else self._content.get(each, b"")
            found |= self._tree(names, each, f"{above}{name}/") if is_folder else {}
        return found


_open = os.open


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    (tmp_path / "disk").mkdir()
    return Disk(tmp_path / "disk")


def rebuilt(state: tuple[tuple[str, bytes | None], ...], place: Path) -> Store:
    place.mkdir()
    for name, content in state:
        if content is None:
            (place / name).mkdir()
        else:
            (place / name).write_bytes(content)
    return Store(place / "store")


@pytest.mark.slow
def test_what_was_finished_is_there_once_after_a_power_cut_at_any_call(
    disk: Disk,
    tmp_path: Path,
    run_id: str,
    make_result: MakeResult,
    make_report: Callable[..., SkillCompletionReport],
    make_manifest: Callable[..., Manifest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Store(disk.root / "store")
    with disk.recording(monkeypatch):
        write_manifest(store.run_folder(run_id), make_manifest())
        disk.promised |= {"manifest"}
        for tasks in (["a", "b"], ["b", "c"]):  # a run, and its resume that tries one item again
            with Journal(store.journal_path(run_id)) as journal:
                for task in tasks:
                    journal.append(make_result(task))
            disk.promised |= set(tasks)
        land(store, run_id)
        land_reports(store, run_id, None, [make_report()])
        disk.promised |= {"report"}
    assert len(disk.left) > 10
    for number, ((state, promised), call) in enumerate(disk.left.items()):
        left = rebuilt(state, tmp_path / f"after-{number}")
        finished = promised - {"manifest", "report"}
        assert not verify(left).undigested, call
        if "manifest" in promised:
            assert left.manifest(run_id).run_id == run_id, call
        if finished:
            land(left, run_id)
            rows = left.items(run_id=run_id)["task_id"].tolist()
            assert sorted(rows) == sorted(set(rows)), call
            assert finished <= set(rows), call
        assert len(left.reports()) >= ("report" in promised), call
        assert {each.kind for each in verify(left).findings} <= {"leftover", "without-reports"}, call


def test_the_order_of_the_calls(
    disk: Disk, run_id: str, make_result: MakeResult, make_manifest: Callable[..., Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every folder that is made is synced into the one above it; the journal goes last, when all else is on disk."""
    store, run = Store(disk.root / "store"), f"store/runs/{run_id}"
    with disk.recording(monkeypatch):
        write_manifest(store.run_folder(run_id), make_manifest())
        begun = len(disk.calls)
        with Journal(store.journal_path(run_id)) as journal:
            journal.append(make_result("a"))
        finished = len(disk.calls)
        land(store, run_id)
    assert disk.calls[:6] == ["mkdir store", "fsync .", "mkdir store/runs", "fsync store", f"mkdir {run}", "fsync store/runs"]
    opened, synced = [f"fsync {run}", "fsync store/runs", "fsync store"], f"fsync {run}/journal.jsonl"
    assert disk.calls[begun : begun + 3] == opened
    assert synced in disk.calls[begun + 3 : finished]
    day, file = "store/items/date=2026-11-21", f"items.date=2026-11-21.{run_id}.parquet"
    assert disk.calls[finished:] == [
        "mkdir store/items",
        "fsync store",
        f"mkdir {day}",
        "fsync store/items",
        f"fsync {day}/.{file}.tmp",
        "fsync store/digests.jsonl",
        "fsync store",
        f"fsync {day}/.{file}.tmp",
        f"replace {day}/.{file}.tmp {day}/{run_id}.parquet",
        f"fsync {day}",
        "fsync store/items",
        "fsync store",
        f"unlink {run}/journal.jsonl",
        f"fsync {run}",
        f"unlink {run}/journal.lock",
    ]
