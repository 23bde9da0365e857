"""What is left behind, lies in the wrong place, or was put back: named by `verify`, and mended by `repair` where that is safe."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_skills.core.errors import RunError, UsageError
from eval_skills.core.store import Store, land_items, land_reports
from eval_skills.core.store.digests import record_digest, recorded_digests
from eval_skills.core.store.files import RunLock
from eval_skills.core.store.sql import query
from eval_skills.core.store.verify import Verified, verify
from eval_skills.engine.repair import repair
from tests.core.store.conftest import RUNS, file_of


@pytest.mark.slow
def test_what_stopped_processes_left_is_found_and_what_works_is_not(landed: Store) -> None:
    scratch = landed.layout.root / "items" / f".items.date=2026-11-21.{RUNS[0]}.parquet.tmp"
    scratch.write_bytes(b"half")
    lock = landed.journal_path(RUNS[0]).with_suffix(".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("1")
    assert [(each.kind, each.path) for each in verify(landed).findings] == [("leftover", str(scratch)), ("leftover", str(lock))]
    with RunLock(landed.journal_path(RUNS[0])):
        assert verify(landed).findings == []


@pytest.mark.parametrize("name", ["night-20261121T233824Z-3f9a", "rescore-x", "compare-x", "backfill", "monitors/x/position"])
def test_a_lock_that_is_not_of_a_run_is_left_behind_too(landed: Store, name: str) -> None:
    lock = landed.layout.root / f"{name}.lock"
    with RunLock(lock):
        assert verify(landed).findings == []
    lock.write_text("1")  # its process was killed
    [finding] = repair(landed).findings
    assert (finding.path, finding.problem, finding.repaired) == (str(lock), "a lock that no process holds", "removed")
    assert not lock.exists()


def test_a_broken_journal_or_manifest_is_named(landed: Store) -> None:
    folder = landed.run_folder(RUNS[0])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text("{")
    landed.journal_path(RUNS[0]).write_bytes(b"{}\n")
    assert [each.kind for each in verify(landed).findings] == ["manifest", "journal"]


@pytest.mark.parametrize("name", [".notes.tmp", ".syncthing.x.parquet.tmp", "upload.1.tmp"])
def test_temporary_files_of_other_programs_are_not_ours_to_remove(landed: Store, name: str) -> None:
    other = landed.layout.root / "items" / name
    other.write_text("theirs")
    assert repair(landed).findings == []
    assert other.read_text() == "theirs"


@pytest.mark.parametrize("name", ["items", "reports", "manifest.json"])
def test_what_cannot_be_read_may_be_well_and_stays_where_it_is(landed: Store, name: str) -> None:
    """No right to read it, or a disk that fails for a moment: a file that gives an error stands for both."""
    path = landed.run_folder(RUNS[0]) / name if name == "manifest.json" else file_of(landed, name, RUNS[0])
    path.unlink()
    path.symlink_to("/proc/self/mem")
    for _ in range(2):
        [finding] = repair(landed).findings
        assert (finding.kind, finding.path, finding.problem) == ("unreadable", str(path), "cannot be read: Input/output error")
        assert finding.repaired.startswith("not repaired: let this user read it")
        assert path.is_symlink()


@pytest.mark.parametrize("name", ["items", "reports"])
def test_a_folder_that_cannot_be_listed_is_named_and_the_rest_is_looked_at(landed: Store, name: str) -> None:
    """A link to itself stands for a folder that this user may not list. What would be in there is not missed, or made anew."""
    day = file_of(landed, name, RUNS[0]).parent
    for file in day.iterdir():
        file.unlink()
    (loop := day / "x.parquet").symlink_to(loop)
    other = landed.run_folder(RUNS[1]) / "manifest.json"
    other.write_text("{")
    closed, manifest = repair(landed).findings
    assert (closed.kind, closed.path) == ("unreadable", str(day))
    assert closed.problem == "cannot be listed: Too many levels of symbolic links"
    assert closed.repaired.startswith("not repaired: let this user read it")
    assert (manifest.kind, manifest.repaired) == ("manifest", "now manifest.json.broken")
    with pytest.raises(RunError, match=f"{day.name} cannot be listed: Too many levels of symbolic links"):
        landed.items() if name == "items" else landed.reports()


def test_where_the_folders_of_runs_cannot_be_listed_the_tables_are_looked_at(landed: Store) -> None:
    runs = landed.layout.root / "runs"
    shutil.rmtree(runs)
    runs.symlink_to(runs)
    file_of(landed, "items", RUNS[0]).write_bytes(b"PAR1 no more PAR1")
    found = verify(landed)
    assert [(each.kind, each.path) for each in found.findings] == [
        ("unreadable", str(runs)), ("damaged", str(file_of(landed, "items", RUNS[0])))
    ]  # fmt: skip
    with pytest.raises(RunError, match="runs cannot be listed: Too many levels of symbolic links; let this user"):
        landed.run_ids()


def test_a_journal_that_was_kept_for_a_newer_version_is_looked_at_too(landed: Store) -> None:
    kept = landed.run_folder(RUNS[0]) / "journal.newer-1.jsonl"
    kept.write_bytes(b"{}\n")
    [finding] = repair(landed).findings
    assert (finding.kind, finding.path, finding.repaired) == ("journal", str(kept), f"now {kept.name}.broken")
    assert not landed.journal_path(RUNS[0]).exists()


def test_each_manifest_and_journal_is_read_once(landed: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    landed.journal_path(RUNS[0]).write_bytes(b"")
    read: list[str] = []
    opened = open

    def noted(file: Any, *how: Any, **ways: Any) -> Any:
        read.append(str(file))
        return opened(file, *how, **ways)

    for name in ("builtins.open", "io.open"):  # pathlib opens with the second
        monkeypatch.setattr(name, noted)
    verify(landed)
    assert len([each for each in read if each.endswith("manifest.json")]) == len(RUNS)
    assert len([each for each in read if each.endswith("journal.jsonl")]) == len(RUNS), "of the two that have none, it is tried"


def test_a_file_of_another_run_or_table_is_found_without_its_digest_too(landed: Store) -> None:
    (landed.layout.root / "digests.jsonl").unlink()
    of_another_run, of_another_table = file_of(landed, "items", RUNS[0]), file_of(landed, "items", RUNS[1])
    of_another_run.write_bytes(file_of(landed, "items", RUNS[2]).read_bytes())
    of_another_table.write_bytes(file_of(landed, "reports", RUNS[1]).read_bytes())
    assert [(each.kind, each.path, each.problem) for each in verify(landed).findings] == [
        ("damaged", str(of_another_run), f"holds the items of run {RUNS[2]}"),
        ("damaged", str(of_another_table), "has no column flow_run_id, so it is not a file of the table items"),
    ]


def test_what_was_put_aside_before_is_not_overwritten(landed: Store) -> None:
    file = file_of(landed, "items", RUNS[0])
    for content, aside in ((b"once", f"{file.name}.broken"), (b"twice", f"{file.name}.broken.2")):
        file.write_bytes(content)
        assert [each.repaired for each in repair(landed).findings] == [f"now {aside}"]
        assert file.with_name(aside).read_bytes() == content
    assert file.with_name(f"{file.name}.broken").read_bytes() == b"once"


def test_a_line_of_digests_that_was_cut_off_does_not_spoil_the_next(landed: Store) -> None:
    """Else a file that lands again would count as damaged: only its earlier digest would be known."""
    digests = landed.layout.root / "digests.jsonl"
    digests.write_bytes(digests.read_bytes()[:-20])
    record_digest(landed.layout, "items/date=2026-11-21/x.parquet", "ab")
    assert recorded_digests(landed.layout)["items/date=2026-11-21/x.parquet"] == ["ab"]


def test_a_digest_that_a_full_disk_cut_off_stops_the_landing(landed: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.write", lambda fd, content: len(content) - 1)
    with pytest.raises(OSError, match="No space left on device"):
        record_digest(landed.layout, "items/date=2026-11-21/x.parquet", "ab")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["journal.lock", ".manifest.json.1.tmp"])
def test_what_another_process_takes_up_before_it_is_removed_stays(
    landed: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was a leftover when it was looked at; then the run goes on."""
    left = landed.run_folder(RUNS[0]) / name
    left.touch()
    taken: list[RunLock] = []

    def then_taken(store: Store) -> Verified:
        found = verify(store)
        taken.append(RunLock(store.journal_path(RUNS[0])))
        return found

    monkeypatch.setattr("eval_skills.engine.repair.verify", then_taken)
    [finding] = repair(landed).findings
    assert (finding.path, finding.run_id) == (str(left), RUNS[0])
    assert finding.repaired.startswith(f"not repaired: run {RUNS[0]} is being written by process ")
    assert left.exists()
    with pytest.raises(UsageError, match="is being written by process"):
        RunLock(landed.journal_path(RUNS[0]))
    taken[0].release()
    monkeypatch.undo()
    left.touch()
    assert [each.repaired for each in repair(landed).findings] == ["removed"]
    assert not left.exists()


