"""What stands in the way of reading and writing a store is said in a sentence: a full disk, a folder in place of a file."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from eval_skills.core.errors import RunError
from eval_skills.core.models import ItemResult, SkillCompletionReport
from eval_skills.core.store import Journal, Store, land, land_reports, land_rows
from eval_skills.core.store.files import RunLock
from eval_skills.core.store.history import past_runs
from eval_skills.core.store.verify import verify

MakeResult = Callable[..., ItemResult]


@pytest.fixture
def journaled(store: Store, run_id: str, make_result: MakeResult) -> Path:
    with Journal(store.journal_path(run_id)) as journal:
        journal.append(make_result())
    return journal.path


def test_a_full_disk_while_landing_keeps_the_journal(
    store: Store, run_id: str, journaled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(pq.ParquetWriter, "write_batch", full)
        with pytest.raises(RunError) as raised:
            land(store, run_id)
    assert str(raised.value) == (
        f"cannot write to {store.path}: No space left on device; free disk space; its journal is kept, "
        f"so go on with --resume {run_id}"
    )
    assert journaled.exists()
    land(store, run_id)
    assert store.items()["task_id"].tolist() == ["t0"]


def _read_only(*_: object, **__: object) -> None:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def test_a_store_that_became_read_only_keeps_the_journal(
    store: Store, run_id: str, journaled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunLock, "_acquire", _read_only)
    with pytest.raises(RunError) as raised:
        land(store, run_id)
    assert str(raised.value).endswith(
        f"Permission denied; choose a store folder that can be written; its journal is kept, so go on with --resume {run_id}"
    )


def test_a_lock_that_cannot_be_removed_is_released(journaled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = RunLock(journaled)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", _read_only)
        lock.release()
    assert journaled.with_suffix(".lock").exists()
    RunLock(journaled).release()


def test_reports_that_cannot_be_written_say_how_the_run_goes_on(
    store: Store, run_id: str, make_report: Callable[..., SkillCompletionReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", _read_only)
    with pytest.raises(RunError, match=f"its items are kept, so go on with --resume {run_id}$"):
        land_reports(store, run_id, None, [make_report()], kept=f"its items are kept, so go on with --resume {run_id}")


def test_rows_that_cannot_be_written_are_no_bug(store: Store, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(RunError, match="Input/output error; choose a folder that can be written; what is there is kept"):
        land_rows(store, "reports", run_id, [])


def test_a_journal_that_is_a_folder_hides_no_other_run(store: Store, run_id: str, journaled: Path) -> None:
    journaled.unlink()
    journaled.mkdir()
    told = r"the journal .* cannot be read: Is a directory; restore it, or move it away"
    with pytest.raises(RunError, match=told):
        store.item_table(run_id)
    with pytest.raises(RunError, match=told):
        land(store, run_id)
    assert [run.items for run in past_runs(store)] == [None]
    assert "journal" in {each.kind for each in verify(store).findings}


def test_digests_that_are_a_folder_are_named(store: Store, journaled: Path) -> None:
    (store.layout.root / "digests.jsonl").mkdir()
    with pytest.raises(RunError, match=r"digests.jsonl cannot be read: Is a directory; restore it, or move it away"):
        verify(store)