def test_reports_in_a_folder_that_is_no_date_are_moved_back_and_not_made_anew(landed: Store) -> None:
    here = file_of(landed, "reports", RUNS[0])
    whole, there = here.read_bytes(), here.parent.with_name("date=foo") / here.name
    there.parent.mkdir()
    here.rename(there)
    assert [(each.kind, each.path) for each in repair(landed).findings] == [("misplaced", str(there))]
    assert here.read_bytes() == whole


@pytest.mark.slow
@pytest.mark.parametrize("day", ["foo", "2026-02-30", "20261121", ""])
def test_a_file_in_a_folder_that_is_no_date_is_left_out_and_named(landed: Store, day: str) -> None:
    here = file_of(landed, "items", RUNS[0])
    there = here.parent.with_name(f"date={day}") / here.name
    there.parent.mkdir()
    here.rename(there)
    told: list[str] = []
    landed.tables.tell = told.append
    assert query(landed, "SELECT run_id, date FROM items").num_rows == 40
    assert len(landed.items()) == 40
    assert len([each for each in told if f"left out: {there}: its folder is not named by a date" in each]) == 1
    assert [(each.kind, each.path, each.run_id) for each in verify(landed).findings] == [("misplaced", str(there), RUNS[0])]
    [mended] = repair(landed).findings
    assert mended.repaired == f"moved to {here}, where it landed"
    assert verify(landed).findings == []
    assert len(landed.items()) == 60


def test_a_copy_in_a_folder_that_is_no_date_is_put_aside(landed: Store) -> None:
    here = file_of(landed, "items", RUNS[0])
    there = here.parent.with_name("date=foo") / here.name
    there.parent.mkdir()
    there.write_bytes(here.read_bytes())
    [finding] = repair(landed).findings
    assert (finding.kind, finding.repaired) == ("misplaced", f"now {there.name}.broken")
    assert verify(landed).findings == []
    assert here.exists()


@pytest.fixture
def earlier(landed: Store, make_result: Callable[..., Any], make_report: Callable[..., Any]) -> Store:
    """A store whose first run landed once more; then what had landed before was put in its place."""
    before = {path: path.read_bytes() for path in (file_of(landed, "items", RUNS[0]), file_of(landed, "reports", RUNS[0]))}
    land_items(landed, RUNS[0], [make_result("again", run_id=RUNS[0])])
    land_reports(landed, RUNS[0], None, [make_report(1.0)], benchmark_version="1.0.0")
    assert verify(landed).findings == []
    for path, content in before.items():
        assert path.read_bytes() != content
        path.write_bytes(content)
    return landed


@pytest.mark.slow
def test_an_earlier_version_of_a_file_is_found(earlier: Store, make_result: Callable[..., Any]) -> None:
    found = verify(earlier).findings
    assert [(each.kind, each.table, each.run_id) for each in found] == [
        ("earlier", table, RUNS[0]) for table in ("items", "reports")
    ]
    assert "it has landed again since" in found[0].problem
    land_items(earlier, RUNS[0], [make_result("once more", run_id=RUNS[0])])
    assert [(each.kind, each.table) for each in verify(earlier).findings] == [("earlier", "reports")]


@pytest.mark.slow
def test_of_an_earlier_version_reports_are_made_anew_and_items_stay(earlier: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_skills.engine.repair._report", lambda store, run_id: f"made anew of {run_id}")
    whole = file_of(earlier, "items", RUNS[0]).read_bytes()
    items, reports = repair(earlier).findings
    assert items.repaired == "not repaired: nothing else in the store holds it"
    assert reports.repaired == f"made anew of {RUNS[0]}"
    assert file_of(earlier, "items", RUNS[0]).read_bytes() == whole


@pytest.mark.slow
def test_what_landed_before_a_landing_that_was_stopped_is_no_earlier_version(landed: Store) -> None:
    """The digest is written down before the file has its name."""
    relative = landed.tables.relative(str(file_of(landed, "items", RUNS[0])))
    scratch = _abandoned(landed.tables.scratch(relative))
    record_digest(landed.layout, relative, "0" * 64)
    assert [(each.kind, each.path) for each in verify(landed).findings] == [("leftover", str(scratch))]
    assert [each.repaired for each in repair(landed).findings] == ["removed"]
    assert verify(landed).findings == []


def test_what_another_process_may_be_writing_is_no_leftover(landed: Store) -> None:
    """A comparison, a calibration or a period of a monitor lands without the lock of a run; so do a run's reports."""
    landed.tables.scratch(landed.tables.relative(str(file_of(landed, "reports", RUNS[0]))), is_shared=True)
    scratch = landed.tables.scratch("comparisons/date=2026-11-21/a.parquet")
    assert repair(landed).findings == []
    _abandoned(scratch)
    assert [each.repaired for each in repair(landed).findings] == ["removed"]
    assert not scratch.exists()


def _abandoned(scratch: Path) -> Path:
    os.utime(scratch, (0, 0))
    return scratch


def test_damage_beside_a_leftover_stays_damage(landed: Store) -> None:
    file = file_of(landed, "items", RUNS[0])
    _abandoned(landed.tables.scratch(landed.tables.relative(str(file))))
    with file.open("ab") as content:
        content.write(b"x")
    assert {each.kind for each in verify(landed).findings} == {"damaged", "leftover"}
    digests = (landed.layout.root / "digests.jsonl").read_bytes()
    repair(landed)
    assert (landed.layout.root / "digests.jsonl").read_bytes() == digests


@pytest.mark.parametrize("with_items", [True, False])
def test_a_whole_folder_of_a_run_that_is_gone_is_named(landed: Store, with_items: bool) -> None:
    folder = landed.run_folder(RUNS[0])
    shutil.rmtree(folder)
    if not with_items:
        for table in ("items", "reports"):
            file_of(landed, table, RUNS[0]).unlink()
    found = {(each.kind, each.path) for each in verify(landed).findings}
    assert ("missing", str(folder)) in found
    assert [each.repaired for each in repair(landed).findings if each.path == str(folder)] == [
        "not repaired: nothing else in the store holds it"
    ]
